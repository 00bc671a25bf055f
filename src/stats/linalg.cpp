// Decompositions other than the SVD, and what is built on them.
#include "stats/linalg.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"
#include "core/symmetric_eigen.h"
#include "stats/checks.h"
#include "stats/descriptive.h"
#include "stats/eigen_map.h"
#include "stats/matrix_correlation.h"

namespace locus::stats {
namespace {

void require_same_shape(ConstMatD a, ConstMatD b, const char* function) {
  require_same_size(static_cast<std::size_t>(a.rows), static_cast<std::size_t>(b.rows), function);
  require_same_size(static_cast<std::size_t>(a.cols), static_cast<std::size_t>(b.cols), function);
  require_at_least(static_cast<std::size_t>(std::min(a.rows, a.cols)), 1, function);
}

void require_components(std::ptrdiff_t k, std::ptrdiff_t most, const char* function) {
  if (k >= 1 && k <= most) return;
  throw ConfigError({.what = "number of components out of range",
                     .where = function,
                     .got = std::to_string(k),
                     .expected = "1 to " + std::to_string(most)});
}

double sum(std::span<const double> v) { return std::accumulate(v.begin(), v.end(), 0.0); }

// Solves (a + lambda I) x = b for a symmetric and positive semi-definite.
Eigen::MatrixXd solve_ridge(Eigen::MatrixXd a, const Eigen::MatrixXd& b, double lambda, const char* function) {
  if (!(lambda >= 0) || !std::isfinite(lambda)) {
    throw ConfigError(
        {.what = "ridge penalty out of range", .where = function, .got = std::to_string(lambda), .expected = "0 or more"});
  }
  a.diagonal().array() += lambda;
  const Eigen::LDLT<Eigen::MatrixXd> ldlt(a);
  const auto pivots = ldlt.vectorD();
  if (ldlt.info() != Eigen::Success || pivots.minCoeff() <= 1e-14 * std::max(pivots.maxCoeff(), 1e-300)) {
    throw DataError({.what = "the ridge system is singular", .where = function, .hint = "give a penalty above 0"});
  }
  return ldlt.solve(b);
}

Eigen::MatrixXd centred_if(ConstMatD m, bool centre) {
  Eigen::MatrixXd out = as_eigen(m);
  if (centre) out.rowwise() -= out.colwise().mean().eval();
  return out;
}

}  // namespace

SymmetricEigen symmetric_eigen(ConstMatD a) {
  require_symmetric(a, "symmetric_eigen");
  require_at_least(static_cast<std::size_t>(a.rows), 1, "symmetric_eigen");
  const SymmetricEigenvectors solved = symmetric_eigenvectors(a);
  SymmetricEigen out{{solved.values.rbegin(), solved.values.rend()}, MatrixD(a.rows, a.cols)};
  for (std::ptrdiff_t k = 0; k < a.cols; ++k) {
    const std::ptrdiff_t from = a.cols - 1 - k;
    double largest = 0;
    for (std::ptrdiff_t i = 0; i < a.rows; ++i) {
      const double v = out.vectors(i, k) = solved.vectors(i, from);
      if (std::abs(v) > std::abs(largest)) largest = v;
    }
    for (std::ptrdiff_t i = 0; i < a.rows && largest < 0; ++i) out.vectors(i, k) = -out.vectors(i, k);
  }
  return out;
}

LinearFit ridge(ConstMatD x, ConstMatD y, double lambda) {
  require_same_size(static_cast<std::size_t>(x.rows), static_cast<std::size_t>(y.rows), "ridge");
  require_at_least(static_cast<std::size_t>(x.rows), 1, "ridge");
  require_finite(x, "ridge");
  require_finite(y, "ridge");
  const Eigen::RowVectorXd mx = as_eigen(x).colwise().mean(), my = as_eigen(y).colwise().mean();
  const Eigen::MatrixXd cx = centred_if(x, true), cy = centred_if(y, true);
  // The dual form solves an n x n system when there are more features than samples.
  const Eigen::MatrixXd w = x.cols <= x.rows
                                ? solve_ridge(cx.transpose() * cx, cx.transpose() * cy, lambda, "ridge")
                                : Eigen::MatrixXd(cx.transpose() * solve_ridge(cx * cx.transpose(), cy, lambda, "ridge"));
  const Eigen::RowVectorXd c = my - mx * w;
  return {from_eigen(w), {c.data(), c.data() + c.size()}};
}

double participation_ratio(std::span<const double> values) {
  require_finite(values, "participation_ratio");
  double total = 0, squares = 0;
  for (double v : values) {
    total += v;
    squares += v * v;
  }
  return squares > 0 ? total * total / squares : std::numeric_limits<double>::quiet_NaN();
}

double effective_dimension(ConstMatD x) {
  require_finite(x, "effective_dimension");
  require_at_least(static_cast<std::size_t>(x.rows), 2, "effective_dimension");
  const Eigen::MatrixXd c = centred_if(x, true);
  // trace and Frobenius norm of the smaller Gram matrix hold the sums of eigenvalues and of their squares
  const Eigen::MatrixXd gram = x.cols <= x.rows ? Eigen::MatrixXd(c.transpose() * c) : Eigen::MatrixXd(c * c.transpose());
  const double squares = gram.squaredNorm();
  return squares > 0 ? gram.trace() * gram.trace() / squares : std::numeric_limits<double>::quiet_NaN();
}

Pca pca(ConstMatD x, std::ptrdiff_t k) {
  require_at_least(static_cast<std::size_t>(x.rows), 2, "pca");
  require_components(k, std::min(x.rows, x.cols), "pca");
  const MatrixD centred = centre_rows(x);
  const Svd svd = thin_svd(centred.view());
  const Eigen::MatrixXd components = as_eigen(svd.v).leftCols(k);
  Pca out{from_eigen(as_eigen(centred) * components), from_eigen(components), {}};
  for (std::ptrdiff_t j = 0; j < k; ++j) {
    const double s = svd.s[static_cast<std::size_t>(j)];
    out.variance.push_back(s * s / static_cast<double>(x.rows - 1));
  }
  return out;
}

Mds classical_mds(ConstMatD distance, std::ptrdiff_t k) {
  require_symmetric(distance, "classical_mds");
  require_components(k, distance.rows, "classical_mds");
  Eigen::MatrixXd b = -0.5 * as_eigen(distance).array().square().matrix();
  b.rowwise() -= b.colwise().mean().eval();
  b.colwise() -= b.rowwise().mean().eval();
  const MatrixD gram = from_eigen(0.5 * (b + b.transpose()));
  SymmetricEigen eigen = symmetric_eigen(gram.view());
  Mds out{MatrixD(distance.rows, k), std::move(eigen.values)};
  for (std::ptrdiff_t j = 0; j < k; ++j) {
    const double root = std::sqrt(std::max(0.0, out.eigenvalues[static_cast<std::size_t>(j)]));
    for (std::ptrdiff_t i = 0; i < distance.rows; ++i) out.coordinates(i, j) = eigen.vectors(i, j) * root;
  }
  return out;
}

Procrustes procrustes(ConstMatD a, ConstMatD b, const ProcrustesOptions& options) {
  require_same_shape(a, b, "procrustes");
  require_finite(a, "procrustes");
  require_finite(b, "procrustes");
  const Eigen::MatrixXd x = centred_if(a, options.centre), y = centred_if(b, options.centre);
  const MatrixD cross = from_eigen(y.transpose() * x);
  const Svd svd = thin_svd(cross.view());
  const Eigen::MatrixXd rotation = as_eigen(svd.u) * as_eigen(svd.v).transpose();
  const double nx = x.norm(), ny = y.norm(), overlap = sum(svd.s);
  Procrustes out;
  out.rotation = from_eigen(rotation);
  if (options.scale && ny > 0) out.scale = overlap / (ny * ny);
  Eigen::MatrixXd aligned = out.scale * y * rotation;
  out.distance = (x - aligned).norm();
  out.matched_distance = nx > 0 && ny > 0 ? (x / nx - y * rotation / ny).norm() : std::numeric_limits<double>::quiet_NaN();
  if (options.centre) aligned.rowwise() += as_eigen(a).colwise().mean().eval();
  out.aligned = from_eigen(aligned);
  return out;
}

PermutationResult procrustes_test(ConstMatD a, ConstMatD b, const ProcrustesOptions& options,
                                  const PermutationOptions& permutations) {
  require_same_shape(a, b, "procrustes_test");
  require_positive(permutations.permutations, "number of permutations", "procrustes_test");
  const MatrixD x = from_eigen(centred_if(a, options.centre)), y = from_eigen(centred_if(b, options.centre));
  const double norms = as_eigen(x).norm() * as_eigen(y).norm();
  if (!(norms > 0)) throw DataError({.what = "a configuration is all zero", .where = "procrustes_test"});
  // ||b^T P a||_* = ||s_b u_b^T P u_a s_a||_*: at most min(n, d) wide however many columns there are.
  const auto reduced = [](const MatrixD& m) {
    const Svd svd = thin_svd(m.view());
    const Eigen::Map<const Eigen::VectorXd> s(svd.s.data(), static_cast<Eigen::Index>(svd.s.size()));
    return Eigen::MatrixXd(as_eigen(svd.u) * s.asDiagonal());
  };
  const Eigen::MatrixXd left = reduced(x), right = reduced(y);
  std::vector<int> order(static_cast<std::size_t>(a.rows));
  std::iota(order.begin(), order.end(), 0);
  const auto matched = [&] {
    Eigen::MatrixXd shuffled(right.rows(), right.cols());
    for (Eigen::Index i = 0; i < right.rows(); ++i) shuffled.row(i) = right.row(order[static_cast<std::size_t>(i)]);
    const MatrixD cross = from_eigen(shuffled.transpose() * left);
    return std::sqrt(std::max(0.0, 2 - 2 * sum(singular_values(cross.view())) / norms));
  };
  const double observed = matched();
  Rng rng(permutations.seed, "stats/procrustes");
  std::vector<double> null(static_cast<std::size_t>(permutations.permutations));
  for (double& value : null) {
    rng.shuffle(std::span<int>(order));
    value = matched();
  }
  return permutation_result(observed, null, Alternative::kLess);
}

}  // namespace locus::stats
