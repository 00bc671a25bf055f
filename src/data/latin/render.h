// Puzzles as text for people: a grid of box-drawing characters, the solver's cells marked, its words below.
#pragma once

#include <string>
#include <vector>

#include "data/latin/puzzle.h"

namespace locus {

struct RenderOptions {
  bool colour = false;       // ANSI colours; without them marked cells stand in [ ]
  bool show_answer = false;  // the answer in place of the ?
};

// The grid, one line of text per line, each ended by a newline. `marked`: cell indices to point out.
std::string render_grid(const Puzzle& puzzle, const std::vector<int>& marked, const RenderOptions& options);

// Grid with the solver's cells marked, kind, answer and explanation.
std::string render_explained(const Puzzle& puzzle, const RenderOptions& options);

}  // namespace locus
