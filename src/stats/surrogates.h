// Surrogates of maps and of multi-dimensional codes on regions that keep spatial autocorrelation (after Burt et al. 2020):
// rows are permuted, smoothed over near regions, scaled and mixed with white noise until their variogram fits the
// original's. They answer: would any equally smooth code look so? Surrogate i depends on the seed and i alone.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "core/parallel.h"
#include "stats/permutation.h"

namespace locus::stats {

struct SurrogateOptions {
  // Candidate neighbourhoods as fractions of all regions, each with an exponential and a Gaussian kernel; the one whose
  // variogram fits best is taken for each surrogate.
  std::vector<double> neighbourhoods = {0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  double near = 0.25;  // the variogram is fitted on the pairs below this quantile of distance
  int lags = 25;
  std::uint64_t seed = 0;
};

class SpatialSurrogates {
 public:
  // distance n x n, symmetric, not negative, varying; code n x d (d = 1: a map). n >= 10. Rows of the code move
  // together, so that the similarity matrix of a surrogate keeps the original's dependence on distance.
  SpatialSurrogates(ConstMatD distance, ConstMatD code, const SurrogateOptions& options = {});

  MatrixD draw(std::uint64_t index) const;  // n x d, with the column means of the code
  std::vector<double> lags() const { return lags_; }
  // Half the mean squared difference of rows at each lag, summed over columns, smoothed over distance by a Gaussian.
  std::vector<double> variogram(ConstMatD code) const;
  const std::vector<double>& target() const { return target_; }

 private:
  struct Pair {
    int i, j;
  };
  struct Fit {
    double nugget = 0;  // variance of the white noise
    double slope = 0;   // factor on the variogram of the smoothed code
    double error = 0;
  };
  void make_smoothers(ConstMatD distance);
  void make_lags(ConstMatD distance);
  Fit fit(std::span<const double> smooth) const;

  SurrogateOptions options_;
  MatrixD code_;              // centred
  std::vector<double> mean_;  // of its columns
  std::vector<MatrixD> smoothers_;
  std::vector<Pair> pairs_;
  std::vector<double> lags_;
  MatrixD lag_weights_;  // lags x pairs, rows sum to 1
  std::vector<double> target_;
};

// statistic(code) against its values on surrogates; two-sided p-values count distance from the mean of the null. With a
// pool, surrogates are drawn in parallel (the statistic must then be safe to call so); the result is the same.
PermutationResult surrogate_test(const SpatialSurrogates& surrogates, double observed,
                                 const std::function<double(ConstMatD)>& statistic, const PermutationOptions& options = {},
                                 ThreadPool* pool = nullptr);

struct NetworkTestOptions {
  int count = 999;  // surrogates
  SurrogateOptions surrogates = {};
  ThreadPool* pool = nullptr;
};
// Is within - between of the cosine similarity of the code's rows larger than for equally smooth codes? One-sided. Where
// networks are few and each one patch, smoothness alone explains nearly all of the difference: the test is then
// conservative. It has about its nominal level for networks of several patches (docs/analyses/statistics.md).
PermutationResult surrogate_network_test(ConstMatD distance, ConstMatD code, std::span<const int> labels,
                                         const NetworkTestOptions& options = {});

}  // namespace locus::stats
