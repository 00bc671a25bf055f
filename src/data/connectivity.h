// Second moments of samples x tokens, and what is made of them: covariance, correlation, neighbour graphs.
// Data needs these while it is made (graphs, ridge); the statistics of results are elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "data/examples.h"

namespace locus {

// Count, sums and products of rows of d variables. Moments of parts add up to those of the whole.
struct Moments {
  std::int64_t count = 0;
  std::vector<double> sum;  // (d)
  MatrixD products;         // (d, d)

  explicit Moments(std::int64_t d = 0) : sum(static_cast<std::size_t>(d)), products(d, d) {}
  std::int64_t size() const { return static_cast<std::int64_t>(sum.size()); }
  void add_rows(ConstMatD rows);  // (n, d)
  void add(const Moments& other);
  std::vector<double> mean() const;
  MatrixD covariance() const;   // divided by the count
  MatrixD correlation() const;  // 1 on the diagonal; 0 beside a constant variable
};

// Moments over the T tokens, every frame of a window one row.
Moments token_moments(const Examples& examples, std::int64_t tokens, std::int64_t features);

// (T, T) correlation of a run (frames, T).
MatrixD correlation_of(ConstMatD frames);

// Each token keeps its k strongest positive partners; symmetric (kept when either side keeps it), zero diagonal.
MatrixD neighbour_graph(const MatrixD& similarity, std::int64_t k);

// 1 where two tokens share a label, else 0.
MatrixD same_label_matrix(std::span<const std::int32_t> labels);

}  // namespace locus
