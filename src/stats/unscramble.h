// Tokens on a grid from how alike they are, and nothing else: an embedding of the neighbour graph in the plane, the
// assignment to cells that moves its points least, and exchanges that bring like tokens together. The grid comes out up
// to its symmetries: turned, mirrored.
#pragma once

#include <cstdint>
#include <vector>

#include "core/matrix.h"

namespace locus::stats {

struct Grid {
  std::int64_t rows = 0, columns = 0;
  std::int64_t cells() const { return rows * columns; }
};

struct GridPlacement {
  std::vector<std::int64_t> cell;  // of each token: row * columns + column, all different
  MatrixD embedding;               // (n, 2) before cells were given out
};

// similarity (n, n) symmetric, larger is more alike; n <= cells. Deterministic; ties by index.
GridPlacement unscramble(ConstMatD similarity, const Grid& grid);

// How much of the true grid a placement shows. Cells of tokens, true and found; tokens may be fewer than cells.
struct GridMeasures {
  double neighbours = 0;                 // share of the pairs side by side in truth that are so in the placement
  double distance_correlation = 0;       // of all pairs: Pearson's r of true and found distances
  double in_place = 0;                   // share of tokens in their own cell, at the best of the grid's symmetries
  std::vector<double> token_neighbours;  // of each token; NaN where it has no true neighbour
};
GridMeasures compare_grids(const std::vector<std::int64_t>& truth, const std::vector<std::int64_t>& found, const Grid& grid);

// Share of true neighbours (side by side) among as many most similar tokens, without any placement; each token its share.
std::vector<double> neighbours_among_most_similar(ConstMatD similarity, const std::vector<std::int64_t>& truth,
                                                  const Grid& grid);

// The symmetries of the grid as cell -> cell: 8 of a square, 4 of another rectangle. The first is the identity.
std::vector<std::vector<std::int64_t>> grid_symmetries(const Grid& grid);

}  // namespace locus::stats
