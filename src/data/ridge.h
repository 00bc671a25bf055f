// Ridge regression of hidden tokens on visible ones, in closed form from the training covariance:
// the conditional mean of a Gaussian, mean_h + C_hv (C_vv + penalty I)^-1 (x_v - mean_v).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "data/connectivity.h"
#include "data/examples.h"

namespace locus {

struct RidgeModel {
  std::vector<double> mean;  // (d), d = tokens * features
  MatrixD covariance;        // (d, d)
  double penalty = 0;        // absolute; > 0
};

// Moments over the d = tokens * features variables of the samples in [first, last).
Moments variable_moments(const Examples& examples, std::int64_t first, std::int64_t last, std::int64_t d);

// penalty = relative_penalty * mean variance.
RidgeModel ridge_from(const Moments& moments, double relative_penalty);

// Mean squared error over the hidden values of each of `samples`. Samples with equal masks share one decomposition.
std::vector<double> ridge_errors(const RidgeModel& model, const Examples& examples, std::int64_t tokens,
                                 std::span<const std::int64_t> samples, ThreadPool& pool);

}  // namespace locus
