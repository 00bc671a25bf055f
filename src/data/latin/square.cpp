#include "data/latin/square.h"

#include <array>
#include <numeric>
#include <span>

#include "core/error.h"
#include "data/latin/puzzle.h"

namespace locus {

LatinSampler::LatinSampler(int n, Rng& rng)
    : n_(n), rng_(rng), cube_(static_cast<std::size_t>(n * n * n)), square_(static_cast<std::size_t>(n * n)) {
  LOCUS_CHECK(n >= kMinLatinSize && n <= kMaxLatinSize, "a side of 3 to 9");
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < n; ++c) at(r, c, (r + c) % n) = 1;
  }
  advance(10 * visits_between_draws(n));
}

std::int8_t& LatinSampler::at(int row, int column, int symbol) {
  return cube_[static_cast<std::size_t>((row * n_ + column) * n_ + symbol)];
}

// One of the +1 places along `axis` through the other two coordinates a, b (in axis order). There are two of them
// in a line that holds the -1, else one.
int LatinSampler::line_pick(int axis, int a, int b) {
  std::array<int, 2> found{};
  int count = 0;
  for (int k = 0; k < n_ && count < 2; ++k) {
    const int value = axis == 0 ? at(k, a, b) : axis == 1 ? at(a, k, b) : at(a, b, k);
    if (value == 1) found[static_cast<std::size_t>(count++)] = k;
  }
  return count == 2 ? found[rng_.below(2)] : found[0];
}

void LatinSampler::move() {
  int r = improper_[0], c = improper_[1], s = improper_[2];
  if (proper_) {
    do {
      r = static_cast<int>(rng_.below(static_cast<std::uint32_t>(n_)));
      c = static_cast<int>(rng_.below(static_cast<std::uint32_t>(n_)));
      s = static_cast<int>(rng_.below(static_cast<std::uint32_t>(n_)));
    } while (at(r, c, s) != 0);
  }
  const int r2 = line_pick(0, c, s), c2 = line_pick(1, r, s), s2 = line_pick(2, r, c);
  ++at(r, c, s);
  ++at(r, c2, s2);
  ++at(r2, c, s2);
  ++at(r2, c2, s);
  --at(r2, c, s);
  --at(r, c2, s);
  --at(r, c, s2);
  --at(r2, c2, s2);
  proper_ = at(r2, c2, s2) >= 0;
  improper_[0] = r2;
  improper_[1] = c2;
  improper_[2] = s2;
}

// Counts visits to proper cubes: after a fixed number of all moves, the next proper cube would not be uniform.
void LatinSampler::advance(int visits) {
  for (int i = 0; i < visits; ++i) {
    do {
      move();
    } while (!proper_);
  }
}

const LatinSquare& LatinSampler::draw() {
  advance(visits_between_draws(n_));
  for (int r = 0; r < n_; ++r) {
    for (int c = 0; c < n_; ++c)
      square_[static_cast<std::size_t>(r * n_ + c)] = static_cast<std::uint8_t>(line_pick(2, r, c) + 1);
  }
  return square_;
}

void shuffle_square(LatinSquare& square, int n, Rng& rng) {
  std::array<std::array<std::uint8_t, kMaxLatinSize>, 3> order{};
  for (auto& o : order) {
    std::iota(o.begin(), o.end(), std::uint8_t{0});
    rng.shuffle(std::span(o.data(), static_cast<std::size_t>(n)));
  }
  const LatinSquare old = square;
  const auto size = static_cast<std::size_t>(n);
  for (std::size_t r = 0; r < size; ++r) {
    for (std::size_t c = 0; c < size; ++c) {
      const auto symbol = static_cast<std::size_t>(old[order[0][r] * size + order[1][c]] - 1);
      square[r * size + c] = static_cast<std::uint8_t>(order[2][symbol] + 1);
    }
  }
}

}  // namespace locus
