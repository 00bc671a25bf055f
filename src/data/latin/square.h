// Uniformly random Latin squares by the Jacobson-Matthews chain: +-1 moves on the n x n x n incidence cube, through
// improper cubes (one cell of -1), whose stationary law over proper squares is uniform.
#pragma once

#include <cstdint>
#include <vector>

#include "core/rng.h"

namespace locus {

// n*n symbols 1..n, row-major.
using LatinSquare = std::vector<std::uint8_t>;

class LatinSampler {
 public:
  // Starts from the cyclic square and makes 10 * moves_between_draws() moves. `rng` must outlive the sampler.
  LatinSampler(int n, Rng& rng);

  // 2 * n^3 moves (more until the cube is proper again) since the last draw.
  const LatinSquare& draw();
  static int moves_between_draws(int n) { return 2 * n * n * n; }

 private:
  void move();
  void advance(int moves);
  std::int8_t& at(int row, int column, int symbol);
  int line_pick(int axis, int a, int b);

  int n_;
  Rng& rng_;
  std::vector<std::int8_t> cube_;  // [row][column][symbol]
  bool proper_ = true;
  int improper_[3] = {0, 0, 0};  // place of the -1
  LatinSquare square_;
};

// Renames rows, columns and symbols at random: keeps the uniform law and costs far less than a new draw.
void shuffle_square(LatinSquare& square, int n, Rng& rng);

}  // namespace locus
