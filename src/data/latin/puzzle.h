// A Latin-square puzzle: an n x n grid of symbols 1..n (0 blank) with one target cell whose symbol is asked for.
// Text form: n*n characters, row-major, '0' blank, '1'..'n' symbols; the target is the digit n+1, or '?' for n = 9.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace locus {

inline constexpr int kMinLatinSize = 3;
inline constexpr int kMaxLatinSize = 9;

// What it takes to find the target's symbol. The first three are one-step kinds; see data/latin/solver.h.
enum class Difficulty : std::uint8_t { kBinary, kTernary, kQuaternary, kBeyond, kAmbiguous, kContradictory };

inline constexpr std::array<Difficulty, 3> kOneStepKinds = {Difficulty::kBinary, Difficulty::kTernary,
                                                            Difficulty::kQuaternary};

std::string difficulty_name(Difficulty difficulty);                     // "Binary"
std::optional<Difficulty> difficulty_from_name(std::string_view name);  // any case
inline bool is_one_step(Difficulty d) { return d <= Difficulty::kQuaternary; }

struct Puzzle {
  int n = 0;
  std::vector<std::uint8_t> cells = {};  // n*n, row-major: 0 blank, 1..n symbols, n+1 at the target
  int target = -1;                       // index of the target cell
  int answer = 0;                        // symbol at the target, 0 if it is not determined
  Difficulty difficulty = Difficulty::kAmbiguous;

  int target_row() const { return target / n; }
  int target_column() const { return target % n; }
  int filled() const;  // filled cells, the target included
  bool operator==(const Puzzle&) const = default;
};

// Reads the text form; '?' is also taken for the target and '.' for a blank, and '/' or spaces may part the rows.
// Finds the answer and the difficulty. Throws DataError for a wrong length, symbol, or number of targets;
// a contradictory puzzle is no error here (its difficulty says so).
Puzzle parse_puzzle(std::string_view text);

std::string puzzle_text(const Puzzle& puzzle);
char cell_character(int value, int n);  // one cell of the text form

// The puzzle turned clockwise by quarter_turns * 90 degrees, its symbols moved on by `shift` (n wraps to 1).
// The authors' held-out items are rotated so, with shift = quarter_turns. Answer and difficulty follow.
Puzzle rotate_puzzle(const Puzzle& puzzle, int quarter_turns, int shift);

// Two equal symbols in one row or column, if there are any.
struct Clash {
  int first = 0;  // cell indices, first < second
  int second = 0;
  bool in_row = true;
};
std::optional<Clash> find_clash(const Puzzle& puzzle);

// Jaccard distance 1 - |A and B| / |A or B| over one-hot (cell, symbol) features; the target counts as a symbol.
double jaccard_distance(const Puzzle& a, const Puzzle& b);

}  // namespace locus
