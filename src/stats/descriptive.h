// Descriptive statistics of one sample. All reject NaN and infinity with DataError.
#pragma once

#include <span>

#include "stats/distributions.h"

namespace locus::stats {

double mean(std::span<const double> x);                // n >= 1
double variance(std::span<const double> x);            // n >= 2, divided by n - 1
double sd(std::span<const double> x);                  // n >= 2
double sem(std::span<const double> x);                 // sd / sqrt(n), n >= 2
double median(std::span<const double> x);              // n >= 1
double quantile(std::span<const double> x, double q);  // NumPy's "linear"; q in [0, 1]

// Student's t interval of the mean; n >= 2.
Interval mean_interval(std::span<const double> x, double confidence = 0.95);

}  // namespace locus::stats
