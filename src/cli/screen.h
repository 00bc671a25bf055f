// Lines that are drawn again in place: never wider than the terminal, never erased before they are written anew.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace locus::cli {

struct ScreenSize {
  int columns = 80;
  int rows = 24;
};
// Of the terminal behind stderr or stdout; 80 x 24 where there is none.
ScreenSize screen_size();

// Width on screen: code points, not bytes.
std::size_t columns_of(std::string_view text);

// The text, cut to so many columns with "…" where it is longer.
std::string fit_columns(std::string_view text, std::size_t columns);

// The text broken between words, so that no line is wider; lines after the first of a paragraph begin where it does.
std::string wrap_words(std::string_view text, std::size_t columns);

// Parts of a line in their order; the higher the rank, the earlier a part is given up when the line is too wide.
struct LinePart {
  std::string text;
  int rank = 0;
};
std::string fit_parts(std::vector<LinePart> parts, std::size_t columns);

// A block at the end of what stderr shows. After a change of the window's width the block is left as it is and begins anew
// below, since terminals differ in what they do with lines that no longer fit.
class LiveLines {
 public:
  void draw(const std::vector<std::string>& lines);
  void clear();   // takes the block away
  void finish();  // leaves it standing; what comes next begins on a line of its own

 private:
  std::string back() const;

  std::size_t drawn_ = 0;
  int columns_ = 0;
};

}  // namespace locus::cli
