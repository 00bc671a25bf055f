// Offsets of a tile against their definition, pair by pair: consecutive, whole and fractional coordinates, with and without
// a limit that cuts them off.
#include "model/pe/offsets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/rng.h"

namespace locus {
namespace {

enum class Places { kConsecutive, kGrid, kFractional, kDescending };

MatrixD places(Places kind, std::int64_t tokens) {
  MatrixD out(tokens, 2);
  for (std::int64_t t = 0; t < tokens; ++t) {
    const auto at = static_cast<double>(t);
    out(t, 0) = -1;
    if (kind == Places::kConsecutive) out(t, 1) = at - 3;
    if (kind == Places::kGrid) out(t, 1) = static_cast<double>(t % 7);
    if (kind == Places::kFractional) out(t, 1) = 0.75 * at;
    if (kind == Places::kDescending) out(t, 1) = -at;
  }
  return out;
}

TEST(OffsetTest, rows_are_added_to_and_summed_by_the_rounded_and_cut_offset) {
  constexpr std::int64_t kTokens = 43;
  Rng rng(1, "offsets");
  for (const Places kind : {Places::kConsecutive, Places::kGrid, Places::kFractional, Places::kDescending}) {
    for (const std::int64_t limit : {1, 5, 100}) {
      const MatrixD coordinates = places(kind, kTokens);
      const AxisOffsets axis(coordinates, 1, limit);
      EXPECT_EQ(axis.whole(), kind != Places::kFractional);
      const std::vector<std::int32_t> queries = {40, 0, 13, 14, 42};
      for (const std::int64_t first : {0, 16, 42}) {
        const kernels::AttentionTile tile{queries.data(), 5, first, std::min<std::int64_t>(20, kTokens - first), 0};
        const OffsetRange range = axis.range(tile);
        EXPECT_GE(range.low, -limit);
        EXPECT_LE(range.high, limit);
        const auto count = static_cast<std::size_t>(range.count());
        for (std::int64_t r = 0; r < tile.rows; ++r) {
          std::vector<float> by_offset(count), sums(count, 1.0f), want_sums(count, 1.0f);
          std::vector<float> values(static_cast<std::size_t>(tile.cols)), want(values.size());
          for (float& v : by_offset) v = static_cast<float>(rng.below(100));
          for (float& v : values) v = static_cast<float>(rng.below(100));
          for (std::int64_t c = 0; c < tile.cols; ++c) {
            const double offset = coordinates(first + c, 1) - coordinates(queries[static_cast<std::size_t>(r)], 1);
            const auto o = std::clamp(static_cast<std::int64_t>(std::nearbyint(offset)), -limit, limit);
            ASSERT_GE(o, range.low);
            ASSERT_LE(o, range.high);
            const auto place = static_cast<std::size_t>(o - range.low);
            want[static_cast<std::size_t>(c)] = values[static_cast<std::size_t>(c)] + by_offset[place];
            want_sums[place] += values[static_cast<std::size_t>(c)];
          }
          axis.sum(tile, r, values.data(), sums.data() - range.low);
          axis.add(tile, r, by_offset.data() - range.low, values.data());
          EXPECT_EQ(values, want) << static_cast<int>(kind) << " limit " << limit << " first " << first;
          EXPECT_EQ(sums, want_sums) << static_cast<int>(kind) << " limit " << limit << " first " << first;
        }
      }
    }
  }
}

}  // namespace
}  // namespace locus
