// Tokens on a grid: planted places are found, noise is not.
#include "stats/unscramble.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "core/rng.h"

namespace locus::stats {
namespace {

std::vector<std::int64_t> drawn_cells(std::int64_t tokens, const Grid& grid, std::uint64_t seed) {
  std::vector<std::int64_t> cells(static_cast<std::size_t>(grid.cells()));
  std::iota(cells.begin(), cells.end(), std::int64_t{0});
  Rng rng(seed, "cells");
  rng.shuffle(std::span(cells));
  cells.resize(static_cast<std::size_t>(tokens));
  return cells;
}

// exp(-distance / reach) with noise.
MatrixD planted(const std::vector<std::int64_t>& cells, const Grid& grid, double reach, double noise) {
  const auto n = static_cast<std::ptrdiff_t>(cells.size());
  MatrixD s(n, n);
  Rng rng(5, "noise");
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    for (std::ptrdiff_t j = 0; j <= i; ++j) {
      const std::int64_t a = cells[static_cast<std::size_t>(i)], b = cells[static_cast<std::size_t>(j)];
      const double d = std::hypot(static_cast<double>(a / grid.columns - b / grid.columns),
                                  static_cast<double>(a % grid.columns - b % grid.columns));
      s(i, j) = s(j, i) = std::exp(-d / reach) + noise * rng.normal();
    }
  }
  return s;
}

TEST(UnscrambleTest, a_planted_square_and_rectangle_are_found) {
  for (const Grid grid : {Grid{8, 8}, Grid{5, 9}, Grid{1, 12}}) {
    const auto truth = drawn_cells(grid.cells(), grid, 3);
    const GridPlacement found = unscramble(planted(truth, grid, 2, 0).view(), grid);
    const GridMeasures m = compare_grids(truth, found.cell, grid);
    EXPECT_EQ(m.neighbours, 1.0) << grid.rows;
    EXPECT_EQ(m.in_place, 1.0) << grid.rows;
    EXPECT_NEAR(m.distance_correlation, 1.0, 1e-12);
  }
}

TEST(UnscrambleTest, noise_and_gaps_cost_little) {
  const Grid grid{8, 8};
  const auto truth = drawn_cells(56, grid, 4);  // eight cells stay empty
  const GridPlacement found = unscramble(planted(truth, grid, 2, 0.03).view(), grid);
  const std::set<std::int64_t> different(found.cell.begin(), found.cell.end());
  EXPECT_EQ(different.size(), truth.size());
  EXPECT_GT(compare_grids(truth, found.cell, grid).neighbours, 0.8);
}

TEST(UnscrambleTest, nothing_is_found_where_nothing_is) {
  const Grid grid{8, 8};
  const auto truth = drawn_cells(64, grid, 6);
  MatrixD noise = planted(truth, grid, 1e-3, 1);
  const GridMeasures m = compare_grids(truth, unscramble(noise.view(), grid).cell, grid);
  // Two tokens drawn at random are side by side with probability 112 / 2016.
  EXPECT_LT(m.neighbours, 0.2);
  EXPECT_LT(std::abs(m.distance_correlation), 0.15);
}

TEST(UnscrambleTest, measures_do_not_change_under_the_symmetries_of_the_grid) {
  const Grid grid{4, 4};
  const auto truth = drawn_cells(16, grid, 8), found = drawn_cells(16, grid, 9);
  const GridMeasures expected = compare_grids(truth, found, grid);
  const auto symmetries = grid_symmetries(grid);
  EXPECT_EQ(std::set<std::vector<std::int64_t>>(symmetries.begin(), symmetries.end()).size(), 8u);
  EXPECT_EQ(grid_symmetries({2, 3}).size(), 4u);
  for (const auto& symmetry : symmetries) {
    std::vector<std::int64_t> turned;
    for (const std::int64_t c : found) turned.push_back(symmetry[static_cast<std::size_t>(c)]);
    const GridMeasures m = compare_grids(truth, turned, grid);
    EXPECT_EQ(m.neighbours, expected.neighbours);
    EXPECT_EQ(m.in_place, expected.in_place);
    EXPECT_NEAR(m.distance_correlation, expected.distance_correlation, 1e-12);
  }
  EXPECT_EQ(compare_grids(truth, truth, grid).in_place, 1.0);
}

TEST(UnscrambleTest, neighbours_among_the_most_similar_are_counted_for_each_token) {
  const Grid grid{3, 3};
  const auto truth = drawn_cells(9, grid, 2);
  for (const double share : neighbours_among_most_similar(planted(truth, grid, 1, 0).view(), truth, grid))
    EXPECT_EQ(share, 1.0);
}

}  // namespace
}  // namespace locus::stats
