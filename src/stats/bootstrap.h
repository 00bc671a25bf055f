// Bootstrap intervals: percentile and bias-corrected accelerated (Efron 1987), over samples or whole clusters.
// Deterministic in the seed. A statistic may be NaN on a resample (a constant one has no correlation): such
// resamples are dropped and counted, and more than half of them is a DataError.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "stats/distributions.h"

namespace locus::stats {

enum class BootstrapKind { kPercentile, kBca };

struct BootstrapOptions {
  int resamples = 2000;
  double confidence = 0.95;
  std::uint64_t seed = 0;
  BootstrapKind kind = BootstrapKind::kBca;
};

struct BootstrapResult {
  double estimate = 0;
  Interval interval;
  double standard_error = 0;
  std::vector<double> distribution;
  int undefined = 0;  // resamples on which the statistic was NaN
};

using SampleStatistic = std::function<double(std::span<const double>)>;
// Of the rows named, in the order named, some more than once.
using IndexStatistic = std::function<double(std::span<const std::size_t>)>;

BootstrapResult bootstrap(std::span<const double> x, const SampleStatistic& statistic, const BootstrapOptions& options = {});
// Rows 0..n-1 of data the statistic holds: paired or multivariate samples. n >= 2.
BootstrapResult bootstrap_rows(std::size_t n, const IndexStatistic& statistic, const BootstrapOptions& options = {});
// Resamples whole clusters (clusters[i] is the cluster of row i); BCa's jackknife leaves out one cluster at a time.
// At least 2 clusters.
BootstrapResult bootstrap_clusters(std::span<const int> clusters, const IndexStatistic& statistic,
                                   const BootstrapOptions& options = {});

// The interval of a given bootstrap distribution.
Interval percentile_interval(std::span<const double> distribution, double confidence = 0.95);
// The bias correction is kept finite when the whole distribution lies on one side of the estimate.
Interval bca_interval(std::span<const double> distribution, double estimate, std::span<const double> jackknife,
                      double confidence = 0.95);

}  // namespace locus::stats
