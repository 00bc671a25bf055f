#include "data/latin/solver.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "core/error.h"
#include "data/latin/search.h"

namespace locus {
namespace {

using latin::Completer;
using latin::Mask;

int value_at(const Puzzle& p, int cell) { return p.cells[static_cast<std::size_t>(cell)]; }

bool is_given(const Puzzle& p, int cell) {
  const int v = value_at(p, cell);
  return v >= 1 && v <= p.n;
}

// Cell k of the target's row (is_row) or column.
int line_cell(const Puzzle& p, bool is_row, int k) {
  return is_row ? p.target_row() * p.n + k : k * p.n + p.target_column();
}

Mask line_symbols(const Puzzle& p, bool is_row) {
  Mask seen = 0;
  for (int k = 0; k < p.n; ++k) {
    const int cell = line_cell(p, is_row, k);
    if (is_given(p, cell)) seen |= 1U << (value_at(p, cell) - 1);
  }
  return seen;
}

// The cell that holds `symbol` in the line which crosses the target's row (column) at `cell`, or -1.
int blocker(const Puzzle& p, bool is_row, int cell, int symbol) {
  for (int k = 0; k < p.n; ++k) {
    const int other = is_row ? k * p.n + cell % p.n : cell / p.n * p.n + k;
    if (value_at(p, other) == symbol) return other;
  }
  return -1;
}

// True if every other cell of the line is filled with another symbol or blocked for this one.
bool hidden_single(const Puzzle& p, bool is_row, int symbol) {
  for (int k = 0; k < p.n; ++k) {
    const int cell = line_cell(p, is_row, k);
    if (cell == p.target || is_given(p, cell)) continue;
    if (blocker(p, is_row, cell, symbol) < 0) return false;
  }
  return true;
}

int missing_symbol(Mask seen, int n) { return std::countr_zero(~seen & ((1U << n) - 1)) + 1; }

std::string listed(const std::vector<int>& values, const char* last = "and") {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += i + 1 == values.size() ? fmt::format(" {} ", last) : std::string(", ");
    text += std::to_string(values[i]);
  }
  return text;
}

std::vector<int> symbols_of(Mask mask) {
  std::vector<int> out;
  for (; mask != 0; mask &= mask - 1) out.push_back(std::countr_zero(mask) + 1);
  return out;
}

std::string place_name(const Puzzle& p, int cell) {
  return fmt::format("row {}, column {}", cell / p.n + 1, cell % p.n + 1);
}

std::string line_name(const Puzzle& p, bool is_row) {
  return is_row ? fmt::format("row {}", p.target_row() + 1) : fmt::format("column {}", p.target_column() + 1);
}

std::string capital(std::string text) {
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

void explain_binary(const Puzzle& p, Solution& s) {
  const bool is_row = std::popcount(line_symbols(p, true)) == p.n - 1;
  for (int k = 0; k < p.n; ++k) {
    if (const int cell = line_cell(p, is_row, k); cell != p.target) s.cells_used.push_back(cell);
  }
  s.words = fmt::format("{} holds {}, so only {} is left.", capital(line_name(p, is_row)),
                        listed(symbols_of(line_symbols(p, is_row))), s.answer);
}

// The line that says more is used whole, the other one for the symbols still missing.
void explain_ternary(const Puzzle& p, Solution& s) {
  const bool first_is_row = std::popcount(line_symbols(p, true)) >= std::popcount(line_symbols(p, false));
  const Mask first = line_symbols(p, first_is_row);
  const Mask second = line_symbols(p, !first_is_row) & ~first;
  for (int k = 0; k < p.n; ++k) {
    const int a = line_cell(p, first_is_row, k), b = line_cell(p, !first_is_row, k);
    if (is_given(p, a)) s.cells_used.push_back(a);
    if (is_given(p, b) && (second >> (value_at(p, b) - 1) & 1U)) s.cells_used.push_back(b);
  }
  s.words = fmt::format("{} holds {} and {} holds {}, so only {} is left.", capital(line_name(p, first_is_row)),
                        listed(symbols_of(first)), line_name(p, !first_is_row), listed(symbols_of(second)), s.answer);
}

void explain_quaternary(const Puzzle& p, Solution& s) {
  const bool is_row = hidden_single(p, true, s.answer);
  std::vector<int> crossing, filled;
  for (int k = 0; k < p.n; ++k) {
    const int cell = line_cell(p, is_row, k);
    if (cell == p.target) continue;
    if (is_given(p, cell)) {
      filled.push_back(k + 1);
      s.cells_used.push_back(cell);
    } else {
      crossing.push_back(k + 1);
      s.cells_used.push_back(blocker(p, is_row, cell, s.answer));
    }
  }
  const char* cross = is_row ? "column" : "row";
  s.words = fmt::format("{} needs a {}. {}{} {} already {} one", capital(line_name(p, is_row)), s.answer, capital(cross),
                        crossing.size() == 1 ? "" : "s", listed(crossing), crossing.size() == 1 ? "holds" : "hold");
  if (!filled.empty()) {
    s.words += fmt::format(" and the cell{} in {}{} {} {} filled", filled.size() == 1 ? "" : "s", cross,
                           filled.size() == 1 ? "" : "s", listed(filled), filled.size() == 1 ? "is" : "are");
  }
  s.words += fmt::format(", so {} can only stand at the target.", s.answer);
}

// Drops givens one by one as long as the answer stays the only one.
void explain_beyond(const Puzzle& p, Solution& s) {
  Puzzle thinner = p;
  for (int cell = 0; cell < p.n * p.n; ++cell) {
    if (!is_given(p, cell)) continue;
    auto& slot = thinner.cells[static_cast<std::size_t>(cell)];
    slot = 0;
    if (std::popcount(possible_answers(thinner)) == 1) continue;
    slot = p.cells[static_cast<std::size_t>(cell)];
    s.cells_used.push_back(cell);
  }
  s.words =
      fmt::format("No single step finds it, but trying each symbol shows that only {} leads to a full grid.", s.answer);
}

void explain_contradiction(const Puzzle& p, Solution& s) {
  if (const auto clash = find_clash(p)) {
    s.cells_used = {clash->first, clash->second};
    s.words = fmt::format("{} {} holds {} twice.", clash->in_row ? "Row" : "Column",
                          (clash->in_row ? clash->first / p.n : clash->first % p.n) + 1, value_at(p, clash->first));
    return;
  }
  const Completer grid(p);
  for (int cell = 0; cell < p.n * p.n; ++cell) {
    if (grid.blank(cell) && grid.candidates(cell) == 0) {
      s.words = fmt::format("No symbol fits {}.", place_name(p, cell));
      return;
    }
  }
  s.words = "The grid cannot be filled: every try ends in a contradiction.";
}

}  // namespace

OneStep classify_one_step(const Puzzle& p) {
  const Mask row = line_symbols(p, true), column = line_symbols(p, false);
  for (const Mask seen : {row, column}) {
    if (std::popcount(seen) == p.n - 1) return {Difficulty::kBinary, missing_symbol(seen, p.n)};
  }
  if (std::popcount(row | column) == p.n - 1) return {Difficulty::kTernary, missing_symbol(row | column, p.n)};
  for (Mask rest = ((1U << p.n) - 1) & ~(row | column); rest != 0; rest &= rest - 1) {
    const int symbol = std::countr_zero(rest) + 1;
    if (hidden_single(p, true, symbol) || hidden_single(p, false, symbol)) return {Difficulty::kQuaternary, symbol};
  }
  return {};
}

std::uint32_t possible_answers(const Puzzle& puzzle) {
  Completer grid(puzzle);
  Mask possible = 0;
  if (!grid.ok()) return 0;
  for (Mask rest = grid.candidates(puzzle.target); rest != 0; rest &= rest - 1) {
    const int symbol = std::countr_zero(rest) + 1;
    grid.place(puzzle.target, symbol);
    if (grid.count(1) == 1) possible |= 1U << (symbol - 1);
    grid.remove(puzzle.target, symbol);
  }
  return possible;
}

std::uint64_t count_completions(const Puzzle& puzzle, std::uint64_t limit) { return Completer(puzzle).count(limit); }

Solution solve(const Puzzle& p) {
  LOCUS_CHECK(p.n >= kMinLatinSize && p.n <= kMaxLatinSize && p.target >= 0 && p.target < p.n * p.n &&
                  p.cells.size() == static_cast<std::size_t>(p.n * p.n),
              "a well-formed puzzle");
  const Mask possible = possible_answers(p);
  Solution s;
  s.possible = symbols_of(possible);
  if (possible == 0) {
    s.difficulty = Difficulty::kContradictory;
    explain_contradiction(p, s);
    return s;
  }
  if (std::popcount(possible) > 1) {
    s.difficulty = Difficulty::kAmbiguous;
    s.words = fmt::format("The target may be {}: the givens do not decide.", listed(s.possible, "or"));
    return s;
  }
  const OneStep step = classify_one_step(p);
  s.difficulty = step.kind;
  s.answer = s.possible.front();
  LOCUS_CHECK(step.kind == Difficulty::kBeyond || step.answer == s.answer, "a one-step answer is the only one");
  switch (step.kind) {
    case Difficulty::kBinary:
      explain_binary(p, s);
      break;
    case Difficulty::kTernary:
      explain_ternary(p, s);
      break;
    case Difficulty::kQuaternary:
      explain_quaternary(p, s);
      break;
    default:
      explain_beyond(p, s);
      break;
  }
  std::sort(s.cells_used.begin(), s.cells_used.end());
  return s;
}

}  // namespace locus
