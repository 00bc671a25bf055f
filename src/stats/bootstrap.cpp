// All forms reduce to resampling groups of rows; a plain bootstrap has one row per group.
#include "stats/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"
#include "stats/checks.h"
#include "stats/descriptive.h"

namespace locus::stats {
namespace {

using Groups = std::vector<std::vector<std::size_t>>;

std::vector<double> draw(const Groups& groups, const IndexStatistic& statistic, const BootstrapOptions& options) {
  Rng rng(options.seed, "stats/bootstrap");
  std::vector<double> values;
  std::vector<std::size_t> rows;
  for (int b = 0; b < options.resamples; ++b) {
    rows.clear();
    for (std::size_t k = 0; k < groups.size(); ++k) {
      const auto& group = groups[rng.below(static_cast<std::uint32_t>(groups.size()))];
      rows.insert(rows.end(), group.begin(), group.end());
    }
    const double value = statistic(rows);
    if (!std::isnan(value)) values.push_back(value);
  }
  return values;
}

std::vector<double> jackknife(const Groups& groups, const IndexStatistic& statistic) {
  std::vector<double> values;
  std::vector<std::size_t> rows;
  for (std::size_t out = 0; out < groups.size(); ++out) {
    rows.clear();
    for (std::size_t k = 0; k < groups.size(); ++k) {
      if (k != out) rows.insert(rows.end(), groups[k].begin(), groups[k].end());
    }
    const double value = statistic(rows);
    if (!std::isnan(value)) values.push_back(value);
  }
  return values;
}

BootstrapResult bootstrap_groups(const Groups& groups, const IndexStatistic& statistic, const BootstrapOptions& options) {
  require_at_least(groups.size(), 2, "bootstrap");
  require_positive(options.resamples, "number of resamples", "bootstrap");
  require_confidence(options.confidence, "bootstrap");
  std::vector<std::size_t> all;
  for (const auto& group : groups) all.insert(all.end(), group.begin(), group.end());
  std::sort(all.begin(), all.end());
  BootstrapResult result;
  result.estimate = statistic(all);
  result.distribution = draw(groups, statistic, options);
  result.undefined = options.resamples - static_cast<int>(result.distribution.size());
  if (std::isnan(result.estimate) || 2 * result.undefined > options.resamples) {
    throw DataError({.what = "the statistic is undefined on the sample or on most resamples",
                     .where = "bootstrap",
                     .got = std::to_string(result.undefined) + " of " + std::to_string(options.resamples) + " resamples",
                     .hint = "more samples or clusters are needed, or values that vary"});
  }
  result.standard_error = result.distribution.size() > 1 ? sd(result.distribution) : std::nan("");
  if (options.kind == BootstrapKind::kBca) {
    result.interval = bca_interval(result.distribution, result.estimate, jackknife(groups, statistic), options.confidence);
  } else {
    result.interval = percentile_interval(result.distribution, options.confidence);
  }
  return result;
}

}  // namespace

BootstrapResult bootstrap(std::span<const double> x, const SampleStatistic& statistic, const BootstrapOptions& options) {
  require_finite(x, "bootstrap");
  std::vector<double> sample;
  return bootstrap_rows(
      x.size(),
      [&](std::span<const std::size_t> rows) {
        sample.clear();
        for (std::size_t r : rows) sample.push_back(x[r]);
        return statistic(sample);
      },
      options);
}

BootstrapResult bootstrap_rows(std::size_t n, const IndexStatistic& statistic, const BootstrapOptions& options) {
  Groups groups(n);
  for (std::size_t i = 0; i < n; ++i) groups[i] = {i};
  return bootstrap_groups(groups, statistic, options);
}

BootstrapResult bootstrap_clusters(std::span<const int> clusters, const IndexStatistic& statistic,
                                   const BootstrapOptions& options) {
  std::map<int, std::vector<std::size_t>> rows_of;
  for (std::size_t i = 0; i < clusters.size(); ++i) rows_of[clusters[i]].push_back(i);
  Groups groups;
  for (auto& [cluster, rows] : rows_of) groups.push_back(std::move(rows));
  return bootstrap_groups(groups, statistic, options);
}

Interval percentile_interval(std::span<const double> distribution, double confidence) {
  require_confidence(confidence, "percentile_interval");
  const double tail = 0.5 * (1 - confidence);
  return {quantile(distribution, tail), quantile(distribution, 1 - tail)};
}

Interval bca_interval(std::span<const double> distribution, double estimate, std::span<const double> jackknife_values,
                      double confidence) {
  require_confidence(confidence, "bca_interval");
  require_at_least(distribution.size(), 1, "bca_interval");
  double below = 0;
  for (double v : distribution) below += (v < estimate ? 0.5 : 0.0) + (v <= estimate ? 0.5 : 0.0);
  const double size = static_cast<double>(distribution.size());
  const double bias = normal_quantile(std::clamp(below / size, 0.5 / size, 1 - 0.5 / size));
  double squares = 0, cubes = 0;
  if (!jackknife_values.empty()) {
    const double centre = mean(jackknife_values);
    for (double v : jackknife_values) {
      squares += (centre - v) * (centre - v);
      cubes += (centre - v) * (centre - v) * (centre - v);
    }
  }
  const double acceleration = squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
  const auto level = [&](double z) { return normal_cdf(bias + (bias + z) / (1 - acceleration * (bias + z))); };
  const double z = normal_quantile(0.5 * (1 - confidence));
  return {quantile(distribution, level(z)), quantile(distribution, level(-z))};
}

}  // namespace locus::stats
