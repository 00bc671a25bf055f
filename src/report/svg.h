// A canvas that writes SVG as exact, deterministic text. Everything written is escaped; marks carry what they stand for
// (data-run, data-group, data-token, data-value) and a title for readers without a mouse.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace locus::report {

struct Point {
  double x = 0, y = 0;
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

// What a mark stands for. Numbers below 0 and empty texts are left out.
struct Mark {
  std::string title = {};  // "learned σ 0.2, seed 3: 95.4 %"
  int run = -1;
  int group = -1;
  int token = -1;
  std::optional<double> x = {};
  std::optional<double> value = {};
};

using Attributes = std::vector<std::pair<std::string_view, std::string>>;

enum class Anchor { kStart, kMiddle, kEnd };
enum class Shape { kCircle, kSquare, kDiamond, kTriangle };

// Of the i-th category, as its colour is category_class(i).
Shape category_shape(int i);

class Svg {
 public:
  void open(std::string_view tag, const Attributes& attributes = {});
  void close(std::string_view tag);
  void element(std::string_view tag, const Attributes& attributes, const Mark* mark = nullptr);

  void line(Point a, Point b, std::string_view css);
  void rect(const Box& box, std::string_view css, const Mark* mark = nullptr);
  void rect_fill(const Box& box, const std::string& colour, const Mark* mark = nullptr);
  void path(const std::string& d, std::string_view css, const Mark* mark = nullptr);
  void shape(Shape shape, Point at, double radius, std::string_view css, const Mark* mark = nullptr);
  void text(Point at, std::string_view text, std::string_view css, Anchor anchor = Anchor::kStart);
  void text_vertical(Point at, std::string_view text, std::string_view css);  // read from below, centred on `at`
  void image(const Box& box, const std::string& data_uri);

  const std::string& body() const { return body_; }

 private:
  std::string body_;
};

// "M x y L x y ..." with a gap wherever a coordinate is NaN.
std::string polyline(const std::vector<Point>& points);

// Width of a text at a font size, estimated; enough to keep labels apart.
double text_width(std::string_view text, double font_size);

// The whole of `text` within `width`, cut with an ellipsis if need be.
std::string fit_text(std::string_view text, double width, double font_size);

}  // namespace locus::report
