#include "model/pe/alibi.h"

#include <cmath>

#include "kernels/elementwise.h"

namespace locus {
namespace {

constexpr std::int64_t kMostDistances = 1 << 18;  // 1 MB; beyond it distances are computed where they are needed

float distance(const MatrixD& coordinates, std::int64_t a, std::int64_t b) {
  double total = 0;
  for (std::int64_t x = 0; x < coordinates.cols(); ++x) {
    const double d = coordinates(a, x) - coordinates(b, x);
    total += d * d;
  }
  return static_cast<float>(std::sqrt(total));
}

// Along one axis of whole numbers the distance is the offset's size.
class LineTerms : public kernels::AttentionTerms {
 public:
  LineTerms(const AxisOffsets& axis, std::int64_t reach, const float* slopes, float* dslopes)
      : axis_(axis),
        reach_(reach),
        slopes_(slopes),
        dslopes_(dslopes),
        by_offset_(static_cast<std::size_t>(2 * reach + 1)) {}

  bool biases_scores() const override { return true; }

  void score_bias(const kernels::AttentionTile& tile, ConstMat, Mat scores) const override {
    const float slope = slopes_[tile.head];
    const OffsetRange range = axis_.range(tile);
    for (std::int64_t o = range.low; o <= range.high; ++o) *at(o) = -slope * static_cast<float>(std::abs(o));
    for (std::int64_t r = 0; r < tile.rows; ++r) axis_.add(tile, r, at(0), scores.row(r));
  }

  void score_bias_backward(const kernels::AttentionTile& tile, ConstMat, ConstMat dscores, Mat) override {
    if (dslopes_ == nullptr) return;
    const OffsetRange range = axis_.range(tile);
    std::fill(at(range.low), at(range.high) + 1, 0.0f);
    for (std::int64_t r = 0; r < tile.rows; ++r) axis_.sum(tile, r, dscores.row(r), at(0));
    // One number from all offsets, whose terms nearly cancel: summed in double.
    double total = 0;
    for (std::int64_t o = range.low; o <= range.high; ++o)
      total += static_cast<double>(*at(o)) * static_cast<double>(std::abs(o));
    dslopes_[tile.head] -= static_cast<float>(total);
  }

 private:
  float* at(std::int64_t offset) const { return by_offset_.data() + reach_ + offset; }

  const AxisOffsets& axis_;
  std::int64_t reach_;
  const float* slopes_;
  float* dslopes_;
  mutable std::vector<float> by_offset_;  // of the tile at hand
};

class AlibiTerms : public kernels::AttentionTerms {
 public:
  // table: every distance (T, T), or empty where that would be too large.
  AlibiTerms(const MatrixD& coordinates, const std::vector<float>& table, const float* slopes, float* dslopes)
      : coordinates_(coordinates),
        table_(table),
        slopes_(slopes),
        dslopes_(dslopes),
        distances_(static_cast<std::size_t>(coordinates.rows())) {}

  bool biases_scores() const override { return true; }

  void score_bias(const kernels::AttentionTile& tile, ConstMat, Mat scores) const override {
    const float slope = slopes_[tile.head];
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      kernels::axpy(-slope, distances_from(tile.query_pos[r], tile), scores.row(r), tile.cols);
    }
  }

  void score_bias_backward(const kernels::AttentionTile& tile, ConstMat, ConstMat dscores, Mat) override {
    if (dslopes_ == nullptr) return;
    // One number from all pairs, whose terms nearly cancel: summed in double.
    double total = 0;
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      const float* distances = distances_from(tile.query_pos[r], tile);
      const float* ds = dscores.row(r);
      for (std::int64_t c = 0; c < tile.cols; ++c) total += static_cast<double>(ds[c]) * static_cast<double>(distances[c]);
    }
    dslopes_[tile.head] -= static_cast<float>(total);
  }

 private:
  const float* distances_from(std::int32_t query, const kernels::AttentionTile& tile) const {
    if (!table_.empty()) return table_.data() + query * coordinates_.rows() + tile.col0;
    for (std::int64_t c = 0; c < tile.cols; ++c)
      distances_[static_cast<std::size_t>(c)] = distance(coordinates_, query, tile.col0 + c);
    return distances_.data();
  }

  const MatrixD& coordinates_;
  const std::vector<float>& table_;
  const float* slopes_;
  float* dslopes_;
  mutable std::vector<float> distances_;
};

}  // namespace

AlibiEncoding::AlibiEncoding(const PeConfig& config, const PeContext& context)
    : config_(config),
      coordinates_(context.coordinates),
      heads_(context.heads),
      reach_(largest_offset(context.coordinates)),
      line_(context.coordinates, 0, reach_) {
  const std::int64_t tokens = coordinates_.rows();
  if (on_line() || tokens * tokens > kMostDistances) return;
  for (std::int64_t a = 0; a < tokens; ++a) {
    for (std::int64_t b = 0; b < tokens; ++b) distances_.push_back(distance(coordinates_, a, b));
  }
}

std::vector<PeTensor> AlibiEncoding::tensors() const { return {{"slopes", {heads_}, config_.is_trained()}}; }

void AlibiEncoding::initialize(Rng&, std::span<float* const> values) const {
  for (std::int64_t h = 0; h < heads_; ++h) {
    values[0][h] = static_cast<float>(std::pow(2.0, -8.0 * static_cast<double>(h + 1) / static_cast<double>(heads_)));
  }
}

std::unique_ptr<kernels::AttentionTerms> AlibiEncoding::terms(PeParams params, PeGradients gradients) const {
  float* dslopes = !gradients.empty() && config_.is_trained() ? gradients[0] : nullptr;
  if (on_line()) return std::make_unique<LineTerms>(line_, reach_, params[0], dslopes);
  return std::make_unique<AlibiTerms>(coordinates_, distances_, params[0], dslopes);
}

}  // namespace locus
