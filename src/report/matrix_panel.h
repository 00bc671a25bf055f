// Panels that show a matrix: a pixel image with a frame, coloured strips along its sides and a colour bar.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/matrix.h"
#include "report/figure.h"

namespace locus::report {

struct MatrixSpec {
  std::string figure = {};  // name of the figure it stands in
  std::string id = {};      // unique within the figure
  std::string title = {};
  MatrixD values = {};                                // (rows, cols), in the order shown
  std::vector<int> tokens = {};                       // token of each row and column; empty: none
  std::vector<std::vector<std::string>> strips = {};  // colour classes along rows and columns, outermost first
  double lo = -1, hi = 1;
  ColourMap map = ColourMap::kDiverging;
  std::string bar_label = {};
  std::string orders = {};           // TokenOrders of the figure that apply
  double size = 300;                 // of the picture
  int tile_rows = 0, tile_cols = 0;  // > 0: a gap after every so many rows and columns
};

Panel draw_matrix(const MatrixSpec& spec);
MatrixData matrix_data(const MatrixSpec& spec);

// A horizontal colour bar with its ends labelled, `width` wide at `at`.
void draw_colour_bar(Svg& svg, Point at, double width, const MatrixSpec& spec);

// Picks colours by the values off the diagonal: diverging around 0 when some are clearly negative, else sequential. Few
// values far out (one in 200) do not stretch the scale.
void fit_colours(MatrixSpec& spec);
// One scale for all, so that equal colours are equal values.
void share_colours(std::span<MatrixSpec> specs);

}  // namespace locus::report
