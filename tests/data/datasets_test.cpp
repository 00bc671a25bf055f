// What a data set says of its tokens.
#include "data/datasets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace locus {
namespace {

RunConfig small_squares() {
  RunConfig c;
  c.lst.per_difficulty = 20;
  c.lst.heldout_items = 2;
  return c;
}

// A rearranged puzzle is one of the task again: givens still break no rule and the same symbol is missing at the target.
TEST(LatinSymmetriesTest, a_rearranged_puzzle_keeps_its_answer) {
  const Dataset d = make_dataset(small_squares());
  const TokenInfo& info = d.tokens_info;
  ASSERT_EQ(info.symmetries.size(), 7u);  // 3 swaps of rows, 3 of columns, rows for columns
  const Examples& e = d.split("train");
  for (const auto& symmetry : info.symmetries) {
    EXPECT_EQ(std::set<std::int32_t>(symmetry.begin(), symmetry.end()).size(), 16u);
    for (std::int64_t i = 0; i < 16; ++i) {
      for (std::int64_t j = 0; j < 16; ++j) {
        EXPECT_EQ(info.graph(i, j),
                  info.graph(symmetry[static_cast<std::size_t>(i)], symmetry[static_cast<std::size_t>(j)]));
      }
    }
    for (std::int64_t k = 0; k < e.count; ++k) {
      std::vector<int> cells(16);
      for (std::size_t t = 0; t < 16; ++t)
        cells[static_cast<std::size_t>(symmetry[t])] = e.ids[static_cast<std::size_t>(k) * 16 + t];
      const auto target = symmetry[static_cast<std::size_t>(e.read_token[static_cast<std::size_t>(k)])];
      EXPECT_EQ(cells[static_cast<std::size_t>(target)], 4);
      cells[static_cast<std::size_t>(target)] = e.labels[static_cast<std::size_t>(k)];
      for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < i; ++j) {
          const bool same_line = i / 4 == j / 4 || i % 4 == j % 4;
          const int a = cells[static_cast<std::size_t>(i)], b = cells[static_cast<std::size_t>(j)];
          EXPECT_FALSE(same_line && a >= 0 && a == b) << "puzzle " << k;
        }
      }
    }
  }
}

TEST(LatinSymmetriesTest, cells_are_a_grid) {
  const Dataset d = make_dataset(small_squares());
  EXPECT_TRUE(d.tokens_info.coordinates_are_grid);
  EXPECT_TRUE(fills_grid(d.tokens_info.coordinates));
  EXPECT_EQ(grid_extents(d.tokens_info), (std::vector<std::int64_t>{4, 4}));
}

}  // namespace
}  // namespace locus
