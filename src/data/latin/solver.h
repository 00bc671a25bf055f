// Solves Latin-square puzzles the way a person would, and says how:
//   binary      the target's row or its column alone leaves one symbol
//   ternary     row and column together leave one
//   quaternary  a symbol fits no other blank of the target's row (or column): those blanks' crossing lines hold it
//   beyond      one answer only, by search; ambiguous: several answers; contradictory: none
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/latin/puzzle.h"

namespace locus {

struct Solution {
  Difficulty difficulty = Difficulty::kAmbiguous;
  int answer = 0;                    // 0 when ambiguous or contradictory
  std::vector<int> possible = {};    // symbols that some full grid puts at the target, rising
  std::vector<int> cells_used = {};  // indices of filled cells that force the answer, rising, target not among them
  std::string words = {};            // "Row 2 holds 1, 3 and 4, so only 2 is left."
};

// The whole answer. cells_used is irreducible: n-1 cells for a one-step kind (rows before columns); for `beyond` a set of
// givens of which none can be spared; for two equal symbols in a line those two cells; else empty.
Solution solve(const Puzzle& puzzle);

// The one-step kind and answer of a puzzle, without search: the quick path of the generator.
struct OneStep {
  Difficulty kind = Difficulty::kBeyond;  // kBeyond: none of the three kinds
  int answer = 0;
};
OneStep classify_one_step(const Puzzle& puzzle);

// Symbols (bit s-1 for symbol s) that stand at the target in at least one full grid; 0 for a contradictory puzzle.
std::uint32_t possible_answers(const Puzzle& puzzle);

// Full grids that extend the puzzle, counted up to `limit`.
std::uint64_t count_completions(const Puzzle& puzzle, std::uint64_t limit);

}  // namespace locus
