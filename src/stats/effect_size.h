// Effect sizes with confidence intervals that hold for the few seeds a study has.
#pragma once

#include <span>

#include "stats/distributions.h"

namespace locus::stats {

struct EffectSize {
  double value = 0;
  Interval interval;
};

// Mean difference over the pooled sd; interval from the noncentral t. n >= 2 each. NaN when nothing varies.
EffectSize cohen_d(std::span<const double> x, std::span<const double> y, double confidence = 0.95);
// Cohen's d times Hedges' exact small-sample factor.
EffectSize hedges_g(std::span<const double> x, std::span<const double> y, double confidence = 0.95);
// Mean over sd of the paired differences d; interval from the noncentral t. n >= 2.
EffectSize cohen_dz(std::span<const double> differences, double confidence = 0.95);
// P(x > y) - P(x < y); Cliff's (1996) asymmetric interval. n >= 2 each.
EffectSize cliffs_delta(std::span<const double> x, std::span<const double> y, double confidence = 0.95);

}  // namespace locus::stats
