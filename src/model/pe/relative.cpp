#include "model/pe/relative.h"

#include <algorithm>
#include <cmath>

#include "kernels/elementwise.h"
#include "kernels/gemm.h"
#include "model/pe/offsets.h"

namespace locus {
namespace {

using kernels::AttentionTile;

struct RelativeTables {
  const float* key = nullptr;
  const float* value = nullptr;
  float* dkey = nullptr;
  float* dvalue = nullptr;
};

// A table of vectors by axis and offset, and the forms that products need of it, made when first used.
class VectorTable {
 public:
  VectorTable(const float* values, float* gradient, std::int64_t rows, std::int64_t width)
      : values_(values), gradient_(gradient), rows_(rows), width_(width) {}
  bool given() const { return values_ != nullptr; }
  float* gradient() const { return gradient_; }

  // (width, rows) and (rows, width).
  kernels::Packed transposed() {
    if (transposed_.size() == 0) {
      transposed_ = AlignedBuffer<float>(static_cast<std::size_t>(kernels::packed_size(width_, rows_)));
      kernels::pack_transposed({values_, rows_, width_}, transposed_.data());
    }
    return {transposed_.data(), width_};
  }
  kernels::Packed plain() {
    if (plain_.size() == 0) {
      plain_ = AlignedBuffer<float>(static_cast<std::size_t>(kernels::packed_size(rows_, width_)));
      kernels::pack({values_, rows_, width_}, plain_.data());
    }
    return {plain_.data(), rows_};
  }

 private:
  const float* values_;
  float* gradient_;
  std::int64_t rows_;
  std::int64_t width_;
  AlignedBuffer<float> transposed_, plain_;
};

// A tile meets few of the offsets, so all products run over those alone: scores need q . key_table once for each, gradients
// the scores' gradient summed by offset.
class RelativeTerms : public kernels::AttentionTerms {
 public:
  RelativeTerms(const MatrixD& coordinates, std::int64_t radius, std::int64_t head_width, RelativeTables tables)
      : radius_(radius),
        width_(head_width),
        keys_(tables.key, tables.dkey, coordinates.cols() * (2 * radius + 1), head_width),
        values_(tables.value, tables.dvalue, coordinates.cols() * (2 * radius + 1), head_width),
        scratch_(static_cast<std::size_t>(kernels::gemm_at_scratch(kernels::kAnyDepth))) {
    for (std::int64_t x = 0; x < coordinates.cols(); ++x) axes_.emplace_back(coordinates, x, radius);
  }

  bool biases_scores() const override { return true; }
  bool adds_to_output() const override { return values_.given(); }

  void score_bias(const AttentionTile& tile, ConstMat q, Mat scores) const override { add_products(tile, q, keys_, scores); }

  void score_bias_backward(const AttentionTile& tile, ConstMat q, ConstMat dscores, Mat dq) override {
    for_axes(tile, [&](const AxisOffsets& axis, const Slice& s) {
      const Mat sums = sum_by_offset(tile, axis, s, dscores);
      kernels::gemm(sums, keys_.plain().rows_from(s.row), dq, kernels::Store::kAdd);
      add_outer(sums, q, s, keys_.gradient());
    });
  }

  void add_to_output(const AttentionTile& tile, ConstMat pattern, Mat out) const override {
    for_axes(tile, [&](const AxisOffsets& axis, const Slice& s) {
      const Mat sums = sum_by_offset(tile, axis, s, pattern);
      kernels::gemm(sums, values_.plain().rows_from(s.row), out, kernels::Store::kAdd);
    });
  }

  void add_to_output_backward(const AttentionTile& tile, ConstMat pattern, ConstMat dout, Mat dpattern) override {
    for_axes(tile, [&](const AxisOffsets& axis, const Slice& s) {
      if (values_.gradient() != nullptr) add_outer(sum_by_offset(tile, axis, s, pattern), dout, s, values_.gradient());
    });
    add_products(tile, dout, values_, dpattern);
  }

 private:
  // Rows of a table: those of the offsets that a tile meets along an axis.
  struct Slice {
    std::int64_t row, count;
    std::int64_t zero;  // where offset 0 stands, counted from `row`
  };

  template <class Body>
  void for_axes(const AttentionTile& tile, Body&& body) const {
    for (std::size_t x = 0; x < axes_.size(); ++x) {
      const OffsetRange range = axes_[x].range(tile);
      const std::int64_t first = static_cast<std::int64_t>(x) * (2 * radius_ + 1);
      body(axes_[x], Slice{first + radius_ + range.low, range.count(), -range.low});
    }
  }

  Mat by_offset(std::int64_t rows, std::int64_t count) const {
    if (static_cast<std::int64_t>(by_offset_.size()) < rows * count)
      by_offset_ = AlignedBuffer<float>(static_cast<std::size_t>(rows * count));
    return {by_offset_.data(), rows, count};
  }

  // scores(r, c) += vectors(r) . table(offset of the pair). Packed columns begin at whole panels.
  void add_products(const AttentionTile& tile, ConstMat vectors, VectorTable& table, Mat scores) const {
    for_axes(tile, [&](const AxisOffsets& axis, const Slice& s) {
      const std::int64_t before = s.row % kernels::panel_columns();
      const Mat products = by_offset(tile.rows, before + s.count);
      kernels::gemm(vectors, table.transposed().cols_from(s.row - before), products, kernels::Store::kOverwrite);
      for (std::int64_t r = 0; r < tile.rows; ++r) axis.add(tile, r, products.row(r) + before + s.zero, scores.row(r));
    });
  }

  Mat sum_by_offset(const AttentionTile& tile, const AxisOffsets& axis, const Slice& s, ConstMat values) const {
    const Mat sums = by_offset(tile.rows, s.count);
    std::fill_n(sums.data, tile.rows * s.count, 0.0f);
    for (std::int64_t r = 0; r < tile.rows; ++r) axis.sum(tile, r, values.row(r), sums.row(r) + s.zero);
    return sums;
  }

  // The table's rows += sums^T * vectors.
  void add_outer(ConstMat sums, ConstMat vectors, const Slice& s, float* table) const {
    if (table == nullptr) return;
    kernels::gemm_at(sums, vectors, Mat(table + s.row * width_, s.count, width_), kernels::Store::kAdd, scratch_.data());
  }

  std::int64_t radius_;
  std::int64_t width_;
  std::vector<AxisOffsets> axes_;
  mutable VectorTable keys_, values_;
  mutable AlignedBuffer<float> by_offset_;
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
