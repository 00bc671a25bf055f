#include "io/colour_map.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace locus {
namespace {

struct Lab {
  double l, a, b;
};

double to_linear(double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); }
double from_linear(double c) { return c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055; }

// The OKLab space, in which equal steps look equal.
Lab to_lab(Rgb colour) {
  const double r = to_linear(colour.r / 255.0), g = to_linear(colour.g / 255.0), b = to_linear(colour.b / 255.0);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s, 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

Rgb from_lab(Lab c) {
  const double l = std::pow(c.l + 0.3963377774 * c.a + 0.2158037573 * c.b, 3);
  const double m = std::pow(c.l - 0.1055613458 * c.a - 0.0638541728 * c.b, 3);
  const double s = std::pow(c.l - 0.0894841775 * c.a - 1.2914855480 * c.b, 3);
  const auto byte = [](double linear) {
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(from_linear(std::clamp(linear, 0.0, 1.0)), 0.0, 1.0)));
  };
  return {byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

constexpr Rgb from_hex(unsigned v) {
  return {static_cast<std::uint8_t>(v >> 16), static_cast<std::uint8_t>(v >> 8), static_cast<std::uint8_t>(v)};
}

std::array<Rgb, 256> interpolate(std::span<const unsigned> anchors) {
  std::array<Rgb, 256> table;
  for (int i = 0; i < 256; ++i) {
    const double position = i / 255.0 * static_cast<double>(anchors.size() - 1);
    const auto k = std::min(static_cast<std::size_t>(position), anchors.size() - 2);
    const double w = position - static_cast<double>(k);
    const Lab a = to_lab(from_hex(anchors[k])), b = to_lab(from_hex(anchors[k + 1]));
    table[static_cast<std::size_t>(i)] = from_lab({a.l + w * (b.l - a.l), a.a + w * (b.a - a.a), a.b + w * (b.b - a.b)});
  }
  return table;
}

}  // namespace

const std::array<Rgb, 256>& colour_map(ColourMap map) {
  static constexpr unsigned kSequential[] = {0x101B4D, 0x1D4E91, 0x14829B, 0x3FB183, 0xA6D46A, 0xFCF4B0};
  static constexpr unsigned kDiverging[] = {0x12357A, 0x3F7FC1, 0xA3C9E6, 0xF5F4F1, 0xF0B48E, 0xCB5A2E, 0x7A1F0E};
  static const std::array<Rgb, 256> sequential = interpolate(kSequential);
  static const std::array<Rgb, 256> diverging = interpolate(kDiverging);
  return map == ColourMap::kSequential ? sequential : diverging;
}

int colour_index(double value, double lo, double hi) {
  if (std::isnan(value)) return -1;
  if (!(hi > lo)) return 127;
  return static_cast<int>(std::lround(255 * std::clamp((value - lo) / (hi - lo), 0.0, 1.0)));
}

}  // namespace locus
