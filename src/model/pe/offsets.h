// Rounded offsets (key minus query) along one axis, as relative, T5 and ALiBi see a tile of attention: what is added to
// scores or summed from their gradients depends on the offset alone. Where tokens stand at consecutive whole numbers, a row
// of the tile meets consecutive offsets, and the work is done by vectors.
#pragma once

#include <cstdint>
#include <vector>

#include "core/matrix.h"
#include "kernels/attention.h"

namespace locus {

struct OffsetRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t count() const { return high - low + 1; }
};

class AxisOffsets {
 public:
  // Offsets are cut off at `limit`, both ways.
  AxisOffsets(const MatrixD& coordinates, std::int64_t axis, std::int64_t limit);

  bool whole() const { return whole_; }  // every coordinate is a whole number

  // All offsets of the tile lie within.
  OffsetRange range(const kernels::AttentionTile& tile) const;

  // For row r of the tile, with o its offset to the key of column c: values[c] += by_offset[o], or by_offset[o] +=
  // values[c]. `by_offset` points to the place of offset 0, whether that is within its array or not.
  void add(const kernels::AttentionTile& tile, std::int64_t r, const float* by_offset, float* values) const;
  void sum(const kernels::AttentionTile& tile, std::int64_t r, const float* values, float* by_offset) const;

 private:
  template <class Body>
  void for_columns(const kernels::AttentionTile& tile, std::int64_t r, Body&& body) const;
  // Columns [first, end) meet consecutive offsets from `offset` on; those before are cut off below, those behind above.
  struct Run {
    std::int64_t first, end, offset;
  };
  Run run_of(const kernels::AttentionTile& tile, std::int64_t r) const;

  std::int64_t limit_;
  std::vector<double> positions_;       // (T)
  std::vector<std::int32_t> whole_at_;  // the same as whole numbers, where they are
  bool whole_ = true;
  bool consecutive_ = true;
};

}  // namespace locus
