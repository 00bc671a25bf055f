#include "data/latin/search.h"

#include <bit>

namespace locus::latin {

Completer::Completer(const Puzzle& puzzle) : n_(puzzle.n), blanks_(puzzle.n * puzzle.n), all_((1U << puzzle.n) - 1) {
  for (int i = 0; i < n_ * n_; ++i) {
    const int value = puzzle.cells[static_cast<std::size_t>(i)];
    if (value == 0 || value == n_ + 1) continue;
    const Mask bit = 1U << (value - 1);
    if ((rows_[row(i)] | columns_[column(i)]) & bit) ok_ = false;
    place(i, value);
  }
}

void Completer::place(int cell, int symbol) {
  const Mask bit = 1U << (symbol - 1);
  rows_[row(cell)] |= bit;
  columns_[column(cell)] |= bit;
  filled_[static_cast<std::size_t>(cell)] = true;
  --blanks_;
}

void Completer::remove(int cell, int symbol) {
  const Mask bit = ~(1U << (symbol - 1));
  rows_[row(cell)] &= bit;
  columns_[column(cell)] &= bit;
  filled_[static_cast<std::size_t>(cell)] = false;
  ++blanks_;
}

void Completer::narrow_by_line(int line, bool is_row, Choice& best) const {
  const Mask missing = all_ & ~(is_row ? rows_ : columns_)[static_cast<std::size_t>(line)];
  for (Mask rest = missing; rest != 0; rest &= rest - 1) {
    Choice c{.options = 0, .by_cell = false, .symbol = std::countr_zero(rest) + 1};
    for (int k = 0; k < n_ && c.options < best.options; ++k) {
      const int cell = is_row ? line * n_ + k : k * n_ + line;
      if (blank(cell) && (candidates(cell) >> (c.symbol - 1) & 1U)) c.cells[static_cast<std::size_t>(c.options++)] = cell;
    }
    if (c.options < best.options) best = c;
  }
}

Completer::Choice Completer::narrowest() const {
  Choice best{.options = kMaxLatinSize + 1};
  for (int i = 0; i < n_ * n_ && best.options > 1; ++i) {
    if (!blank(i)) continue;
    const Mask c = candidates(i);
    if (const int k = std::popcount(c); k < best.options) best = {.options = k, .by_cell = true, .cell = i, .symbols = c};
  }
  for (int line = 0; line < n_ && best.options > 1; ++line) {
    narrow_by_line(line, true, best);
    narrow_by_line(line, false, best);
  }
  return best;
}

std::uint64_t Completer::count(std::uint64_t limit) {
  if (!ok_ || limit == 0) return 0;
  if (blanks_ == 0) return 1;
  const Choice choice = narrowest();
  std::uint64_t found = 0;
  const auto attempt = [&](int cell, int symbol) {
    place(cell, symbol);
    found += count(limit - found);
    remove(cell, symbol);
  };
  if (choice.by_cell) {
    for (Mask rest = choice.symbols; rest != 0 && found < limit; rest &= rest - 1)
      attempt(choice.cell, std::countr_zero(rest) + 1);
  } else {
    for (int k = 0; k < choice.options && found < limit; ++k)
      attempt(choice.cells[static_cast<std::size_t>(k)], choice.symbol);
  }
  return found;
}

}  // namespace locus::latin
