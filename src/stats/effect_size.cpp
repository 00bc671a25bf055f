// Effect sizes; t = d * scale turns intervals of the noncentrality into intervals of d.
#include "stats/effect_size.h"
#include "core/nan.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/matrix.h"
#include "stats/checks.h"
#include "stats/descriptive.h"

namespace locus::stats {
namespace {

EffectSize from_noncentral_t(double d, double scale, double df, double confidence) {
  if (!std::isfinite(d)) {
    return {kNan, {kNan, kNan}};
  }
  const Interval delta = noncentrality_interval(d * scale, df, confidence);
  return {d, {delta.lo / scale, delta.hi / scale}};
}

}  // namespace

EffectSize cohen_d(std::span<const double> x, std::span<const double> y, double confidence) {
  require_at_least(std::min(x.size(), y.size()), 2, "cohen_d");
  require_confidence(confidence, "cohen_d");
  const double nx = static_cast<double>(x.size()), ny = static_cast<double>(y.size()), df = nx + ny - 2;
  const double pooled = std::sqrt(((nx - 1) * variance(x) + (ny - 1) * variance(y)) / df);
  return from_noncentral_t((mean(x) - mean(y)) / pooled, std::sqrt(nx * ny / (nx + ny)), df, confidence);
}

EffectSize hedges_g(std::span<const double> x, std::span<const double> y, double confidence) {
  EffectSize effect = cohen_d(x, y, confidence);
  const double factor = hedges_correction(static_cast<double>(x.size() + y.size()) - 2);
  return {effect.value * factor, {effect.interval.lo * factor, effect.interval.hi * factor}};
}

EffectSize cohen_dz(std::span<const double> differences, double confidence) {
  require_at_least(differences.size(), 2, "cohen_dz");
  require_confidence(confidence, "cohen_dz");
  const double n = static_cast<double>(differences.size());
  return from_noncentral_t(mean(differences) / sd(differences), std::sqrt(n), n - 1, confidence);
}

EffectSize cliffs_delta(std::span<const double> x, std::span<const double> y, double confidence) {
  require_at_least(std::min(x.size(), y.size()), 2, "cliffs_delta");
  require_finite(x, "cliffs_delta");
  require_finite(y, "cliffs_delta");
  require_confidence(confidence, "cliffs_delta");
  const double m = static_cast<double>(x.size()), n = static_cast<double>(y.size());
  std::vector<double> by_x(x.size(), 0), by_y(y.size(), 0);
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < y.size(); ++j) {
      const double sign = (x[i] > y[j] ? 1.0 : 0.0) - (x[i] < y[j] ? 1.0 : 0.0);
      by_x[i] += sign / n;
      by_y[j] += sign / m;
      squares += sign * sign;
    }
  }
  const double d = mean(by_x), z = normal_quantile(0.5 + 0.5 * confidence);
  if (std::abs(d) >= 1 - 1e-15) {
    const double k = std::min(m, n), near = (k - z * z) / (k + z * z);
    return d > 0 ? EffectSize{1, {near, 1}} : EffectSize{-1, {-1, -near}};
  }
  double rows = 0, columns = 0;
  for (double v : by_x) rows += (v - d) * (v - d);
  for (double v : by_y) columns += (v - d) * (v - d);
  const double entries = squares - m * n * d * d;
  const double unbiased = (n * n * rows + m * m * columns - entries) / (m * n * (m - 1) * (n - 1));
  const double var = std::max(unbiased, (1 - d * d) / (m * n - 1));
  const double half = z * std::sqrt(var) * std::sqrt((1 - d * d) * (1 - d * d) + z * z * var);
  const double scale = 1 - d * d + z * z * var;
  return {d, {std::max(-1.0, (d - d * d * d - half) / scale), std::min(1.0, (d - d * d * d + half) / scale)}};
}

}  // namespace locus::stats
