#include "report/matrix_panel.h"

#include <algorithm>
#include <cmath>

#include "core/symmetry.h"
#include "report/markup.h"
#include "report/png.h"

namespace locus::report {
namespace {

constexpr double kStrip = 7;
constexpr int kSharpPixels = 256;

// One rectangle per run of equal colours.
void draw_strip(Svg& svg, const std::vector<std::string>& classes, const Box& picture, double offset, bool along_rows) {
  const double n = static_cast<double>(classes.size());
  for (std::size_t i = 0; i < classes.size();) {
    std::size_t end = i;
    while (end < classes.size() && classes[end] == classes[i]) ++end;
    const double from = static_cast<double>(i) / n, length = static_cast<double>(end - i) / n;
    const Box box = along_rows
                        ? Box{picture.x - offset, picture.y + from * picture.height, kStrip - 2, length * picture.height}
                        : Box{picture.x + from * picture.width, picture.y - offset, length * picture.width, kStrip - 2};
    svg.rect(box, classes[i]);
    i = end;
  }
}

}  // namespace

void fit_colours(MatrixSpec& spec) { share_colours(std::span(&spec, 1)); }

void share_colours(std::span<MatrixSpec> specs) {
  std::vector<double> values;
  for (const MatrixSpec& spec : specs) {
    const MatrixD& m = spec.values;
    for (std::ptrdiff_t r = 0; r < m.rows(); ++r) {
      for (std::ptrdiff_t c = 0; c < m.cols(); ++c) {
        if (std::isfinite(m(r, c)) && (r != c || m.rows() != m.cols())) values.push_back(m(r, c));
      }
    }
  }
  std::sort(values.begin(), values.end());
  const std::size_t out = values.size() / 200;
  const double lo = values.empty() ? 0 : values[out], hi = values.empty() ? 0 : values[values.size() - 1 - out];
  const double limit = std::max(std::abs(lo), std::abs(hi));
  const bool diverging = lo < -0.05 * limit;
  for (MatrixSpec& spec : specs) {
    spec.map = diverging ? ColourMap::kDiverging : ColourMap::kSequential;
    spec.lo = diverging ? -limit : lo;
    spec.hi = diverging ? limit : hi;
    if (spec.hi <= spec.lo) spec.hi = spec.lo + 1;
  }
}

void draw_colour_bar(Svg& svg, Point at, double width, const MatrixSpec& spec) {
  MatrixD ramp(1, 128);
  for (int i = 0; i < 128; ++i) ramp(0, i) = i / 127.0;
  const Box bar{at.x, at.y, width, 8};
  svg.image(bar, png_data_uri(matrix_image(ramp.view(), 0, 1, 1), colour_map(spec.map)));
  svg.text({at.x, at.y + 20}, pretty(spec.lo, 2), "tick");
  svg.text({bar.right(), at.y + 20}, pretty(spec.hi, 2), "tick", Anchor::kEnd);
  svg.text({at.x + width / 2, at.y + 20}, fit_text(spec.bar_label, width - 70, 11.5), "tick", Anchor::kMiddle);
}

Panel draw_matrix(const MatrixSpec& spec) {
  const double margin = 4 + kStrip * static_cast<double>(spec.strips.size());
  const Box picture{margin, (spec.title.empty() ? 0 : 24) + margin, spec.size,
                    spec.size * static_cast<double>(spec.values.rows()) /
                        static_cast<double>(std::max<std::ptrdiff_t>(1, spec.values.cols()))};
  const double width = picture.right() + 6, height = picture.bottom() + 36;
  Svg svg;
  if (!spec.title.empty()) svg.text({picture.x, 16}, fit_text(spec.title, width - picture.x, 13), "ttl");
  if (!spec.strips.empty()) svg.open("g", {{"data-strips", spec.figure + "/" + spec.id}});
  for (std::size_t s = 0; s < spec.strips.size(); ++s) {
    const double offset = kStrip * static_cast<double>(spec.strips.size() - s);
    draw_strip(svg, spec.strips[s], picture, offset, true);
    draw_strip(svg, spec.strips[s], picture, offset, false);
  }
  if (!spec.strips.empty()) svg.close("g");
  const auto cells = static_cast<int>(std::max(spec.values.rows(), spec.values.cols()));
  const int scale = std::max(1, (kSharpPixels + cells - 1) / std::max(1, cells));
  svg.open("g", {{"data-matrix", spec.figure + "/" + spec.id}});
  svg.image(picture, png_data_uri(matrix_image(spec.values.view(), spec.lo, spec.hi, scale), colour_map(spec.map)));
  const auto rows = static_cast<int>(spec.values.rows()), cols = static_cast<int>(spec.values.cols());
  for (int r = spec.tile_rows; spec.tile_rows > 0 && r < rows; r += spec.tile_rows) {
    const double y = picture.y + picture.height * r / rows;
    svg.line({picture.x, y}, {picture.right(), y}, "gap");
  }
  for (int c = spec.tile_cols; spec.tile_cols > 0 && c < cols; c += spec.tile_cols) {
    const double x = picture.x + picture.width * c / cols;
    svg.line({x, picture.y}, {x, picture.bottom()}, "gap");
  }
  svg.rect(picture, "frame");
  if (!spec.tokens.empty()) {
    svg.rect({picture.x, picture.y, 0, 0}, "hl hl-row");
    svg.rect({picture.x, picture.y, 0, 0}, "hl hl-col");
  }
  svg.close("g");
  draw_colour_bar(svg, {picture.x, picture.bottom() + 10}, picture.width, spec);
  return {width, height, spec.title, svg.body()};
}

MatrixData matrix_data(const MatrixSpec& spec) {
  MatrixData data;
  data.id = spec.id;
  data.rows = static_cast<int>(spec.values.rows());
  data.cols = static_cast<int>(spec.values.cols());
  data.symmetric = is_symmetric(spec.values.view());
  // The picture may be clipped at lo and hi; the values under the pointer are not.
  data.lo = data.colour_lo = spec.lo;
  data.hi = data.colour_hi = spec.hi;
  data.map = spec.map;
  data.quantity = spec.bar_label;
  data.orders = spec.orders;
  for (const double v : spec.values.values()) {
    if (!std::isfinite(v)) continue;
    data.lo = std::min(data.lo, v);
    data.hi = std::max(data.hi, v);
  }
  data.packed = packed_values(spec.values.view(), data.lo, data.hi, data.symmetric);
  data.row_tokens = spec.tokens;
  data.col_tokens = spec.tokens;
  return data;
}

}  // namespace locus::report
