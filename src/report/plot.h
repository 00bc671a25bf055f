// Panels with two axes: lines, bands, points, error bars, bars and reference lines. Items are collected first; finish()
// finds the ranges, draws the axes and then the items in the order they came.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "report/figure.h"
#include "report/scale.h"
#include "report/svg.h"

namespace locus::report {

struct AxisSpec {
  std::string label = {};  // with unit: "held-out accuracy (%)"
  AxisKind kind = AxisKind::kLinear;
  AxisUnit unit = AxisUnit::kPlain;
  std::vector<std::string> categories = {};  // kCategories: 0, 1, 2, ...
  std::optional<double> lo = {};             // bounds kept as they are
  std::optional<double> hi = {};
  std::optional<std::pair<double, double>> possible = {};  // intervals are cut there: no accuracy is above 1
  std::vector<double> at = {};                             // ticks wanted at these values (thinned where they would collide)
};

struct PlotSpec {
  std::string title = {};
  AxisSpec x = {}, y = {};
  double width = 400;
  double height = 300;
  double right_margin = 12;  // room for the labels of reference lines
  bool equal_aspect = false;
  bool bare = false;  // a frame instead of axes
};

// One value with the ends of its interval (NaN: none).
struct Estimate {
  double x = 0;
  double value = 0;
  double lo = std::numeric_limits<double>::quiet_NaN();
  double hi = std::numeric_limits<double>::quiet_NaN();
};

class XyPlot {
 public:
  explicit XyPlot(PlotSpec spec) : spec_(std::move(spec)) {}

  // `colour` is a colour class ("q3"). Series with fewer than two drawable points show nothing as a line.
  void line(std::vector<Point> points, const std::string& colour, const std::string& style, Mark mark);
  void band(const std::vector<Estimate>& points, const std::string& colour, Mark mark);
  void point(Point at, double radius, const std::string& colour, Mark mark, Shape shape = Shape::kCircle, bool soft = false);
  void estimate(const Estimate& e, const std::string& colour, Mark mark, Shape shape = Shape::kCircle);
  void bar(const Estimate& e, double width, const std::string& colour, Mark mark);  // from 0; width in x units
  // A horizontal line over the whole panel, labelled at its right end, with its interval as a band.
  void reference(const Estimate& e, const std::string& colour, const std::string& style, Mark mark, std::string label);
  void label(Point at, std::string text, Mark mark);  // beside a point, inside the panel

  Panel finish();

 private:
  enum class Kind { kLine, kBand, kPoint, kEstimate, kBar, kReference, kLabel };
  struct Item {
    Kind kind;
    std::vector<Point> points = {};
    std::vector<Estimate> estimates = {};
    std::string colour = {}, style = {}, text = {};
    Mark mark = {};
    Shape shape = Shape::kCircle;
    double size = 0;
    bool soft = false;
  };
  void fit(Scale& x, Scale& y) const;
  void draw_axes(Svg& svg, const Scale& x, const Scale& y) const;
  void draw_x_ticks(Svg& svg, const Scale& x) const;
  void draw_item(Svg& svg, const Item& item, const Scale& x, const Scale& y) const;
  void draw_estimate(Svg& svg, const Item& item, const Scale& x, const Scale& y) const;
  void draw_references(Svg& svg, const Scale& y) const;
  Range range(bool of_x) const;
  Estimate cut(Estimate e) const;  // its interval kept within what is possible
  Scale scale(bool of_x) const;

  PlotSpec spec_;
  Box area_;
  std::vector<Item> items_;
};

}  // namespace locus::report
