#include "report/scale.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "report/markup.h"

namespace locus::report {
namespace {

std::string tick_label(double value, double step, AxisUnit unit) {
  const double factor = unit == AxisUnit::kPercent ? 100 : 1;
  const double v = value * factor, s = step * factor;
  const double size = std::max(std::abs(v), s);
  if (size >= 1e6 || s < 1e-5) return pretty(v, 4);
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(s) - 1e-9)));
  std::string text = fmt::format("{:.{}f}", v, decimals);
  if (text[0] == '-') text.replace(0, 1, "−");
  return text;
}

std::vector<Tick> log_ticks(double lo, double hi, int wanted, AxisUnit unit) {
  const double factor = unit == AxisUnit::kPercent ? 100 : 1;
  const int first = static_cast<int>(std::floor(std::log10(lo))), last = static_cast<int>(std::ceil(std::log10(hi)));
  static const std::vector<std::vector<double>> kMantissas = {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 5}, {1, 3}, {1}};
  std::vector<Tick> ticks;
  for (const auto& mantissas : kMantissas) {
    ticks.clear();
    for (int e = first; e <= last; ++e) {
      for (const double m : mantissas) {
        const double v = m * std::pow(10.0, e);
        if (v >= lo * (1 - 1e-9) && v <= hi * (1 + 1e-9)) ticks.push_back({v, pretty(v * factor, 2)});
      }
    }
    if (static_cast<int>(ticks.size()) <= wanted + 1) return ticks;
  }
  const int stride = (static_cast<int>(ticks.size()) + wanted - 1) / wanted;
  std::vector<Tick> kept;
  for (std::size_t i = 0; i < ticks.size(); i += static_cast<std::size_t>(stride)) kept.push_back(ticks[i]);
  return kept;
}

}  // namespace

void Range::include(double value) {
  if (!std::isfinite(value)) return;
  lo = empty ? value : std::min(lo, value);
  hi = empty ? value : std::max(hi, value);
  empty = false;
}

Scale::Scale(AxisKind kind, Range range, double pad) : kind_(kind), lo_(range.lo), hi_(range.hi) {
  if (range.empty) {
    lo_ = kind == AxisKind::kLog ? 1 : 0;
    hi_ = kind == AxisKind::kLog ? 10 : 1;
  }
  if (kind == AxisKind::kLog) {
    LOCUS_CHECK(lo_ > 0, "a log axis shows values above 0");
    const double a = std::log10(lo_), b = std::log10(hi_);
    const double widen = b - a < 1e-9 ? 0.3 : pad * (b - a);
    lo_ = std::pow(10.0, a - widen);
    hi_ = std::pow(10.0, b + widen);
  } else {
    const double length = hi_ - lo_;
    const double size = std::max(std::abs(lo_), std::abs(hi_));
    const double widen = length <= 1e-12 * size || length == 0 ? (size > 0 ? 0.1 * size : 0.5) : pad * length;
    lo_ -= widen;
    hi_ += widen;
  }
}

void Scale::set_pixels(double from, double to) {
  from_ = from;
  to_ = to;
}

double Scale::operator()(double value) const {
  if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
  double w = 0;
  if (kind_ == AxisKind::kLog) {
    if (value <= 0) return std::numeric_limits<double>::quiet_NaN();
    w = (std::log10(value) - std::log10(lo_)) / (std::log10(hi_) - std::log10(lo_));
  } else {
    w = (value - lo_) / (hi_ - lo_);
  }
  return from_ + w * (to_ - from_);
}

double nice_step(double length, int wanted) {
  const double raw = length / std::max(1, wanted);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double m = raw / power;
  return power * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
}

std::vector<Tick> Scale::ticks(int wanted, AxisUnit unit) const {
  if (kind_ == AxisKind::kCategories) return {};
  if (kind_ == AxisKind::kLog) {
    std::vector<Tick> decades = log_ticks(lo_, hi_, wanted, unit);
    if (decades.size() >= 2) return decades;  // less than that: the axis is short enough for even steps
  }
  const double step = nice_step(hi_ - lo_, wanted);
  std::vector<Tick> ticks;
  const double first = std::ceil(lo_ / step - 1e-9), last = std::floor(hi_ / step + 1e-9);
  for (double k = first; k <= last && ticks.size() < 100; ++k) {
    const double value = k == 0 ? 0.0 : k * step;  // never -0
    ticks.push_back({value, tick_label(value, step, unit)});
  }
  return ticks;
}

}  // namespace locus::report
