// Variogram-matched surrogates; kernels and lag weights depend on distance alone and are made once.
#include "stats/surrogates.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/rng.h"
#include "stats/checks.h"
#include "stats/descriptive.h"
#include "stats/eigen_map.h"
#include "stats/graph.h"
#include "stats/matrix_correlation.h"

namespace locus::stats {
namespace {

using Eigen::MatrixXd;

MatrixXd permuted_rows(const MatrixD& m, Rng& rng) {
  std::vector<std::ptrdiff_t> order(static_cast<std::size_t>(m.rows()));
  std::iota(order.begin(), order.end(), std::ptrdiff_t{0});
  rng.shuffle(std::span<std::ptrdiff_t>(order));
  MatrixXd out(m.rows(), m.cols());
  for (std::ptrdiff_t i = 0; i < m.rows(); ++i) out.row(i) = as_eigen(m).row(order[static_cast<std::size_t>(i)]);
  return out;
}

// Row i averages over region i and its k nearest, weighted by kernel(distance / distance of the k-th); rows sum to 1.
template <class Kernel>
MatrixD kernel_smoother(ConstMatD distance, std::ptrdiff_t k, Kernel kernel) {
  const std::ptrdiff_t n = distance.rows;
  MatrixD out(n, n);
  std::vector<double> sorted(static_cast<std::size_t>(n));
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    std::copy_n(distance.row(i), n, sorted.begin());
    std::nth_element(sorted.begin(), sorted.begin() + k, sorted.end());
    const double reach = sorted[static_cast<std::size_t>(k)];
    double total = 0;
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      if (distance(i, j) <= reach) out(i, j) = reach > 0 ? kernel(distance(i, j) / reach) : 1;
      total += out(i, j);
    }
    for (double& v : out.row(i)) v /= total;
  }
  return out;
}

}  // namespace

SpatialSurrogates::SpatialSurrogates(ConstMatD distance, ConstMatD code, const SurrogateOptions& options)
    : options_(options), code_(centre_rows(code)) {
  require_symmetric(distance, "surrogates");
  require_same_size(static_cast<std::size_t>(distance.rows), static_cast<std::size_t>(code.rows), "surrogates");
  require_at_least(static_cast<std::size_t>(code.rows), 10, "surrogates");
  require_positive(options.lags - 2, "number of lags beyond 2", "surrogates");
  require_confidence(options.near, "surrogates (near)");
  if (!(as_eigen(code_).squaredNorm() > 0)) {
    throw DataError({.what = "all rows of the code are equal", .where = "surrogates"});
  }
  for (std::ptrdiff_t c = 0; c < code.cols; ++c) {
    mean_.push_back(as_eigen(code).col(c).mean());
  }
  make_smoothers(distance);
  make_lags(distance);
  target_ = variogram(code_.view());
}

void SpatialSurrogates::make_smoothers(ConstMatD distance) {
  const std::ptrdiff_t n = distance.rows;
  std::set<std::ptrdiff_t> sizes;
  for (double fraction : options_.neighbourhoods) {
    require_confidence(fraction, "surrogates (neighbourhood)");
    sizes.insert(std::clamp<std::ptrdiff_t>(std::lround(fraction * static_cast<double>(n)), 2, n - 1));
  }
  if (sizes.empty()) throw ConfigError({.what = "no neighbourhoods given", .where = "surrogates"});
  // The exponential kernel alone left surrogates too rough at short range for smooth fields (the network test rejected
  // 9 % instead of 5 %); the Gaussian one, three sd wide, mends that.
  const auto exponential = [](double ratio) { return std::exp(-ratio); };
  const auto gaussian = [](double ratio) { return std::exp(-4.5 * ratio * ratio); };
  for (std::ptrdiff_t k : sizes) {
    smoothers_.push_back(kernel_smoother(distance, k, exponential));
    smoothers_.push_back(kernel_smoother(distance, k, gaussian));
  }
}

void SpatialSurrogates::make_lags(ConstMatD distance) {
  const std::vector<double> all = upper_triangle(distance);
  const double least = *std::min_element(all.begin(), all.end());
  const double reach = quantile(all, options_.near);
  if (least < 0 || !(reach > least)) {
    throw DataError({.what = "distances are negative or do not vary", .where = "surrogates"});
  }
  std::vector<double> near;
  for (int i = 0; i < distance.rows; ++i) {
    for (int j = i + 1; j < distance.cols; ++j) {
      if (distance(i, j) > reach) continue;
      pairs_.push_back({i, j});
      near.push_back(distance(i, j));
    }
  }
  const double step = (reach - least) / (options_.lags - 1);
  // Burt et al. take three steps for the bandwidth; 2.68 makes it the quartile range of the Gaussian.
  const double bandwidth = 3 * step;
  lag_weights_ = MatrixD(options_.lags, static_cast<std::ptrdiff_t>(near.size()));
  for (int h = 0; h < options_.lags; ++h) {
    lags_.push_back(least + h * step);
    const auto row = lag_weights_.row(h);
    double total = 0;
    for (std::size_t p = 0; p < near.size(); ++p) {
      const double z = 2.68 * (near[p] - lags_.back()) / bandwidth;
      total += row[p] = std::exp(-0.5 * z * z);
    }
    // A gap in the distances leaves a lag without pairs: it says nothing, so its weight is 0.
    for (double& v : row) v = total > 1e-12 ? v / total : 0;
  }
}

std::vector<double> SpatialSurrogates::variogram(ConstMatD code) const {
  require_same_size(static_cast<std::size_t>(code.rows), static_cast<std::size_t>(code_.rows()), "variogram");
  require_finite(code, "variogram");
  const MatrixXd gram = as_eigen(code) * as_eigen(code).transpose();
  Eigen::VectorXd half(static_cast<Eigen::Index>(pairs_.size()));
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const auto [i, j] = pairs_[p];
    half(static_cast<Eigen::Index>(p)) = 0.5 * (gram(i, i) + gram(j, j)) - gram(i, j);
  }
  const Eigen::VectorXd out = as_eigen(lag_weights_) * half;
  return {out.data(), out.data() + out.size()};
}

// Least squares of the target on nugget + slope * smooth with both not negative.
SpatialSurrogates::Fit SpatialSurrogates::fit(std::span<const double> smooth) const {
  const double n = static_cast<double>(smooth.size());
  double x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t h = 0; h < smooth.size(); ++h) {
    x += smooth[h];
    y += target_[h];
    xx += smooth[h] * smooth[h];
    xy += smooth[h] * target_[h];
  }
  const double spread = n * xx - x * x;
  Fit out;
  out.slope = spread > 1e-14 * n * xx ? (n * xy - x * y) / spread : 0;
  out.nugget = (y - out.slope * x) / n;
  if (out.nugget < 0) out = {0, xx > 0 ? std::max(0.0, xy / xx) : 0, 0};
  if (out.slope < 0) out = {y / n, 0, 0};
  for (std::size_t h = 0; h < smooth.size(); ++h) {
    const double e = target_[h] - out.nugget - out.slope * smooth[h];
    out.error += e * e;
  }
  return out;
}

MatrixD SpatialSurrogates::draw(std::uint64_t index) const {
  Rng rng(derive_seed(options_.seed, "stats/surrogate", index), "rows");
  const MatrixXd shuffled = permuted_rows(code_, rng);
  MatrixD best;
  Fit best_fit;
  for (const MatrixD& smoother : smoothers_) {
    MatrixD smooth = from_eigen(as_eigen(smoother) * shuffled);
    const Fit candidate = fit(variogram(smooth.view()));
    if (best.rows() == 0 || candidate.error < best_fit.error) {
      best = std::move(smooth);
      best_fit = candidate;
    }
  }
  // A second permutation is noise without spatial structure that keeps the columns' covariance.
  const double variance = as_eigen(code_).squaredNorm() / static_cast<double>(code_.rows() - 1);
  MatrixXd out =
      std::sqrt(best_fit.slope) * as_eigen(best) + std::sqrt(best_fit.nugget / variance) * permuted_rows(code_, rng);
  out.rowwise() -= out.colwise().mean().eval();
  for (Eigen::Index c = 0; c < out.cols(); ++c) out.col(c).array() += mean_[static_cast<std::size_t>(c)];
  return from_eigen(out);
}

PermutationResult surrogate_test(const SpatialSurrogates& surrogates, double observed,
                                 const std::function<double(ConstMatD)>& statistic, const PermutationOptions& options,
                                 ThreadPool* pool) {
  require_positive(options.permutations, "number of surrogates", "surrogate_test");
  std::vector<double> null(static_cast<std::size_t>(options.permutations));
  const auto draw_one = [&](int task, int) {
    const MatrixD code = surrogates.draw(static_cast<std::uint64_t>(task));
    null[static_cast<std::size_t>(task)] = statistic(code.view());
  };
  if (pool != nullptr) {
    pool->run(options.permutations, draw_one);
  } else {
    for (int i = 0; i < options.permutations; ++i) draw_one(i, 0);
  }
  return permutation_result(observed, null, options.alternative, mean(null));
}

PermutationResult surrogate_network_test(ConstMatD distance, ConstMatD code, std::span<const int> labels,
                                         const NetworkTestOptions& options) {
  const auto statistic = [&](ConstMatD x) {
    const MatrixD similarity = cosine_similarity(x);
    return within_between(similarity.view(), labels).difference();
  };
  PermutationOptions one_sided;
  one_sided.permutations = options.count;
  one_sided.alternative = Alternative::kGreater;
  return surrogate_test(SpatialSurrogates(distance, code, options.surrogates), statistic(code), statistic, one_sided,
                        options.pool);
}

}  // namespace locus::stats
