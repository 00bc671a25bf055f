// Exact search for full Latin squares that extend a partial one. Internal to data/latin.
#pragma once

#include <array>
#include <cstdint>

#include "data/latin/puzzle.h"

namespace locus::latin {

using Mask = std::uint32_t;  // bit s-1 stands for symbol s

class Completer {
 public:
  // The puzzle's givens; the target counts as blank. ok() is false when two givens clash.
  explicit Completer(const Puzzle& puzzle);
  bool ok() const { return ok_; }
  // Symbols not yet seen in the row or column of a blank cell.
  Mask candidates(int cell) const { return all_ & ~rows_[row(cell)] & ~columns_[column(cell)]; }
  bool blank(int cell) const { return !filled_[static_cast<std::size_t>(cell)]; }
  void place(int cell, int symbol);
  void remove(int cell, int symbol);
  // Counts full grids up to `limit`; leaves the state unchanged.
  std::uint64_t count(std::uint64_t limit);

 private:
  struct Choice {
    int options = 0;      // how many ways; 0 is a dead end
    bool by_cell = true;  // a cell and its symbols, or a symbol and its cells in one line
    int cell = -1;
    Mask symbols = 0;
    std::array<int, kMaxLatinSize> cells{};
    int symbol = 0;
  };
  std::size_t row(int cell) const { return static_cast<std::size_t>(cell / n_); }
  std::size_t column(int cell) const { return static_cast<std::size_t>(cell % n_); }
  Choice narrowest() const;
  void narrow_by_line(int line, bool is_row, Choice& best) const;

  int n_ = 0;
  bool ok_ = true;
  int blanks_ = 0;
  Mask all_ = 0;
  std::array<Mask, kMaxLatinSize> rows_{};
  std::array<Mask, kMaxLatinSize> columns_{};
  std::array<bool, kMaxLatinSize * kMaxLatinSize> filled_{};
};

}  // namespace locus::latin
