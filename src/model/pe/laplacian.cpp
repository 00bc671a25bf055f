#include "model/pe/laplacian.h"

#include <fmt/core.h>

#include <Eigen/Core>
#include <cmath>

#include "core/error.h"
#include "core/symmetric_eigen.h"

namespace locus {

LaplacianEncoding::LaplacianEncoding(const PeConfig& config, const PeContext& context)
    : config_(config), eigenvectors_(context.eigenvectors), width_(context.width) {
  if (eigenvectors_.rows() != context.tokens) {
    throw ConfigError({.what = "pe.kind = laplacian needs a graph of the tokens",
                       .where = "",
                       .got = fmt::format("eigenvectors of {} tokens", eigenvectors_.rows()),
                       .expected = fmt::format("{} tokens", context.tokens),
                       .hint = "use data with a graph, and no CLS token"});
  }
}

std::vector<PeTensor> LaplacianEncoding::tensors() const {
  return {{"eigenvectors", {eigenvectors_.rows(), eigenvectors_.cols()}, false},
          {"proj.weight", {width_, eigenvectors_.cols()}, config_.is_trained()}};
}

void LaplacianEncoding::initialize(Rng& rng, std::span<float* const> values) const {
  std::copy(eigenvectors_.values().begin(), eigenvectors_.values().end(), values[0]);
  const double bound = config_.sigma * std::sqrt(3.0);
  for (std::int64_t i = 0; i < width_ * eigenvectors_.cols(); ++i) {
    values[1][i] = static_cast<float>(bound * (2 * rng.uniform() - 1));
  }
}

std::vector<float> LaplacianEncoding::signs(const PeStep& step) const {
  std::vector<float> s(static_cast<std::size_t>(eigenvectors_.cols()), 1.0f);
  if (!step.training) return s;
  Rng rng(step.seed, "pe/signs");
  for (float& x : s) x = (rng.next_u32() & 1u) != 0 ? 1.0f : -1.0f;
  return s;
}

void LaplacianEncoding::table(PeParams params, const PeStep& step, Mat out) const {
  const std::vector<float> s = signs(step);
  const std::int64_t k = eigenvectors_.cols();
  for (std::int64_t t = 0; t < eigenvectors_.rows(); ++t) {
    for (std::int64_t c = 0; c < width_; ++c) {
      float total = 0;
      for (std::int64_t i = 0; i < k; ++i)
        total += params[1][c * k + i] * (s[static_cast<std::size_t>(i)] * params[0][t * k + i]);
      out(t, c) = total;
    }
  }
}

void LaplacianEncoding::table_backward(PeParams params, const PeStep& step, ConstMat dtable, PeGradients gradients) const {
  const std::vector<float> s = signs(step);
  const std::int64_t k = eigenvectors_.cols();
  for (std::int64_t t = 0; t < eigenvectors_.rows(); ++t) {
    for (std::int64_t c = 0; c < width_; ++c) {
      for (std::int64_t i = 0; i < k; ++i) {
        gradients[1][c * k + i] += dtable(t, c) * (s[static_cast<std::size_t>(i)] * params[0][t * k + i]);
      }
    }
  }
}

namespace {

constexpr double kEqual = 1e-9;  // eigenvalues are within 0 .. 2, errors of the solver near 1e-15

// Of entries that differ by rounding alone, the first.
Eigen::Index first_of_the_largest(const Eigen::VectorXd& v) {
  const double largest = v.maxCoeff();
  Eigen::Index i = 0;
  while (v(i) < (1 - 1e-6) * largest) ++i;
  return i;
}

// Vectors of equal eigenvalues are known up to a rotation, which rounding would choose, another one on every machine. The
// projection on their space is not: each vector is made of the token that it holds most of, the first in a tie.
void settle(Eigen::Ref<Eigen::MatrixXd> vectors) {
  Eigen::MatrixXd projection = vectors * vectors.transpose();
  for (Eigen::Index c = 0; c < vectors.cols(); ++c) {
    const Eigen::Index token = first_of_the_largest(projection.diagonal());
    const Eigen::VectorXd v = projection.col(token) / std::sqrt(projection(token, token));
    vectors.col(c) = v;
    projection -= v * v.transpose();
  }
}

}  // namespace

MatrixD laplacian_eigenvectors(const MatrixD& graph, std::int64_t k) {
  const Eigen::Index n = graph.rows();
  if (graph.cols() != n || n < 2 || k < 1 || k > n - 1) {
    throw ConfigError({.what = "pe.eigenvectors does not fit the graph",
                       .where = "",
                       .got = fmt::format("{} eigenvectors of a {} x {} graph", k, graph.rows(), graph.cols()),
                       .expected = fmt::format("1 .. {}", n - 1)});
  }
  Eigen::VectorXd degree = Eigen::VectorXd::Zero(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      if (i != j) degree(i) += graph(i, j);
    }
    if (!(degree(i) > 0)) {
      throw DataError({.what = fmt::format("token {} has no neighbour in the graph", i), .where = "pe.kind = laplacian"});
    }
  }
  MatrixD laplacian(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      laplacian(i, j) = i == j ? 1.0 : -graph(i, j) / std::sqrt(degree(i) * degree(j));
    }
  }
  const SymmetricEigenvectors solved = symmetric_eigenvectors(laplacian.view());
  const auto value = [&](Eigen::Index i) { return solved.values[static_cast<std::size_t>(i)]; };
  Eigen::MatrixXd vectors(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) vectors(i, j) = solved.vectors(i, j);
  }
  for (Eigen::Index first = 1, next = 1; first < n; first = next) {
    for (next = first + 1; next < n && value(next) - value(first) < kEqual; ++next) {
    }
    if (next - first > 1) settle(vectors.middleCols(first, next - first));
  }
  MatrixD out(n, k);
  for (Eigen::Index c = 0; c < k; ++c) {
    const Eigen::VectorXd v = vectors.col(c + 1);
    const double scale = std::sqrt(static_cast<double>(n)) * (v(first_of_the_largest(v.cwiseAbs())) < 0 ? -1.0 : 1.0);
    for (Eigen::Index t = 0; t < n; ++t) out(t, c) = scale * v(t);
  }
  return out;
}

}  // namespace locus
