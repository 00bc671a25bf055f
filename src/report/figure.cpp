#include "report/figure.h"

#include <fmt/core.h>

#include <algorithm>

#include "report/markup.h"

namespace locus::report {
namespace {

constexpr double kMargin = 14;
constexpr double kTitle = 30;
constexpr double kLegendRow = 20;

void draw_key(Svg& svg, const LegendEntry& e, Point at) {
  if (e.mark == LegendMark::kPoint) {
    svg.shape(e.shape, {at.x + 10, at.y - 4}, 4, e.css);
    return;
  }
  const char* style = e.mark == LegendMark::kDash ? "line dash s-" : e.mark == LegendMark::kDot ? "line dot s-" : "line s-";
  svg.line({at.x, at.y - 4}, {at.x + 20, at.y - 4}, style + e.css);
}

// Places entries in rows; returns the height used.
double draw_legend(Svg* svg, const std::vector<LegendEntry>& legend, Point origin, double width) {
  double x = 0, y = 0;
  for (const LegendEntry& e : legend) {
    const double need = 26 + text_width(e.label, 11.5) + 18;
    if (x > 0 && x + need > width) {
      x = 0;
      y += kLegendRow;
    }
    if (svg != nullptr) {
      const Point at{origin.x + x, origin.y + y + 14};
      draw_key(*svg, e, at);
      svg->text({at.x + 26, at.y}, fit_text(e.label, width - 30, 11.5), "");
    }
    x += need;
  }
  return legend.empty() ? 0 : y + kLegendRow;
}

struct Placed {
  const Panel* panel;
  Point at;
};

}  // namespace

std::string standalone_svg(const Figure& figure, const Variant& variant, Theme theme, double max_width) {
  std::vector<Placed> placed;
  double x = kMargin, y = kTitle + kMargin, row_height = 0, width = 0;
  for (const Panel& panel : variant.panels) {
    if (x > kMargin && x + panel.width + kMargin > max_width) {
      x = kMargin;
      y += row_height + kMargin;
      row_height = 0;
    }
    placed.push_back({&panel, {x, y}});
    x += panel.width + kMargin;
    row_height = std::max(row_height, panel.height);
    width = std::max(width, x);
  }
  std::string title = figure.title;
  for (const auto& [key, value] : variant.choices) title += ", " + key + " " + value;
  width = std::max(width, 360.0);
  std::vector<LegendEntry> legend = figure.legend;
  legend.insert(legend.end(), variant.legend.begin(), variant.legend.end());
  const double inner = width - 2 * kMargin;
  const double legend_y = y + row_height + 8;
  const double height = legend_y + draw_legend(nullptr, legend, {}, inner) + kMargin;
  Svg svg;
  svg.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                   {"class", "fig"},
                   {"role", "img"},
                   {"viewBox", "0 0 " + coord(width) + " " + coord(height)},
                   {"width", coord(width)},
                   {"height", coord(height)}});
  std::string out = svg.body() + "\n<title>" + escape(title) + "</title>\n<desc>" + escape(figure.caption) +
                    "</desc>\n<style>" + standalone_css(theme) + "</style>\n";
  Svg content;
  content.rect({0, 0, width, height}, "page");
  content.text({kMargin, kMargin + 14}, fit_text(title, inner, 13.5), "ttl");
  for (const Placed& p : placed) {
    content.open("g", {{"transform", "translate(" + coord(p.at.x) + " " + coord(p.at.y) + ")"}});
    out += content.body() + p.panel->body;
    content = Svg();
    content.close("g");
  }
  draw_legend(&content, legend, {kMargin, legend_y}, inner);
  return out + content.body() + "</svg>\n";
}

std::string inline_svg(const Panel& panel) {
  return fmt::format(
      "<svg class=\"fig\" role=\"group\" aria-label=\"{}\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\">\n{}</svg>\n",
      escape(panel.label), coord(panel.width), coord(panel.height), coord(panel.width), coord(panel.height), panel.body);
}

}  // namespace locus::report
