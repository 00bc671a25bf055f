// Parametric and rank tests of location, with SciPy's conventions. NaN in the input is a DataError.
#pragma once

#include <span>
#include <vector>

#include "stats/distributions.h"

namespace locus::stats {

struct TestResult {
  double statistic = 0;
  double p = 1;
  double df = 0;       // NaN where the test has none
  bool exact = false;  // p from the exact null distribution
};

// Student's t. Without spread the statistic is +-inf (p = 0), or NaN when there is no difference either. n >= 2.
TestResult one_sample_t(std::span<const double> x, double mu = 0, Alternative alternative = Alternative::kTwoSided);
TestResult paired_t(std::span<const double> x, std::span<const double> y, Alternative alternative = Alternative::kTwoSided);
// Unequal variances, Welch-Satterthwaite degrees of freedom.
TestResult welch_t(std::span<const double> x, std::span<const double> y, Alternative alternative = Alternative::kTwoSided);

// Wilcoxon's signed-rank test of paired differences d. Exact for n <= 50 without zeros and ties; otherwise zeros are
// dropped and the tie-corrected normal approximation used, without continuity correction. The statistic is min(W+, W-)
// two-sided, W+ one-sided. All differences zero: statistic 0, p = 1.
TestResult wilcoxon_signed_rank(std::span<const double> d, Alternative alternative = Alternative::kTwoSided);

// U of x. Exact when the smaller sample has <= 8 values and there are no ties; otherwise tie-corrected normal
// approximation with continuity correction.
TestResult mann_whitney_u(std::span<const double> x, std::span<const double> y,
                          Alternative alternative = Alternative::kTwoSided);

// Adjusted p-values in the order given; p must lie in [0, 1].
std::vector<double> benjamini_hochberg(std::span<const double> p);  // false discovery rate
std::vector<double> holm(std::span<const double> p);                // family-wise error

}  // namespace locus::stats
