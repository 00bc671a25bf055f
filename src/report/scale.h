// Axes: the map from values to coordinates, and ticks at round numbers.
#pragma once

#include <string>
#include <vector>

namespace locus::report {

enum class AxisKind { kLinear, kLog, kCategories };
enum class AxisUnit { kPlain, kPercent };  // percent: values are fractions, shown times 100

struct Tick {
  double value = 0;
  std::string label;
};

// The smallest and largest finite value of an axis (only > 0 for a log axis).
struct Range {
  double lo = 0, hi = 0;
  bool empty = true;
  void include(double value);
};

class Scale {
 public:
  // Widens [lo, hi] by `pad` of its length and, if equal, to something drawable; a log scale needs lo > 0.
  Scale(AxisKind kind, Range range, double pad);
  void set_pixels(double from, double to);
  double operator()(double value) const;  // NaN stays NaN; a value a log axis cannot show becomes NaN
  double lo() const { return lo_; }
  double hi() const { return hi_; }
  AxisKind kind() const { return kind_; }
  std::vector<Tick> ticks(int wanted, AxisUnit unit) const;

 private:
  AxisKind kind_;
  double lo_, hi_;
  double from_ = 0, to_ = 1;
};

// 1, 2 or 5 times a power of ten, so that about `wanted` steps cover `length`.
double nice_step(double length, int wanted);

}  // namespace locus::report
