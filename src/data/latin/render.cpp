#include "data/latin/render.h"

#include <fmt/core.h>

#include <algorithm>

#include "data/latin/solver.h"

namespace locus {
namespace {

constexpr const char* kTargetColour = "\x1b[1;33m";
constexpr const char* kMarkColour = "\x1b[1;32m";
constexpr const char* kDimColour = "\x1b[2m";
constexpr const char* kPlain = "\x1b[0m";

std::string rule(int n, const char* left, const char* middle, const char* right) {
  std::string line = left;
  for (int c = 0; c < n; ++c) line += std::string(c == 0 ? "" : middle) + "───";
  return line + right + "\n";
}

// Three columns wide.
std::string cell_text(const Puzzle& p, int cell, bool marked, const RenderOptions& options) {
  const int value = p.cells[static_cast<std::size_t>(cell)];
  const bool target = cell == p.target;
  std::string symbol = value == 0 ? "·" : std::to_string(value);
  if (target) symbol = options.show_answer && p.answer != 0 ? std::to_string(p.answer) : "?";
  if (!options.colour) return marked ? "[" + symbol + "]" : " " + symbol + " ";
  const char* colour = target ? kTargetColour : marked ? kMarkColour : value == 0 ? kDimColour : "";
  return *colour == 0 ? " " + symbol + " " : fmt::format("{} {} {}", colour, symbol, kPlain);
}

}  // namespace

std::string render_grid(const Puzzle& p, const std::vector<int>& marked, const RenderOptions& options) {
  std::string text = rule(p.n, "┌", "┬", "┐");
  for (int r = 0; r < p.n; ++r) {
    if (r > 0) text += rule(p.n, "├", "┼", "┤");
    for (int c = 0; c < p.n; ++c) {
      const int cell = r * p.n + c;
      text += "│" + cell_text(p, cell, std::find(marked.begin(), marked.end(), cell) != marked.end(), options);
    }
    text += "│\n";
  }
  return text + rule(p.n, "└", "┴", "┘");
}

std::string render_explained(const Puzzle& p, const RenderOptions& options) {
  const Solution s = solve(p);
  Puzzle shown = p;
  shown.answer = s.answer;
  std::string text = render_grid(shown, s.cells_used, options);
  text += s.answer == 0 ? fmt::format("{}, no answer\n", difficulty_name(s.difficulty))
                        : fmt::format("{}, answer {}\n", difficulty_name(s.difficulty), s.answer);
  return text + s.words + "\n";
}

}  // namespace locus
