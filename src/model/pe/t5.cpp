#include "model/pe/t5.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "model/pe/offsets.h"

namespace locus {
namespace {

constexpr std::int64_t kDefaultMaxDistance = 128;

class T5Terms : public kernels::AttentionTerms {
 public:
  T5Terms(const MatrixD& coordinates, const PeConfig& config, std::int64_t heads, const float* table, float* dtable)
      : heads_(heads),
        buckets_(config.buckets),
        reach_(largest_offset(coordinates)),
        table_(table),
        dtable_(dtable),
        by_offset_(static_cast<std::size_t>(2 * reach_ + 1)) {
    for (std::int64_t x = 0; x < coordinates.cols(); ++x) axes_.emplace_back(coordinates, x, reach_);
    const std::int64_t limit = config.max_distance > 0 ? config.max_distance : kDefaultMaxDistance;
    for (std::int64_t o = -reach_; o <= reach_; ++o) bucket_of_.push_back(t5_bucket(o, buckets_, limit));
  }

  bool biases_scores() const override { return true; }

  void score_bias(const kernels::AttentionTile& tile, ConstMat, Mat scores) const override {
    for (std::size_t x = 0; x < axes_.size(); ++x) {
      const OffsetRange range = axes_[x].range(tile);
      for (std::int64_t o = range.low; o <= range.high; ++o) *at(o) = table_[entry(x, o, tile.head)];
      for (std::int64_t r = 0; r < tile.rows; ++r) axes_[x].add(tile, r, at(0), scores.row(r));
    }
  }

  void score_bias_backward(const kernels::AttentionTile& tile, ConstMat, ConstMat dscores, Mat) override {
    if (dtable_ == nullptr) return;
    for (std::size_t x = 0; x < axes_.size(); ++x) {
      const OffsetRange range = axes_[x].range(tile);
      std::fill(at(range.low), at(range.high) + 1, 0.0f);
      for (std::int64_t r = 0; r < tile.rows; ++r) axes_[x].sum(tile, r, dscores.row(r), at(0));
      for (std::int64_t o = range.low; o <= range.high; ++o) dtable_[entry(x, o, tile.head)] += *at(o);
    }
  }

 private:
  float* at(std::int64_t offset) const { return by_offset_.data() + reach_ + offset; }
  std::int64_t entry(std::size_t axis, std::int64_t offset, std::int64_t head) const {
    const std::int64_t bucket = bucket_of_[static_cast<std::size_t>(offset + reach_)];
    return (static_cast<std::int64_t>(axis) * buckets_ + bucket) * heads_ + head;
  }

  std::int64_t heads_;
  std::int64_t buckets_;
  std::int64_t reach_;
  const float* table_;
  float* dtable_;
  std::vector<AxisOffsets> axes_;
  std::vector<std::int64_t> bucket_of_;
  mutable std::vector<float> by_offset_;  // of the tile at hand
};

}  // namespace

std::int64_t t5_bucket(std::int64_t offset, std::int64_t buckets, std::int64_t max_distance) {
  const std::int64_t half = buckets / 2;
  const std::int64_t exact = half / 2;
  const std::int64_t side = offset > 0 ? half : 0;
  const std::int64_t n = std::abs(offset);
  if (n < exact) return side + n;
  const double position = std::log(static_cast<double>(n) / static_cast<double>(exact)) /
                          std::log(static_cast<double>(max_distance) / static_cast<double>(exact)) *
                          static_cast<double>(half - exact);
  return side + std::min(half - 1, exact + static_cast<std::int64_t>(position));
}

T5Encoding::T5Encoding(const PeConfig& config, const PeContext& context)
    : config_(config), coordinates_(context.coordinates), heads_(context.heads) {
  const std::int64_t limit = config.max_distance > 0 ? config.max_distance : kDefaultMaxDistance;
  if (limit <= config.buckets / 4) {
    throw ConfigError({.what = "pe.max_distance is too short for pe.buckets",
                       .where = "pe.kind = t5",
                       .got = fmt::format("distance {}, buckets {}", limit, config.buckets),
                       .expected = fmt::format("a distance above {}, a quarter of the buckets", config.buckets / 4),
                       .hint = "raise pe.max_distance or lower pe.buckets"});
  }
}

std::vector<PeTensor> T5Encoding::tensors() const {
  return {{"bias_table", {coordinates_.cols() * config_.buckets, heads_}, config_.is_trained()}};
}

void T5Encoding::initialize(Rng& rng, std::span<float* const> values) const {
  const std::int64_t n = coordinates_.cols() * config_.buckets * heads_;
  for (std::int64_t i = 0; i < n; ++i) values[0][i] = static_cast<float>(config_.sigma * rng.normal());
}

std::unique_ptr<kernels::AttentionTerms> T5Encoding::terms(PeParams params, PeGradients gradients) const {
  float* dtable = !gradients.empty() && config_.is_trained() ? gradients[0] : nullptr;
  return std::make_unique<T5Terms>(coordinates_, config_, heads_, params[0], dtable);
}

}  // namespace locus
