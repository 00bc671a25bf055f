// Ridge residuals under cross-validation are linear in the targets: e_cv = (I - H_ff)^-1 (I - H) y per fold f. One
// factorisation therefore serves the estimate and every permutation of its null.
#include "stats/readout.h"
#include "core/nan.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"
#include "stats/checks.h"
#include "stats/eigen_map.h"
#include "stats/matrix_correlation.h"

namespace locus::stats {
namespace {

using Eigen::MatrixXd;

void check_rows(ConstMatD x, std::size_t targets, const char* function) {
  require_same_size(static_cast<std::size_t>(x.rows), targets, function);
  require_at_least(targets, 3, function);
  require_at_least(static_cast<std::size_t>(x.cols), 1, function);
  require_finite(x, function);
}

std::vector<std::vector<Eigen::Index>> make_folds(Eigen::Index n, const RidgeReadoutOptions& options) {
  const Eigen::Index count = options.folds == 0 ? n : options.folds;
  if (count < 2 || count > n) {
    throw ConfigError({.what = "number of folds out of range",
                       .where = "ridge_readout",
                       .got = std::to_string(options.folds),
                       .expected = "0 (leave one out) or 2 to " + std::to_string(n)});
  }
  std::vector<Eigen::Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  if (options.folds != 0) {
    Rng rng(options.seed, "stats/folds");
    rng.shuffle(std::span<Eigen::Index>(order));
  }
  std::vector<std::vector<Eigen::Index>> folds(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < order.size(); ++i) folds[i % folds.size()].push_back(order[i]);
  return folds;
}

// The n x n matrix that takes targets to their cross-validated residuals.
MatrixXd residual_operator(ConstMatD x, const RidgeReadoutOptions& options) {
  MatrixXd c = as_eigen(x);
  c.rowwise() -= c.colwise().mean().eval();
  const Eigen::Index n = x.rows;
  const double scatter = c.squaredNorm() / static_cast<double>(std::min(x.rows, x.cols));
  if (!(options.lambda > 0)) {
    throw ConfigError(
        {.what = "read-out penalty must be positive", .where = "ridge_readout", .got = std::to_string(options.lambda)});
  }
  if (!(scatter > 0)) throw DataError({.what = "all rows of the code are equal", .where = "ridge_readout"});
  const double lambda = options.lambda * scatter;
  MatrixXd hat = MatrixXd::Constant(n, n, 1.0 / static_cast<double>(n));
  if (x.cols < n) {
    MatrixXd gram = c.transpose() * c;
    gram.diagonal().array() += lambda;
    hat += c * gram.llt().solve(c.transpose());
  } else {
    const MatrixXd kernel = c * c.transpose();
    MatrixXd shifted = kernel;
    shifted.diagonal().array() += lambda;
    hat += shifted.llt().solve(kernel);
  }
  const MatrixXd rest = MatrixXd::Identity(n, n) - hat;
  MatrixXd out(n, n);
  for (const auto& fold : make_folds(n, options)) {
    const Eigen::Index size = static_cast<Eigen::Index>(fold.size());
    MatrixXd block(size, size), rows(size, n);
    for (Eigen::Index i = 0; i < size; ++i) {
      rows.row(i) = rest.row(fold[static_cast<std::size_t>(i)]);
      for (Eigen::Index j = 0; j < size; ++j) block(i, j) = rows(i, fold[static_cast<std::size_t>(j)]);
    }
    const MatrixXd solved = block.ldlt().solve(rows);
    for (Eigen::Index i = 0; i < size; ++i) out.row(fold[static_cast<std::size_t>(i)]) = solved.row(i);
  }
  return out;
}

MatrixXd centred(ConstMatD y) {
  MatrixXd c = as_eigen(y);
  c.rowwise() -= c.colwise().mean().eval();
  if (!(c.squaredNorm() > 0)) throw DataError({.what = "the read-out's targets do not vary", .where = "read-out"});
  return c;
}

// statistic(order) for the identity and for `permutations` shuffles; one-sided, large values extreme.
template <class Statistic>
PermutationResult shuffle_test(std::size_t n, int permutations, std::uint64_t seed, Statistic statistic) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  PermutationResult none;
  none.observed = statistic(order);
  none.p = none.null_mean = none.null_sd = kNan;
  if (permutations <= 0) return none;
  Rng rng(seed, "stats/readout");
  std::vector<double> null(static_cast<std::size_t>(permutations));
  for (double& value : null) {
    rng.shuffle(std::span<std::size_t>(order));
    value = statistic(order);
  }
  return permutation_result(none.observed, null, Alternative::kGreater);
}

MatrixXd reordered(const MatrixXd& m, std::span<const std::size_t> order) {
  MatrixXd out(m.rows(), m.cols());
  for (Eigen::Index i = 0; i < m.rows(); ++i)
    out.row(i) = m.row(static_cast<Eigen::Index>(order[static_cast<std::size_t>(i)]));
  return out;
}

// For each row the k nearest other rows, nearest first; equal distances in order of index.
std::vector<std::vector<std::size_t>> nearest(ConstMatD x, const NeighbourOptions& options) {
  if (options.k < 1 || options.k >= x.rows) {
    throw ConfigError({.what = "number of neighbours out of range",
                       .got = std::to_string(options.k),
                       .expected = "1 to " + std::to_string(x.rows - 1)});
  }
  MatrixD d = options.metric == Metric::kCosine ? cosine_similarity(x) : pairwise_distance(x);
  if (options.metric == Metric::kCosine) {
    for (double& v : d.values()) v = 1 - v;
  }
  std::vector<std::vector<std::size_t>> out(static_cast<std::size_t>(x.rows));
  for (std::ptrdiff_t i = 0; i < x.rows; ++i) {
    std::vector<std::size_t>& others = out[static_cast<std::size_t>(i)];
    for (std::ptrdiff_t j = 0; j < x.rows; ++j) {
      if (j != i) others.push_back(static_cast<std::size_t>(j));
    }
    const auto row = d.row(i);
    std::stable_sort(others.begin(), others.end(), [&](std::size_t a, std::size_t b) { return row[a] < row[b]; });
    others.resize(static_cast<std::size_t>(options.k));
  }
  return out;
}

template <class LabelOf>
int vote(const std::vector<std::size_t>& neighbours, LabelOf label_of) {
  std::map<int, int> votes;
  int most = 0;
  for (std::size_t j : neighbours) most = std::max(most, ++votes[label_of(j)]);
  for (std::size_t j : neighbours) {
    if (votes[label_of(j)] == most) return label_of(j);
  }
  return 0;
}

}  // namespace

RidgeReadout ridge_readout(ConstMatD x, ConstMatD y, const RidgeReadoutOptions& options) {
  check_rows(x, static_cast<std::size_t>(y.rows), "ridge_readout");
  require_finite(y, "ridge_readout");
  const MatrixXd targets = centred(y), residuals_of = residual_operator(x, options);
  const double scatter = targets.squaredNorm();
  RidgeReadout out;
  const MatrixXd residuals = residuals_of * targets;
  out.r2 = 1 - residuals.squaredNorm() / scatter;
  for (Eigen::Index q = 0; q < targets.cols(); ++q) {
    const double own = targets.col(q).squaredNorm();
    out.r2_per_target.push_back(own > 0 ? 1 - residuals.col(q).squaredNorm() / own : kNan);
  }
  out.prediction = from_eigen(as_eigen(y) - residuals);
  out.test = shuffle_test(static_cast<std::size_t>(y.rows), options.permutations, options.seed,
                          [&](std::span<const std::size_t> order) {
                            return 1 - (residuals_of * reordered(targets, order)).squaredNorm() / scatter;
                          });
  return out;
}

NeighbourLabels neighbour_labels(ConstMatD x, std::span<const int> labels, const NeighbourOptions& options) {
  check_rows(x, labels.size(), "neighbour_labels");
  const auto neighbours = nearest(x, options);
  const auto predict = [&](std::size_t i, std::span<const std::size_t> order) {
    return vote(neighbours[i], [&](std::size_t j) { return labels[order[j]]; });
  };
  NeighbourLabels out;
  std::vector<std::size_t> identity(labels.size());
  std::iota(identity.begin(), identity.end(), std::size_t{0});
  for (std::size_t i = 0; i < labels.size(); ++i) out.prediction.push_back(predict(i, identity));
  out.test = shuffle_test(labels.size(), options.permutations, options.seed, [&](std::span<const std::size_t> order) {
    double right = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) right += predict(i, order) == labels[order[i]] ? 1 : 0;
    return right / static_cast<double>(labels.size());
  });
  out.accuracy = out.test.observed;
  return out;
}

NeighbourCoordinates neighbour_coordinates(ConstMatD x, ConstMatD y, const NeighbourOptions& options) {
  check_rows(x, static_cast<std::size_t>(y.rows), "neighbour_coordinates");
  require_finite(y, "neighbour_coordinates");
  const auto neighbours = nearest(x, options);
  const MatrixXd targets = centred(y);
  const auto predict = [&](const MatrixXd& values) {
    MatrixXd mean = MatrixXd::Zero(values.rows(), values.cols());
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
      for (std::size_t j : neighbours[static_cast<std::size_t>(i)]) mean.row(i) += values.row(static_cast<Eigen::Index>(j));
    }
    return MatrixXd(mean / options.k);
  };
  NeighbourCoordinates out;
  out.prediction = from_eigen(predict(as_eigen(y)));
  out.test = shuffle_test(static_cast<std::size_t>(y.rows), options.permutations, options.seed,
                          [&](std::span<const std::size_t> order) {
                            const MatrixXd values = reordered(targets, order);
                            return 1 - (values - predict(values)).squaredNorm() / targets.squaredNorm();
                          });
  out.r2 = out.test.observed;
  return out;
}

}  // namespace locus::stats
