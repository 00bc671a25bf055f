#include "model/pe/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "kernels/elementwise.h"

namespace locus {

std::vector<float> sinusoid_table(const PeConfig& config, const PeContext& context) {
  const std::int64_t axes = context.coordinates.cols();
  const std::int64_t channels = 2 * (context.width / (2 * axes));
  if (channels == 0) {
    throw ConfigError({.what = "model.width is too small for a sinusoid of every axis",
                       .where = "pe",
                       .got = fmt::format("width {}, {} axes", context.width, axes),
                       .expected = fmt::format("at least {}", 2 * axes),
                       .hint = "widen the model or use pe.positions=index"});
  }
  std::vector<float> table(static_cast<std::size_t>(context.tokens * context.width));
  for (std::int64_t t = 0; t < context.tokens; ++t) {
    for (std::int64_t x = 0; x < axes; ++x) {
      for (std::int64_t i = 0; i < channels / 2; ++i) {
        const double frequency = std::pow(config.base, -2.0 * static_cast<double>(i) / static_cast<double>(channels));
        const double angle = context.coordinates(t, x) * frequency;
        float* at = table.data() + t * context.width + x * channels + 2 * i;
        at[0] = static_cast<float>(std::sin(angle));
        at[1] = static_cast<float>(std::cos(angle));
      }
    }
  }
  return table;
}

TableEncoding::TableEncoding(const PeConfig& config, const PeContext& context)
    : config_(config), tokens_(context.tokens), width_(context.width) {
  if (config.kind == PeKind::kSinusoidal || config.init == PeInit::kSinusoid) {
    start_ = sinusoid_table(config, context);
  } else if (config.init == PeInit::kFile) {
    start_ = context.given;
    if (static_cast<std::int64_t>(start_.size()) != tokens_ * width_) {
      throw DataError({.what = "the table for pe.init = file has the wrong size",
                       .where = config.file,
                       .got = fmt::format("{} values", start_.size()),
                       .expected = fmt::format("{} tokens x {} channels", tokens_, width_)});
    }
  }
}

std::vector<PeTensor> TableEncoding::tensors() const { return {{"table", {tokens_, width_}, config_.is_trained()}}; }

void TableEncoding::initialize(Rng& rng, std::span<float* const> values) const {
  float* table = values[0];
  const std::int64_t n = tokens_ * width_;
  if (!start_.empty()) {
    std::copy(start_.begin(), start_.end(), table);
  } else if (config_.init == PeInit::kNormal) {
    for (std::int64_t i = 0; i < n; ++i) table[i] = static_cast<float>(config_.sigma * rng.normal());
  } else if (config_.init == PeInit::kUniform) {
    for (std::int64_t i = 0; i < n; ++i)
      table[i] = static_cast<float>(config_.sigma * std::sqrt(3.0) * (2 * rng.uniform() - 1));
  } else {
    std::fill_n(table, n, 0.0f);
  }
}

void TableEncoding::table(PeParams params, const PeStep&, Mat out) const {
  for (std::int64_t t = 0; t < tokens_; ++t) std::copy_n(params[0] + t * width_, width_, out.row(t));
}

void TableEncoding::table_backward(PeParams, const PeStep&, ConstMat dtable, PeGradients gradients) const {
  kernels::add_rows(dtable, Mat(gradients[0], tokens_, width_));
}

std::string TableEncoding::resize_obstacle() const {
  if (config_.kind == PeKind::kSinusoidal && !config_.is_trained()) return "";
  return "a learned table has one row per position it was trained with";
}

}  // namespace locus
