// Spearman's rank correlation with a p-value that holds for a handful of runs too.
#pragma once

#include <span>

#include "stats/correlation.h"

namespace locus::report {

// Up to 12 pairs p is that of a permutation test: Student's approximation calls six runs in perfect order p = 0.
// Below 3 pairs, or with a constant side, r and p are NaN.
stats::Correlation rank_correlation(std::span<const double> x, std::span<const double> y);

}  // namespace locus::report
