// Descriptive statistics; two passes for the variance.
#include "stats/descriptive.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "stats/checks.h"

namespace locus::stats {

double mean(std::span<const double> x) {
  require_at_least(x.size(), 1, "mean");
  require_finite(x, "mean");
  double sum = 0;
  for (double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

double variance(std::span<const double> x) {
  require_at_least(x.size(), 2, "variance");
  const double m = mean(x);
  double sum = 0;
  for (double v : x) sum += (v - m) * (v - m);
  return sum / static_cast<double>(x.size() - 1);
}

double sd(std::span<const double> x) { return std::sqrt(variance(x)); }

double sem(std::span<const double> x) { return sd(x) / std::sqrt(static_cast<double>(x.size())); }

double median(std::span<const double> x) {
  require_at_least(x.size(), 1, "median");
  require_finite(x, "median");
  std::vector<double> sorted(x.begin(), x.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : 0.5 * (sorted[half - 1] + sorted[half]);
}

double quantile(std::span<const double> x, double q) {
  require_at_least(x.size(), 1, "quantile");
  require_finite(x, "quantile");
  if (!(q >= 0 && q <= 1)) {
    throw ConfigError({.what = "quantile out of range", .got = fmt::format("{}", q), .expected = "0 to 1"});
  }
  std::vector<double> sorted(x.begin(), x.end());
  std::sort(sorted.begin(), sorted.end());
  const double place = q * static_cast<double>(sorted.size() - 1);
  const std::size_t below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double t = place - static_cast<double>(below), step = sorted[above] - sorted[below];
  return t < 0.5 ? sorted[below] + step * t : sorted[above] - step * (1 - t);
}

Interval mean_interval(std::span<const double> x, double confidence) {
  require_confidence(confidence, "mean_interval");
  const double half = sem(x) * student_quantile(0.5 + 0.5 * confidence, static_cast<double>(x.size() - 1));
  const double m = mean(x);
  return {m - half, m + half};
}

}  // namespace locus::stats
