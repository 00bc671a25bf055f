// Tails and quantiles of the normal and Student's t distribution (Boost.Math, kept to one source file).
#pragma once

namespace locus::stats {

enum class Alternative { kTwoSided, kLess, kGreater };

struct Interval {
  double lo = 0;
  double hi = 0;
};

double normal_cdf(double z);
double normal_sf(double z);        // 1 - cdf without cancellation
double normal_quantile(double p);  // p in [0, 1]; -inf and inf at the ends
double student_cdf(double t, double df);
double student_quantile(double p, double df);
double normal_p(double z, Alternative alternative);
double student_p(double t, double df, Alternative alternative);  // NaN t gives NaN

// Bounds of the noncentrality of Student's t for which the observed t lies at the (1 +- confidence)/2 points.
Interval noncentrality_interval(double t, double df, double confidence);

// Hedges' factor J(df) = Gamma(df/2) / (sqrt(df/2) Gamma((df-1)/2)).
double hedges_correction(double df);

}  // namespace locus::stats
