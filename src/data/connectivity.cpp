#include "data/connectivity.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"

namespace locus {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMap = Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>>;
constexpr std::int64_t kBlockRows = 512;

}  // namespace

void Moments::add_rows(ConstMatD rows) {
  LOCUS_CHECK(rows.cols == size(), "rows of another width");
  Eigen::Map<RowMatrix> total(products.values().data(), products.rows(), products.cols());
  for (std::ptrdiff_t r = 0; r < rows.rows; r += kBlockRows) {
    const std::ptrdiff_t n = std::min<std::ptrdiff_t>(kBlockRows, rows.rows - r);
    const ConstMap block(rows.row(r), n, rows.cols, Eigen::OuterStride<>(rows.stride));
    total.noalias() += block.transpose() * block;
    Eigen::Map<Eigen::RowVectorXd>(sum.data(), rows.cols) += block.colwise().sum();
  }
  count += rows.rows;
}

void Moments::add(const Moments& other) {
  LOCUS_CHECK(other.size() == size(), "moments of another size");
  count += other.count;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other.sum[i];
  for (std::size_t i = 0; i < products.values().size(); ++i) products.values()[i] += other.products.values()[i];
}

std::vector<double> Moments::mean() const {
  std::vector<double> m = sum;
  for (double& v : m) v /= static_cast<double>(std::max<std::int64_t>(count, 1));
  return m;
}

MatrixD Moments::covariance() const {
  LOCUS_CHECK(count > 0, "covariance of nothing");
  const std::vector<double> m = mean();
  const std::int64_t d = size();
  MatrixD c(d, d);
  for (std::int64_t i = 0; i < d; ++i) {
    for (std::int64_t j = 0; j < d; ++j) {
      c(i, j) =
          products(i, j) / static_cast<double>(count) - m[static_cast<std::size_t>(i)] * m[static_cast<std::size_t>(j)];
    }
  }
  return c;
}

MatrixD Moments::correlation() const {
  MatrixD c = covariance();
  const std::int64_t d = size();
  std::vector<double> scale(static_cast<std::size_t>(d));
  for (std::int64_t i = 0; i < d; ++i) {
    scale[static_cast<std::size_t>(i)] = c(i, i) > 0 ? 1.0 / std::sqrt(c(i, i)) : 0.0;
  }
  for (std::int64_t i = 0; i < d; ++i) {
    for (std::int64_t j = 0; j < d; ++j) {
      c(i, j) = std::clamp(c(i, j) * scale[static_cast<std::size_t>(i)] * scale[static_cast<std::size_t>(j)], -1.0, 1.0);
    }
    c(i, i) = 1.0;
  }
  return c;
}

Moments token_moments(const Examples& examples, std::int64_t tokens, std::int64_t features) {
  LOCUS_CHECK(static_cast<std::int64_t>(examples.values.size()) == examples.count * tokens * features,
              "values of the shape");
  Moments moments(tokens);
  const std::int64_t per_block = std::max<std::int64_t>(1, kBlockRows / features);
  MatrixD block(per_block * features, tokens);
  for (std::int64_t s = 0; s < examples.count; s += per_block) {
    const std::int64_t n = std::min(per_block, examples.count - s);
    for (std::int64_t i = 0; i < n; ++i) {
      const float* sample = examples.values.data() + (s + i) * tokens * features;
      for (std::int64_t t = 0; t < tokens; ++t) {
        for (std::int64_t f = 0; f < features; ++f) block(i * features + f, t) = sample[t * features + f];
      }
    }
    moments.add_rows(std::as_const(block).view().row_block(0, n * features));
  }
  return moments;
}

MatrixD correlation_of(ConstMatD frames) {
  Moments moments(frames.cols);
  moments.add_rows(frames);
  return moments.correlation();
}

MatrixD neighbour_graph(const MatrixD& similarity, std::int64_t k) {
  LOCUS_CHECK(similarity.rows() == similarity.cols(), "a square matrix");
  const std::int64_t n = similarity.rows();
  MatrixD graph(n, n);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    std::iota(order.begin(), order.end(), 0);
    std::erase(order, i);
    const auto kept = std::min<std::size_t>(static_cast<std::size_t>(k), order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                      [&](std::int64_t a, std::int64_t b) {
                        return similarity(i, a) != similarity(i, b) ? similarity(i, a) > similarity(i, b) : a < b;
                      });
    for (std::size_t r = 0; r < kept; ++r) {
      const std::int64_t j = order[r];
      if (similarity(i, j) > 0) graph(i, j) = graph(j, i) = similarity(i, j);
    }
    order.resize(static_cast<std::size_t>(n));
  }
  return graph;
}

MatrixD same_label_matrix(std::span<const std::int32_t> labels) {
  const auto n = static_cast<std::ptrdiff_t>(labels.size());
  MatrixD same(n, n);
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      same(i, j) = labels[static_cast<std::size_t>(i)] == labels[static_cast<std::size_t>(j)] ? 1.0 : 0.0;
    }
  }
  return same;
}

}  // namespace locus
