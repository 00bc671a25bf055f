// Permutation tests. p = (b + 1) / (n + 1), b of n permuted statistics being at least as extreme as the observed one.
// When all distinct rearrangements are no more than asked for, they are enumerated and the test is exact.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "stats/distributions.h"

namespace locus::stats {

struct PermutationOptions {
  int permutations = 9999;
  std::uint64_t seed = 0;
  Alternative alternative = Alternative::kTwoSided;
};

struct PermutationResult {
  double observed = 0;
  double p = 1;
  double null_mean = 0;
  double null_sd = 0;    // NaN with fewer than two permutations
  int permutations = 0;  // drawn, or enumerated besides the observed arrangement
  bool exact = false;
};

// From the statistics of the permuted data. Two-sided counts |null - centre| >= |observed - centre|. Equality is to
// 1e-12 of the largest value, so that rounding does not break ties. NaN is a DataError.
PermutationResult permutation_result(double observed, std::span<const double> null, Alternative alternative,
                                     double centre = 0);

// Mean of x against 0 by random signs (paired differences, symmetric under the null).
PermutationResult sign_flip_test(std::span<const double> x, const PermutationOptions& options = {});

// mean(x) - mean(y) by reassigning values to the two groups.
PermutationResult two_sample_permutation_test(std::span<const double> x, std::span<const double> y,
                                              const PermutationOptions& options = {});

// Calls statistic(order) with `permutations` random orders of 0..n-1; observed is statistic(identity). Two-sided
// p-values count distance from the mean of the null.
PermutationResult order_permutation_test(std::size_t n, const std::function<double(std::span<const std::size_t>)>& statistic,
                                         const PermutationOptions& options = {});

}  // namespace locus::stats
