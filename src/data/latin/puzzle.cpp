#include "data/latin/puzzle.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "data/latin/solver.h"

namespace locus {
namespace {

constexpr std::array<const char*, 6> kDifficultyNames = {"Binary", "Ternary",   "Quaternary",
                                                         "Beyond", "Ambiguous", "Contradictory"};

int size_from_length(std::size_t length) {
  for (int n = kMinLatinSize; n <= kMaxLatinSize; ++n) {
    if (length == static_cast<std::size_t>(n * n)) return n;
  }
  return 0;
}

std::string strip_separators(std::string_view text) {
  std::string kept;
  for (char c : text) {
    if (c != '/' && c != ' ' && c != '\n' && c != '\r' && c != '\t') kept += c;
  }
  return kept;
}

// The value of one character for side n, or -1.
int cell_value(char c, int n) {
  if (c == '.') return 0;
  if (c == '?') return n + 1;
  if (c < '0' || c > '9') return -1;
  const int value = c - '0';
  return value <= n + 1 ? value : -1;
}

std::string symbols_expected(int n) {
  return n == kMaxLatinSize ? std::string("0 (blank), 1 to 9, and ? for the target")
                            : fmt::format("0 (blank), 1 to {}, and {} or ? for the target", n, n + 1);
}

}  // namespace

std::string difficulty_name(Difficulty difficulty) { return kDifficultyNames.at(static_cast<std::size_t>(difficulty)); }

std::optional<Difficulty> difficulty_from_name(std::string_view name) {
  const std::string lower = to_lower(trim(name));
  for (std::size_t i = 0; i < kDifficultyNames.size(); ++i) {
    if (to_lower(kDifficultyNames[i]) == lower) return static_cast<Difficulty>(i);
  }
  return std::nullopt;
}

int Puzzle::filled() const {
  return static_cast<int>(std::count_if(cells.begin(), cells.end(), [](std::uint8_t c) { return c != 0; }));
}

char cell_character(int value, int n) {
  if (value == n + 1 && n == kMaxLatinSize) return '?';
  return static_cast<char>('0' + value);
}

Puzzle parse_puzzle(std::string_view text) {
  const std::string stripped = strip_separators(text);
  Puzzle p;
  p.n = size_from_length(stripped.size());
  if (p.n == 0) {
    throw DataError({.what = "a puzzle has the wrong number of cells",
                     .got = fmt::format("{} characters in \"{}\"", stripped.size(), text.substr(0, 100)),
                     .expected = "n*n characters for n = 3 to 9: 9, 16, 25, 36, 49, 64 or 81"});
  }
  std::vector<int> targets;
  for (std::size_t i = 0; i < stripped.size(); ++i) {
    const int value = cell_value(stripped[i], p.n);
    if (value < 0) {
      const int at = static_cast<int>(i);
      throw DataError(
          {.what = fmt::format("a {0}x{0} puzzle holds an unknown symbol", p.n),
           .got = fmt::format("'{}' in row {}, column {} of \"{}\"", stripped[i], at / p.n + 1, at % p.n + 1, stripped),
           .expected = symbols_expected(p.n)});
    }
    if (value == p.n + 1) targets.push_back(static_cast<int>(i));
    p.cells.push_back(static_cast<std::uint8_t>(value));
  }
  if (targets.size() != 1) {
    throw DataError({.what = targets.empty() ? "a puzzle has no target" : "a puzzle has more than one target",
                     .got = fmt::format("{} targets in \"{}\"", targets.size(), stripped),
                     .expected = fmt::format("exactly one cell marked {}",
                                             p.n == kMaxLatinSize ? "?" : fmt::format("{} or ?", p.n + 1))});
  }
  p.target = targets.front();
  const Solution solution = solve(p);
  p.answer = solution.answer;
  p.difficulty = solution.difficulty;
  return p;
}

std::string puzzle_text(const Puzzle& puzzle) {
  std::string text;
  for (std::uint8_t c : puzzle.cells) text += cell_character(c, puzzle.n);
  return text;
}

Puzzle rotate_puzzle(const Puzzle& puzzle, int quarter_turns, int shift) {
  const int n = puzzle.n;
  LOCUS_CHECK(quarter_turns >= 0 && shift >= 0, "turns and shift are not negative");
  const auto moved = [&](int symbol) { return symbol >= 1 && symbol <= n ? (symbol - 1 + shift) % n + 1 : symbol; };
  Puzzle out = puzzle;
  for (int i = 0; i < n * n; ++i) {
    int row = i / n, column = i % n;
    for (int t = 0; t < quarter_turns % 4; ++t) {
      const int old_row = row;
      row = column;
      column = n - 1 - old_row;
    }
    const int to = row * n + column;
    out.cells[static_cast<std::size_t>(to)] = static_cast<std::uint8_t>(moved(puzzle.cells[static_cast<std::size_t>(i)]));
    if (i == puzzle.target) out.target = to;
  }
  out.answer = moved(puzzle.answer);
  return out;
}

std::optional<Clash> find_clash(const Puzzle& puzzle) {
  const int n = puzzle.n;
  for (int i = 0; i < n * n; ++i) {
    const int value = puzzle.cells[static_cast<std::size_t>(i)];
    if (value == 0 || value == n + 1) continue;
    for (int j = i + 1; j < n * n; ++j) {
      if (puzzle.cells[static_cast<std::size_t>(j)] != value) continue;
      if (i / n == j / n) return Clash{i, j, true};
      if (i % n == j % n) return Clash{i, j, false};
    }
  }
  return std::nullopt;
}

double jaccard_distance(const Puzzle& a, const Puzzle& b) {
  LOCUS_CHECK(a.n == b.n, "puzzles of one size");
  int both = 0, either = 0;
  for (std::size_t i = 0; i < a.cells.size(); ++i) {
    const int x = a.cells[i], y = b.cells[i];
    both += x != 0 && x == y;
    either += (x != 0) + (y != 0 && y != x);
  }
  return either == 0 ? 0.0 : 1.0 - static_cast<double>(both) / either;
}

}  // namespace locus
