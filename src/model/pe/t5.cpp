#include "model/pe/t5.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace locus {
namespace {

constexpr std::int64_t kDefaultMaxDistance = 128;

class T5Terms : public kernels::AttentionTerms {
 public:
  T5Terms(const MatrixD& coordinates, const PeConfig& config, std::int64_t heads, const float* table, float* dtable)
      : heads_(heads),
        buckets_(config.buckets),
        axes_(coordinates.cols()),
        tokens_(coordinates.rows()),
        table_(table),
        dtable_(dtable) {
    for (std::int64_t x = 0; x < axes_; ++x) {
      for (std::int64_t t = 0; t < tokens_; ++t) positions_.push_back(coordinates(t, x));
    }
    reach_ = largest_offset(coordinates);
    const std::int64_t limit = config.max_distance > 0 ? config.max_distance : kDefaultMaxDistance;
    for (std::int64_t o = -reach_; o <= reach_; ++o) bucket_of_.push_back(t5_bucket(o, buckets_, limit));
  }

  bool biases_scores() const override { return true; }

  void score_bias(const kernels::AttentionTile& tile, ConstMat, Mat scores) const override {
    for_pairs(tile, [&](std::int64_t r, std::int64_t c, std::int64_t entry) { scores(r, c) += table_[entry]; });
  }

  void score_bias_backward(const kernels::AttentionTile& tile, ConstMat, ConstMat dscores, Mat) override {
    if (dtable_ == nullptr) return;
    for_pairs(tile, [&](std::int64_t r, std::int64_t c, std::int64_t entry) { dtable_[entry] += dscores(r, c); });
  }

 private:
  template <class Body>
  void for_pairs(const kernels::AttentionTile& tile, Body&& body) const {
    for (std::int64_t x = 0; x < axes_; ++x) {
      const double* p = positions_.data() + x * tokens_;
      for (std::int64_t r = 0; r < tile.rows; ++r) {
        const double at = p[tile.query_pos[r]];
        for (std::int64_t c = 0; c < tile.cols; ++c) {
          const auto offset = static_cast<std::int64_t>(std::nearbyint(p[tile.col0 + c] - at));
          const std::int64_t bucket = bucket_of_[static_cast<std::size_t>(std::clamp(offset, -reach_, reach_) + reach_)];
          body(r, c, (x * buckets_ + bucket) * heads_ + tile.head);
        }
      }
    }
  }

  std::int64_t heads_;
  std::int64_t buckets_;
  std::int64_t axes_;
  std::int64_t tokens_;
  std::int64_t reach_ = 0;
  const float* table_;
  float* dtable_;
  std::vector<double> positions_;
  std::vector<std::int64_t> bucket_of_;
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
