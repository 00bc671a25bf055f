#include "model/pe/rotary.h"

#include <fmt/core.h>

#include <cmath>

#include "core/error.h"

namespace locus {

RotaryEncoding::RotaryEncoding(const PeConfig& config, const PeContext& context) {
  const std::int64_t axes = context.coordinates.cols();
  const auto rotating =
      static_cast<std::int64_t>(std::floor(config.rotary_fraction * static_cast<double>(context.head_width()) + 1e-9));
  const std::int64_t per_axis = rotating / (2 * axes);
  pairs_ = per_axis * axes;
  if (pairs_ == 0 && config.rotary_fraction > 0) {
    throw ConfigError({.what = "no channel is left to rotate",
                       .where = "pe.kind = rotary",
                       .got = fmt::format("{} rotating channels a head for {} axes", rotating, axes),
                       .expected = fmt::format("at least {}", 2 * axes),
                       .hint = "widen the heads, raise pe.rotary_fraction, or use pe.positions=index"});
  }
  for (std::int64_t t = 0; t < context.tokens; ++t) {
    for (std::int64_t x = 0; x < axes; ++x) {
      for (std::int64_t i = 0; i < per_axis; ++i) {
        const double frequency = std::pow(config.base, -static_cast<double>(i) / static_cast<double>(per_axis));
        cosines_.push_back(static_cast<float>(std::cos(context.coordinates(t, x) * frequency)));
        sines_.push_back(static_cast<float>(std::sin(context.coordinates(t, x) * frequency)));
      }
    }
  }
}

void RotaryEncoding::rotate(Mat head, const std::int32_t* positions, bool inverse) const {
  const float direction = inverse ? -1.0f : 1.0f;
  for (std::int64_t r = 0; r < head.rows; ++r) {
    const float* cosine = cosines_.data() + positions[r] * pairs_;
    const float* sine = sines_.data() + positions[r] * pairs_;
    float* x = head.row(r);
    for (std::int64_t i = 0; i < pairs_; ++i) {
      const float a = x[2 * i];
      const float b = x[2 * i + 1];
      const float s = direction * sine[i];
      x[2 * i] = a * cosine[i] - b * s;
      x[2 * i + 1] = a * s + b * cosine[i];
    }
  }
}

}  // namespace locus
