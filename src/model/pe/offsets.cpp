#include "model/pe/offsets.h"

#include <algorithm>
#include <cmath>

#include "kernels/elementwise.h"

namespace locus {

using kernels::AttentionTile;

namespace {

constexpr double kMostWhole = 1 << 30;

}  // namespace

AxisOffsets::AxisOffsets(const MatrixD& coordinates, std::int64_t axis, std::int64_t limit) : limit_(limit) {
  for (std::int64_t t = 0; t < coordinates.rows(); ++t) {
    const double at = coordinates(t, axis);
    positions_.push_back(at);
    whole_ = whole_ && at == std::nearbyint(at) && std::abs(at) < kMostWhole;
  }
  if (!whole_) {
    consecutive_ = false;
    return;
  }
  for (const double at : positions_) whole_at_.push_back(static_cast<std::int32_t>(at));
  for (std::size_t t = 1; t < whole_at_.size(); ++t) consecutive_ = consecutive_ && whole_at_[t] == whole_at_[t - 1] + 1;
}

OffsetRange AxisOffsets::range(const AttentionTile& tile) const {
  const double* keys = positions_.data() + tile.col0;
  const auto [first_key, last_key] = std::minmax_element(keys, keys + tile.cols);
  double first_query = positions_[static_cast<std::size_t>(tile.query_pos[0])];
  double last_query = first_query;
  for (std::int64_t r = 1; r < tile.rows; ++r) {
    const double at = positions_[static_cast<std::size_t>(tile.query_pos[r])];
    first_query = std::min(first_query, at);
    last_query = std::max(last_query, at);
  }
  const auto cut = [&](double offset) {
    return static_cast<std::int64_t>(
        std::clamp(std::nearbyint(offset), -static_cast<double>(limit_), static_cast<double>(limit_)));
  };
  return {cut(*first_key - last_query), cut(*last_key - first_query)};
}

template <class Body>
void AxisOffsets::for_columns(const AttentionTile& tile, std::int64_t r, Body&& body) const {
  if (whole_) {
    const std::int64_t at = whole_at_[static_cast<std::size_t>(tile.query_pos[r])];
    const std::int32_t* keys = whole_at_.data() + tile.col0;
    for (std::int64_t c = 0; c < tile.cols; ++c) body(c, std::clamp(keys[c] - at, -limit_, limit_));
    return;
  }
  const double at = positions_[static_cast<std::size_t>(tile.query_pos[r])];
  const auto limit = static_cast<double>(limit_);
  const double* keys = positions_.data() + tile.col0;
  for (std::int64_t c = 0; c < tile.cols; ++c)
    body(c, static_cast<std::int64_t>(std::clamp(std::nearbyint(keys[c] - at), -limit, limit)));
}

AxisOffsets::Run AxisOffsets::run_of(const AttentionTile& tile, std::int64_t r) const {
  const std::int64_t offset = tile.col0 - tile.query_pos[r];  // of column 0
  const std::int64_t first = std::clamp<std::int64_t>(-limit_ - offset, 0, tile.cols);
  const std::int64_t end = std::clamp<std::int64_t>(limit_ - offset + 1, first, tile.cols);
  return {first, end, offset + first};
}

void AxisOffsets::add(const AttentionTile& tile, std::int64_t r, const float* by_offset, float* values) const {
  if (!consecutive_) {
    for_columns(tile, r, [&](std::int64_t c, std::int64_t o) { values[c] += by_offset[o]; });
    return;
  }
  const Run run = run_of(tile, r);
  for (std::int64_t c = 0; c < run.first; ++c) values[c] += by_offset[-limit_];
  if (run.end > run.first) kernels::axpy(1.0f, by_offset + run.offset, values + run.first, run.end - run.first);
  for (std::int64_t c = run.end; c < tile.cols; ++c) values[c] += by_offset[limit_];
}

void AxisOffsets::sum(const AttentionTile& tile, std::int64_t r, const float* values, float* by_offset) const {
  if (!consecutive_) {
    for_columns(tile, r, [&](std::int64_t c, std::int64_t o) { by_offset[o] += values[c]; });
    return;
  }
  const Run run = run_of(tile, r);
  for (std::int64_t c = 0; c < run.first; ++c) by_offset[-limit_] += values[c];
  if (run.end > run.first) kernels::axpy(1.0f, values + run.first, by_offset + run.offset, run.end - run.first);
  for (std::int64_t c = run.end; c < tile.cols; ++c) by_offset[limit_] += values[c];
}

}  // namespace locus
