// Boost.Math with errors returned as infinities or NaN instead of exceptions.
#include "stats/distributions.h"
#include "core/nan.h"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

namespace locus::stats {
namespace {

namespace bm = boost::math;
using Quiet = bm::policies::policy<
    bm::policies::domain_error<bm::policies::ignore_error>, bm::policies::pole_error<bm::policies::ignore_error>,
    bm::policies::overflow_error<bm::policies::ignore_error>, bm::policies::evaluation_error<bm::policies::ignore_error>,
    bm::policies::rounding_error<bm::policies::ignore_error>>;
using Normal = bm::normal_distribution<double, Quiet>;
using Student = bm::students_t_distribution<double, Quiet>;
using NoncentralT = bm::non_central_t_distribution<double, Quiet>;
using ChiSquared = bm::chi_squared_distribution<double, Quiet>;

// Beyond it the noncentral t is a scaled chi to 1e-8, and its own sums lose all digits, in the end with an exception.
constexpr double kLargestT = 1e4;

// The noncentrality at which P(T <= t) = p; the probability falls as noncentrality grows.
double noncentrality_at(double t, double df, double p) {
  if (std::abs(t) > kLargestT) return t * std::sqrt(bm::quantile(ChiSquared(df), t > 0 ? 1 - p : p) / df);
  double lo = t - 2, hi = t + 2;
  const auto below = [&](double delta) { return bm::cdf(NoncentralT(df, delta), t); };
  for (double step = 2; below(lo) < p && step < 1e6; step *= 2) lo -= step;
  for (double step = 2; below(hi) > p && step < 1e6; step *= 2) hi += step;
  std::uintmax_t iterations = 200;
  const auto bracket = bm::tools::toms748_solve([&](double delta) { return p - below(delta); }, lo, hi,
                                                bm::tools::eps_tolerance<double>(48), iterations, Quiet());
  return 0.5 * (bracket.first + bracket.second);
}

}  // namespace

double normal_cdf(double z) { return 0.5 * std::erfc(-z * M_SQRT1_2); }
double normal_sf(double z) { return 0.5 * std::erfc(z * M_SQRT1_2); }

double normal_quantile(double p) {
  if (p <= 0) return -std::numeric_limits<double>::infinity();
  if (p >= 1) return std::numeric_limits<double>::infinity();
  return bm::quantile(Normal(), p);
}

double student_cdf(double t, double df) {
  if (std::isnan(t) || !(df > 0)) return kNan;
  if (std::isinf(t)) return t > 0 ? 1 : 0;
  return bm::cdf(Student(df), t);
}

double student_quantile(double p, double df) { return df > 0 ? bm::quantile(Student(df), p) : kNan; }

double normal_p(double z, Alternative alternative) {
  switch (alternative) {
    case Alternative::kLess:
      return normal_cdf(z);
    case Alternative::kGreater:
      return normal_sf(z);
    default:
      return 2 * normal_sf(std::abs(z));
  }
}

double student_p(double t, double df, Alternative alternative) {
  switch (alternative) {
    case Alternative::kLess:
      return student_cdf(t, df);
    case Alternative::kGreater:
      return student_cdf(-t, df);
    default:
      return 2 * student_cdf(-std::abs(t), df);
  }
}

Interval noncentrality_interval(double t, double df, double confidence) {
  if (!std::isfinite(t) || !(df > 0)) return {kNan, kNan};
  const double tail = 0.5 * (1 - confidence);
  return {noncentrality_at(t, df, 1 - tail), noncentrality_at(t, df, tail)};
}

double hedges_correction(double df) {
  if (!(df > 1)) return kNan;
  return std::exp(std::lgamma(df / 2) - std::lgamma((df - 1) / 2)) / std::sqrt(df / 2);
}

}  // namespace locus::stats
