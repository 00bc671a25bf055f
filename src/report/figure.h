// A drawn figure: panels that stand side by side or wrap, a legend, a caption and the data as CSV.
// Variants are alternatives of which a page shows one at a time (layers, heads, runs); files hold each.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/svg.h"
#include "report/theme.h"

namespace locus::report {

struct Panel {
  double width = 0;
  double height = 0;
  std::string label = {};  // for screen readers: "held-out accuracy against σ"
  std::string body = {};   // SVG without the outer element
};

enum class LegendMark { kLine, kDash, kDot, kPoint };

struct LegendEntry {
  std::string label = {};
  std::string css = {};  // colour class: "q3", "c1"
  LegendMark mark = LegendMark::kLine;
  Shape shape = Shape::kCircle;
  int group = -1;        // toggles the marks of this group; -1: not a switch
  int token_label = -1;  // shows the tokens of this label alone; -1: not a switch
};

// Orders in which the tokens of one model can stand, the first as drawn, and what they are called.
struct TokenOrders {
  std::string id = {};  // unique in the figure
  std::vector<std::pair<std::string, std::vector<int>>> orders = {};
  std::vector<std::vector<std::string>> strips = {};  // colour classes by token, outermost first
};

// Values behind a picture of a matrix, for showing them under the pointer and drawing them again.
struct MatrixData {
  std::string id = {};  // unique in the figure; the panel's <g data-matrix="...">
  int rows = 0, cols = 0;
  double lo = 0, hi = 1;
  std::string quantity = {};            // what a value is: "cosine"
  double colour_lo = 0, colour_hi = 1;  // ends of the colour bar
  ColourMap map = ColourMap::kDiverging;
  std::string orders = {};           // TokenOrders that apply; empty: none
  bool symmetric = false;            // packed holds the upper triangle and the diagonal, row by row
  std::string packed = {};           // see packed_values
  std::vector<int> row_tokens = {};  // token of each row and column; empty: none
  std::vector<int> col_tokens = {};
  int tile_rows = 0, tile_cols = 0;   // > 0: a grid of tiles, each a grid of so many tokens
  std::vector<int> tile_tokens = {};  // token at each place of such a grid, row by row
};

struct Variant {
  std::vector<std::pair<std::string, std::string>> choices = {};  // {"layer", "1"}, {"run", "learned σ 0.2"}
  std::vector<Panel> panels = {};
  std::vector<LegendEntry> legend = {};
};

// A plain table that stands in the figure's place or under it.
struct Table {
  std::vector<std::string> columns = {};
  std::vector<std::vector<std::string>> rows = {};  // what is shown
  std::vector<std::vector<double>> sort_keys = {};  // same shape; NaN: sort by text
};

struct Figure {
  std::string name = {};
  std::string title = {};
  std::string caption = {};  // n, what the intervals are, what was left out
  std::vector<LegendEntry> legend = {};
  std::vector<Variant> variants = {};
  std::optional<Table> table = {};
  std::vector<MatrixData> matrices = {};
  std::vector<std::string> token_names = {};  // for tooltips of matrices
  std::vector<int> token_labels = {};         // to show those of one label alone; empty: none
  std::vector<TokenOrders> orders = {};
  bool wide = false;  // takes the whole width of the page
  std::string csv = {};
};

// What a figure is made from, or the sentence that says what is missing.
template <class T>
struct Found {
  std::optional<T> value = {};
  std::string missing = {};

  static Found of(T v) { return {std::move(v), ""}; }
  static Found none(std::string why) { return {std::nullopt, std::move(why)}; }
};

// One variant as a complete SVG file: panels in rows of at most `max_width`, the legend below, the title above.
std::string standalone_svg(const Figure& figure, const Variant& variant, Theme theme, double max_width = 1080);

// One panel as an <svg> element for the page (no style inside, no id).
std::string inline_svg(const Panel& panel);

}  // namespace locus::report
