// How modular a weighted, symmetric, possibly signed matrix is for given labels, and how alike two labelings are.
// w is n x n; its diagonal is not used. labels[i] is the module of node i, any integers. NaN is a DataError.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "stats/permutation.h"

namespace locus::stats {

enum class Weights {
  kPositive,  // negative weights count as 0 (Newman 2004)
  kSigned,    // Q* of Rubinov & Sporns (2011): negative weights count less than positive ones
};

// sum of modularity_matrix over pairs of equal label; 0 when there is no weight.
double modularity(ConstMatD w, std::span<const int> labels, Weights weights = Weights::kPositive, double gamma = 1);
// Entries b_ij with Q = sum over i, j of b_ij [labels equal]; gamma > 0 is the resolution.
MatrixD modularity_matrix(ConstMatD w, Weights weights, double gamma = 1);

struct WithinBetween {
  double within = 0;   // mean weight of pairs of equal label; NaN when there are none
  double between = 0;  // of pairs of unequal label; NaN when there are none
  double difference() const { return within - between; }
};
WithinBetween within_between(ConstMatD w, std::span<const int> labels);
// Sum of w(i, j) over pairs i < j of equal label, in time that grows with these pairs alone: for permutation tests, where
// w was checked once and its other sums stay.
class WithinSum {
 public:
  explicit WithinSum(ConstMatD w) : w_(w) {}
  double operator()(std::span<const int> labels);  // labels 0, 1, ...

 private:
  ConstMatD w_;
  std::vector<std::vector<std::ptrdiff_t>> members_;
};
// (within - between) / within; empty when within is below 0.05, where the ratio means nothing.
std::optional<double> segregation(ConstMatD w, std::span<const int> labels);

// Adjusted Rand index (Hubert & Arabie 1985): 1 equal, about 0 by chance.
double adjusted_rand(std::span<const int> a, std::span<const int> b);
// 2 I / (H_a + H_b); 1 when both labelings are trivial and equal.
double normalised_mutual_information(std::span<const int> a, std::span<const int> b);
// (I - E I) / ((H_a + H_b)/2 - E I), chance by fixed module sizes (Vinh et al. 2010).
double adjusted_mutual_information(std::span<const int> a, std::span<const int> b);

// Shuffles labels over nodes, so module sizes stay. Two-sided p-values count distance from the mean of the null.
PermutationResult label_permutation_test(std::span<const int> labels,
                                         const std::function<double(std::span<const int>)>& statistic,
                                         const PermutationOptions& options = {});

}  // namespace locus::stats
