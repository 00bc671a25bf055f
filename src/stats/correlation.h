// Correlations with two-sided p-values as SciPy gives them. A constant input has no correlation: r and p
// are NaN then. NaN or infinity in the input is a DataError.
#pragma once

#include <cstddef>
#include <span>

#include "core/matrix.h"
#include "stats/distributions.h"

namespace locus::stats {

enum class CorrelationKind { kPearson, kSpearman, kKendall };

struct Correlation {
  double r = 0;
  double p = 1;
  std::size_t n = 0;
  double df = 0;  // of the t distribution behind p; NaN for Kendall
};

Correlation pearson(std::span<const double> x, std::span<const double> y);   // n >= 2
Correlation spearman(std::span<const double> x, std::span<const double> y);  // n >= 2
// Kendall's tau-b; exact p without ties for n <= 33 (or at most one discordant pair), otherwise normal.
Correlation kendall(std::span<const double> x, std::span<const double> y);
Correlation correlate(std::span<const double> x, std::span<const double> y, CorrelationKind kind);

// Correlation of x and y with the columns of covariates (n x k, k >= 0) regressed out of both; Spearman ranks all
// first. df = n - 2 - rank of the centred covariates. Kendall is not supported (ConfigError).
Correlation partial(std::span<const double> x, std::span<const double> y, ConstMatD covariates,
                    CorrelationKind kind = CorrelationKind::kPearson);

// Fisher's z interval of a Pearson, Spearman or partial correlation; [-1, 1] when df < 2.
Interval fisher_interval(const Correlation& correlation, double confidence = 0.95);

}  // namespace locus::stats
