// Would a code that knows nothing but where regions lie look as grouped as this one? The null: Gaussian codes whose expected
// products are the function of space that fits the code's own products best (of distance, of distance to the mirrored place,
// and of distance along each axis). The statistic looks at pairs at equal places of each other, so space alone does not move
// it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "core/parallel.h"
#include "stats/permutation.h"

namespace locus::stats {

// Functions of two places: hats (piecewise linear, 1 at one knot and 0 at all others) over each distance of a pair.
class SpaceBasis {
 public:
  // coordinates n x X, X = 1, 2 or 3, n >= 10, not all equal. Mirrored: the first axis runs from left to right with the
  // middle at 0, and a code may be alike on both sides.
  explicit SpaceBasis(ConstMatD coordinates, bool mirrored = false);

  std::ptrdiff_t regions() const { return regions_; }
  bool mirrored() const { return mirrored_; }
  // The least-squares fit of these functions to the off-diagonal entries of a symmetric n x n matrix; the diagonal stays.
  MatrixD fitted(ConstMatD symmetric) const;

 private:
  struct Family {
    std::vector<double> knots;
    std::ptrdiff_t first = 0;  // column of its first hat
  };
  static constexpr std::size_t kMostFamilies = 5;  // distance, mirrored distance, three axes
  struct Entry {
    std::ptrdiff_t column;
    double weight;
  };
  using Row = std::array<Entry, 2 * kMostFamilies>;  // the hats of one pair that are not 0

  double pair_value(std::size_t family, std::ptrdiff_t i, std::ptrdiff_t j) const;
  std::size_t row(std::ptrdiff_t i, std::ptrdiff_t j, Row& out) const;
  void make_families();
  void make_inverse();

  std::ptrdiff_t regions_ = 0;
  MatrixD places_;
  bool mirrored_ = false;
  std::vector<Family> families_;
  std::ptrdiff_t columns_ = 0;
  MatrixD inverse_;  // of the columns' products
};

struct SpaceTestOptions {
  int count = 999;  // codes drawn
  std::uint64_t seed = 0;
  ThreadPool* pool = nullptr;
};
// How much more alike pairs of equal label are than other pairs at the same places of each other: the coefficient of "equal
// label" beside the functions of space in a regression of the cosines. One-sided against codes drawn from the null; draw i
// depends on the seed and i alone. Code n x d, not all zero; rows of zeros have cosine 0. DataError where space alone says
// which pairs have equal labels.
PermutationResult space_network_test(const SpaceBasis& space, ConstMatD code, std::span<const int> labels,
                                     const SpaceTestOptions& options = {});

}  // namespace locus::stats
