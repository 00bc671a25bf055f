#include "model/pe/alibi.h"

#include <cmath>

namespace locus {
namespace {

class AlibiTerms : public kernels::AttentionTerms {
 public:
  AlibiTerms(const MatrixD& coordinates, const float* slopes, float* dslopes)
      : coordinates_(coordinates),
        slopes_(slopes),
        dslopes_(dslopes),
        distances_(static_cast<std::size_t>(coordinates.rows())) {}

  bool biases_scores() const override { return true; }

  void score_bias(const kernels::AttentionTile& tile, ConstMat, Mat scores) const override {
    const float slope = slopes_[tile.head];
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      distances_from(tile.query_pos[r], tile);
      float* s = scores.row(r);
      for (std::int64_t c = 0; c < tile.cols; ++c) s[c] -= slope * distances_[static_cast<std::size_t>(c)];
    }
  }

  void score_bias_backward(const kernels::AttentionTile& tile, ConstMat, ConstMat dscores, Mat) override {
    if (dslopes_ == nullptr) return;
    // One number from all pairs, whose terms nearly cancel: summed in double.
    double total = 0;
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      distances_from(tile.query_pos[r], tile);
      const float* ds = dscores.row(r);
      for (std::int64_t c = 0; c < tile.cols; ++c)
        total += static_cast<double>(ds[c]) * static_cast<double>(distances_[static_cast<std::size_t>(c)]);
    }
    dslopes_[tile.head] -= static_cast<float>(total);
  }

 private:
  void distances_from(std::int32_t query, const kernels::AttentionTile& tile) const {
    const std::int64_t axes = coordinates_.cols();
    for (std::int64_t c = 0; c < tile.cols; ++c) {
      double total = 0;
      for (std::int64_t x = 0; x < axes; ++x) {
        const double d = coordinates_(query, x) - coordinates_(tile.col0 + c, x);
        total += d * d;
      }
      distances_[static_cast<std::size_t>(c)] = static_cast<float>(std::sqrt(total));
    }
  }

  const MatrixD& coordinates_;
  const float* slopes_;
  float* dslopes_;
  mutable std::vector<float> distances_;
};

}  // namespace

AlibiEncoding::AlibiEncoding(const PeConfig& config, const PeContext& context)
    : config_(config), coordinates_(context.coordinates), heads_(context.heads) {}

std::vector<PeTensor> AlibiEncoding::tensors() const { return {{"slopes", {heads_}, config_.is_trained()}}; }

void AlibiEncoding::initialize(Rng&, std::span<float* const> values) const {
  for (std::int64_t h = 0; h < heads_; ++h) {
    values[0][h] = static_cast<float>(std::pow(2.0, -8.0 * static_cast<double>(h + 1) / static_cast<double>(heads_)));
  }
}

std::unique_ptr<kernels::AttentionTerms> AlibiEncoding::terms(PeParams params, PeGradients gradients) const {
  float* dslopes = !gradients.empty() && config_.is_trained() ? gradients[0] : nullptr;
  return std::make_unique<AlibiTerms>(coordinates_, params[0], dslopes);
}

}  // namespace locus
