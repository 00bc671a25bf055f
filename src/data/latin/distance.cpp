// Jaccard distances between puzzles as counts of shared bits.
#include <algorithm>
#include <array>
#include <bit>

#include "core/error.h"
#include "data/latin/generate.h"

namespace locus {
namespace {

constexpr double kRounding = 1e-9;  // so that 4 of 20 shared is exactly at 0.8
constexpr std::size_t kMaxWords = (kMaxLatinSize * kMaxLatinSize * (kMaxLatinSize + 1) + 63) / 64;

}  // namespace

DistanceIndex::DistanceIndex(int n) : n_(n), words_(static_cast<std::size_t>(n * n * (n + 1) + 63) / 64) {}

void DistanceIndex::encode(const Puzzle& puzzle, Word* words) const {
  LOCUS_CHECK(puzzle.n == n_, "puzzles of one size");
  for (std::size_t i = 0; i < puzzle.cells.size(); ++i) {
    if (puzzle.cells[i] == 0) continue;
    const std::size_t bit = i * static_cast<std::size_t>(n_ + 1) + puzzle.cells[i] - 1U;
    words[bit / 64] |= Word{1} << (bit % 64);
  }
}

int DistanceIndex::shared(const Word* a, const Word* b) const {
  int count = 0;
  for (std::size_t w = 0; w < words_; ++w) count += std::popcount(a[w] & b[w]);
  return count;
}

void DistanceIndex::add(const Puzzle& puzzle) {
  bits_.resize(bits_.size() + words_, 0);
  encode(puzzle, bits_.data() + bits_.size() - words_);
  filled_.push_back(puzzle.filled());
}

bool DistanceIndex::is_far(const Puzzle& puzzle, double min_distance) const {
  const double most = 1.0 - min_distance + kRounding;
  std::array<Word, kMaxWords> own{};
  encode(puzzle, own.data());
  const int filled = puzzle.filled();
  for (std::size_t i = 0; i < filled_.size(); ++i) {
    const int both = shared(own.data(), bits_.data() + i * words_);
    if (both > most * (filled + filled_[i] - both)) return false;
  }
  return true;
}

void DistanceIndex::mark_near(const Puzzle& puzzle, double min_distance, std::vector<char>& near) const {
  const double most = 1.0 - min_distance + kRounding;
  std::array<Word, kMaxWords> own{};
  encode(puzzle, own.data());
  const int filled = puzzle.filled();
  for (std::size_t i = 0; i < filled_.size(); ++i) {
    const int both = shared(own.data(), bits_.data() + i * words_);
    if (both > most * (filled + filled_[i] - both)) near[i] = 1;
  }
}

double DistanceIndex::nearest(const Puzzle& puzzle) const {
  std::array<Word, kMaxWords> own{};
  encode(puzzle, own.data());
  const int filled = puzzle.filled();
  double best = 1.0;
  for (std::size_t i = 0; i < filled_.size(); ++i) {
    const int both = shared(own.data(), bits_.data() + i * words_);
    best = std::min(best, 1.0 - static_cast<double>(both) / (filled + filled_[i] - both));
  }
  return best;
}

}  // namespace locus
