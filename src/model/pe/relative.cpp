#include "model/pe/relative.h"

#include <algorithm>
#include <cmath>

#include "kernels/elementwise.h"
#include "kernels/gemm.h"

namespace locus {
namespace {

using kernels::AttentionTile;

struct RelativeTables {
  const float* key = nullptr;
  const float* value = nullptr;
  float* dkey = nullptr;
  float* dvalue = nullptr;
};

// Works through sums over offsets: scores need q . key_table for every offset once, gradients the scores' gradient summed
// by offset, so that the heavy part is a matrix product.
class RelativeTerms : public kernels::AttentionTerms {
 public:
  RelativeTerms(const MatrixD& coordinates, std::int64_t radius, std::int64_t head_width, RelativeTables tables)
      : axes_(coordinates.cols()),
        radius_(radius),
        width_(head_width),
        rows_(axes_ * (2 * radius + 1)),
        tables_(tables),
        packed_(
            static_cast<std::size_t>(std::max(kernels::packed_size(width_, rows_), kernels::packed_size(rows_, width_)))),
        scratch_(static_cast<std::size_t>(kernels::gemm_at_scratch(kernels::kAnyDepth))) {
    for (std::int64_t x = 0; x < axes_; ++x) {
      for (std::int64_t t = 0; t < coordinates.rows(); ++t) positions_.push_back(coordinates(t, x));
    }
    tokens_ = coordinates.rows();
  }

  bool biases_scores() const override { return true; }
  bool adds_to_output() const override { return tables_.value != nullptr; }

  void score_bias(const AttentionTile& tile, ConstMat q, Mat scores) const override {
    kernels::pack_transposed({tables_.key, rows_, width_}, packed_.data());
    const Mat by_offset = offsets(tile.rows);
    kernels::gemm(q, kernels::Packed(packed_.data(), width_), by_offset, kernels::Store::kOverwrite);
    for_pairs(tile, [&](std::int64_t r, std::int64_t c, std::int64_t o) { scores(r, c) += by_offset(r, o); });
  }

  void score_bias_backward(const AttentionTile& tile, ConstMat q, ConstMat dscores, Mat dq) override {
    const Mat by_offset = sum_by_offset(tile, dscores);
    kernels::pack({tables_.key, rows_, width_}, packed_.data());
    kernels::gemm(by_offset, kernels::Packed(packed_.data(), rows_), dq, kernels::Store::kAdd);
    if (tables_.dkey != nullptr) add_outer(by_offset, q, tables_.dkey);
  }

  void add_to_output(const AttentionTile& tile, ConstMat pattern, Mat out) const override {
    const Mat by_offset = sum_by_offset(tile, pattern);
    kernels::pack({tables_.value, rows_, width_}, packed_.data());
    kernels::gemm(by_offset, kernels::Packed(packed_.data(), rows_), out, kernels::Store::kAdd);
  }

  void add_to_output_backward(const AttentionTile& tile, ConstMat pattern, ConstMat dout, Mat dpattern) override {
    if (tables_.dvalue != nullptr) add_outer(sum_by_offset(tile, pattern), dout, tables_.dvalue);
    kernels::pack_transposed({tables_.value, rows_, width_}, packed_.data());
    const Mat by_offset = offsets(tile.rows);
    kernels::gemm(dout, kernels::Packed(packed_.data(), width_), by_offset, kernels::Store::kOverwrite);
    for_pairs(tile, [&](std::int64_t r, std::int64_t c, std::int64_t o) { dpattern(r, c) += by_offset(r, o); });
  }

 private:
  Mat offsets(std::int64_t rows) const {
    if (static_cast<std::int64_t>(by_offset_.size()) < rows * rows_)
      by_offset_ = AlignedBuffer<float>(static_cast<std::size_t>(rows * rows_));
    return {by_offset_.data(), rows, rows_};
  }

  // Calls body(row, column, table row) for every pair of the tile and every axis.
  template <class Body>
  void for_pairs(const AttentionTile& tile, Body&& body) const {
    const auto limit = static_cast<double>(radius_);
    for (std::int64_t x = 0; x < axes_; ++x) {
      const double* p = positions_.data() + x * tokens_;
      const std::int64_t first = x * (2 * radius_ + 1) + radius_;
      for (std::int64_t r = 0; r < tile.rows; ++r) {
        const double at = p[tile.query_pos[r]];
        for (std::int64_t c = 0; c < tile.cols; ++c) {
          const double offset = std::clamp(std::nearbyint(p[tile.col0 + c] - at), -limit, limit);
          body(r, c, first + static_cast<std::int64_t>(offset));
        }
      }
    }
  }

  Mat sum_by_offset(const AttentionTile& tile, ConstMat values) const {
    const Mat sums = offsets(tile.rows);
    std::fill_n(sums.data, tile.rows * rows_, 0.0f);
    for_pairs(tile, [&](std::int64_t r, std::int64_t c, std::int64_t o) { sums(r, o) += values(r, c); });
    return sums;
  }

  // table (rows_, width) += sums^T * vectors.
  void add_outer(ConstMat sums, ConstMat vectors, float* table) const {
    kernels::gemm_at(sums, vectors, Mat(table, rows_, width_), kernels::Store::kAdd, scratch_.data());
  }

  std::int64_t axes_;
  std::int64_t radius_;
  std::int64_t width_;
  std::int64_t rows_;
  std::int64_t tokens_ = 0;
  RelativeTables tables_;
  std::vector<double> positions_;  // (X, T)
  mutable AlignedBuffer<float> by_offset_;
  mutable AlignedBuffer<float> packed_;
  mutable AlignedBuffer<float> scratch_;
};

}  // namespace

std::int64_t largest_offset(const MatrixD& coordinates) {
  double largest = 0;
  for (std::int64_t x = 0; x < coordinates.cols(); ++x) {
    double low = coordinates(0, x);
    double high = low;
    for (std::int64_t t = 1; t < coordinates.rows(); ++t) {
      low = std::min(low, coordinates(t, x));
      high = std::max(high, coordinates(t, x));
    }
    largest = std::max(largest, std::nearbyint(high - low));
  }
  return static_cast<std::int64_t>(largest);
}

RelativeEncoding::RelativeEncoding(const PeConfig& config, const PeContext& context)
    : config_(config),
      coordinates_(context.coordinates),
      head_width_(context.head_width()),
      radius_(config.max_distance > 0 ? config.max_distance : largest_offset(context.coordinates)) {}

std::vector<PeTensor> RelativeEncoding::tensors() const {
  std::vector<PeTensor> out = {{"key_table", {rows(), head_width_}, config_.is_trained()}};
  if (config_.value_term) out.push_back({"value_table", {rows(), head_width_}, config_.is_trained()});
  return out;
}

void RelativeEncoding::initialize(Rng& rng, std::span<float* const> values) const {
  for (float* table : values) {
    for (std::int64_t i = 0; i < rows() * head_width_; ++i) table[i] = static_cast<float>(config_.sigma * rng.normal());
  }
}

std::unique_ptr<kernels::AttentionTerms> RelativeEncoding::terms(PeParams params, PeGradients gradients) const {
  RelativeTables tables;
  tables.key = params[0];
  if (config_.value_term) tables.value = params[1];
  if (!gradients.empty() && config_.is_trained()) {
    tables.dkey = gradients[0];
    if (config_.value_term) tables.dvalue = gradients[1];
  }
  return std::make_unique<RelativeTerms>(coordinates_, radius_, head_width_, tables);
}

}  // namespace locus
