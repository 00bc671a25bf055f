// Ranks with ties averaged, and the sizes of tie groups.
#pragma once

#include <span>
#include <vector>

namespace locus::stats {

// 1-based ranks of x; equal values share the mean of their ranks. NaN is a DataError.
std::vector<double> average_ranks(std::span<const double> x);

// Sum of t^3 - t over groups of t equal values.
double tie_term(std::span<const double> x);

}  // namespace locus::stats
