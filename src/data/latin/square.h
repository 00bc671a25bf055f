// Uniformly random Latin squares by the Jacobson-Matthews chain: +-1 moves on the n x n x n incidence cube, through
// improper cubes (one cell of -1), whose stationary law over proper squares is uniform.
#pragma once

#include <cstdint>
#include <vector>

#include "core/rng.h"

namespace locus {

// n*n symbols 1..n, row-major.
using LatinSquare = std::vector<std::uint8_t>;

class LatinSampler {
 public:
  // Starts from the cyclic square and passes 10 * visits_between_draws() proper squares. `rng` must outlive the sampler.
  LatinSampler(int n, Rng& rng);

  // The square n^3 visits to proper squares after the last draw; the improper cubes between them do not count.
  const LatinSquare& draw();
  static int visits_between_draws(int n) { return n * n * n; }

 private:
  void move();
  void advance(int visits);
  std::int8_t& at(int row, int column, int symbol);
  int line_pick(int axis, int a, int b);

  int n_;
  Rng& rng_;
  std::vector<std::int8_t> cube_;  // [row][column][symbol]
  bool proper_ = true;
  int improper_[3] = {0, 0, 0};  // place of the -1
  LatinSquare square_;
};

// Renames rows, columns and symbols at random: keeps the uniform law and costs far less than a new draw.
void shuffle_square(LatinSquare& square, int n, Rng& rng);

}  // namespace locus
