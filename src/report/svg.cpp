#include "report/svg.h"

#include <array>
#include <cmath>

#include "core/text.h"
#include "report/markup.h"

namespace locus::report {
namespace {

void append_attribute(std::string& out, std::string_view name, std::string_view value) {
  out += ' ';
  out += name;
  out += "=\"";
  out += escape(value);
  out += '"';
}

std::string_view anchor_name(Anchor anchor) {
  return anchor == Anchor::kStart ? "start" : anchor == Anchor::kMiddle ? "middle" : "end";
}

}  // namespace

Shape category_shape(int i) {
  constexpr std::array kShapes = {Shape::kCircle, Shape::kSquare, Shape::kDiamond, Shape::kTriangle};
  return kShapes[static_cast<std::size_t>((i % 4 + 4) % 4)];
}

void Svg::open(std::string_view tag, const Attributes& attributes) {
  body_ += '<';
  body_ += tag;
  for (const auto& [name, value] : attributes) append_attribute(body_, name, value);
  body_ += '>';
}

void Svg::close(std::string_view tag) {
  body_ += "</";
  body_ += tag;
  body_ += ">\n";
}

void Svg::element(std::string_view tag, const Attributes& attributes, const Mark* mark) {
  body_ += '<';
  body_ += tag;
  for (const auto& [name, value] : attributes) append_attribute(body_, name, value);
  if (mark != nullptr) {
    if (mark->run >= 0) append_attribute(body_, "data-run", std::to_string(mark->run));
    if (mark->group >= 0) append_attribute(body_, "data-group", std::to_string(mark->group));
    if (mark->token >= 0) append_attribute(body_, "data-token", std::to_string(mark->token));
    if (mark->x) append_attribute(body_, "data-x", shortest(*mark->x));
    if (mark->value) append_attribute(body_, "data-value", shortest(*mark->value));
  }
  if (mark == nullptr || mark->title.empty()) {
    body_ += "/>\n";
  } else {
    body_ += "><title>" + escape(mark->title) + "</title></";
    body_ += tag;
    body_ += ">\n";
  }
}

void Svg::line(Point a, Point b, std::string_view css) {
  element("line",
          {{"x1", coord(a.x)}, {"y1", coord(a.y)}, {"x2", coord(b.x)}, {"y2", coord(b.y)}, {"class", std::string(css)}});
}

void Svg::rect(const Box& box, std::string_view css, const Mark* mark) {
  element("rect",
          {{"x", coord(box.x)},
           {"y", coord(box.y)},
           {"width", coord(box.width)},
           {"height", coord(box.height)},
           {"class", std::string(css)}},
          mark);
}

void Svg::rect_fill(const Box& box, const std::string& colour, const Mark* mark) {
  element("rect",
          {{"x", coord(box.x)},
           {"y", coord(box.y)},
           {"width", coord(box.width)},
           {"height", coord(box.height)},
           {"fill", colour}},
          mark);
}

void Svg::path(const std::string& d, std::string_view css, const Mark* mark) {
  element("path", {{"d", d}, {"class", std::string(css)}}, mark);
}

void Svg::shape(Shape shape, Point at, double radius, std::string_view css, const Mark* mark) {
  const double r = radius;
  if (shape == Shape::kCircle) {
    element("circle", {{"cx", coord(at.x)}, {"cy", coord(at.y)}, {"r", coord(r)}, {"class", std::string(css)}}, mark);
  } else if (shape == Shape::kSquare) {
    rect({at.x - 0.88 * r, at.y - 0.88 * r, 1.76 * r, 1.76 * r}, css, mark);
  } else if (shape == Shape::kDiamond) {
    const double d = 1.25 * r;
    path(polyline({{at.x, at.y - d}, {at.x + d, at.y}, {at.x, at.y + d}, {at.x - d, at.y}}) + "Z", css, mark);
  } else {
    path(polyline({{at.x, at.y - 1.25 * r}, {at.x + 1.15 * r, at.y + 0.8 * r}, {at.x - 1.15 * r, at.y + 0.8 * r}}) + "Z",
         css, mark);
  }
}

void Svg::text(Point at, std::string_view text, std::string_view css, Anchor anchor) {
  body_ += "<text";
  append_attribute(body_, "x", coord(at.x));
  append_attribute(body_, "y", coord(at.y));
  if (anchor != Anchor::kStart) append_attribute(body_, "text-anchor", anchor_name(anchor));
  if (!css.empty()) append_attribute(body_, "class", css);
  body_ += ">" + escape(text) + "</text>\n";
}

void Svg::text_vertical(Point at, std::string_view text, std::string_view css) {
  body_ += "<text";
  append_attribute(body_, "transform", "translate(" + coord(at.x) + " " + coord(at.y) + ") rotate(-90)");
  append_attribute(body_, "text-anchor", "middle");
  if (!css.empty()) append_attribute(body_, "class", css);
  body_ += ">" + escape(text) + "</text>\n";
}

void Svg::image(const Box& box, const std::string& data_uri) {
  element("image", {{"x", coord(box.x)},
                    {"y", coord(box.y)},
                    {"width", coord(box.width)},
                    {"height", coord(box.height)},
                    {"preserveAspectRatio", "none"},
                    {"class", "px"},
                    {"href", data_uri}});
}

std::string polyline(const std::vector<Point>& points) {
  std::string out;
  bool pen_down = false;
  for (const Point& p : points) {
    if (!std::isfinite(p.x) || !std::isfinite(p.y)) {
      pen_down = false;
      continue;
    }
    out += (pen_down ? "L" : "M") + coord(p.x) + " " + coord(p.y);
    pen_down = true;
  }
  return out;
}

double text_width(std::string_view text, double font_size) {
  double units = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;
    if (c == 'i' || c == 'l' || c == 'j' || c == '.' || c == ',' || c == ' ' || c == '\'' || c == ':' || c == 'f' ||
        c == 't' || c == '|') {
      units += 0.33;
    } else if ((c >= 'A' && c <= 'Z') || c == 'm' || c == 'w' || c == '%' || c == '@') {
      units += 0.76;
    } else {
      units += 0.58;
    }
  }
  return units * font_size;
}

std::string fit_text(std::string_view text, double width, double font_size) {
  const std::string clean = clean_utf8(text);
  if (text_width(clean, font_size) <= width) return clean;
  std::size_t keep = clean.size();
  while (keep > 1) {
    const std::string cut = shorten(clean, --keep);
    if (text_width(cut, font_size) <= width) return cut;
  }
  return "…";
}

}  // namespace locus::report
