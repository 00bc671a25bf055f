// Colours: a categorical palette that colour-blind readers can tell apart, an ordered ramp, two perceptually ordered
// colour maps, and the style sheets of the page and of a figure that stands alone, all from one table.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace locus::report {

struct Rgb {
  std::uint8_t r = 0, g = 0, b = 0;
  bool operator==(const Rgb&) const = default;
};

std::string hex(Rgb colour);

inline constexpr int kCategoryColours = 12;  // classes c0..c11
inline constexpr int kRampSteps = 10;        // classes q0..q9, dark to light on white

enum class ColourMap { kSequential, kDiverging };
const std::array<Rgb, 256>& colour_map(ColourMap map);

// 0..255 for a value in [lo, hi], clipped; NaN is not a colour and gives -1.
int colour_index(double value, double lo, double hi);

// Class of the i-th of n ordered things (n >= 1), and of the i-th category.
std::string ramp_class(int i, int n);
std::string category_class(int i);

enum class Theme { kAuto, kLight, kDark };

// For a figure that stands alone: plain colours, no variables, because converters to PNG and PDF know none.
std::string standalone_css(Theme theme);
// For the page: variables under :root, switched by prefers-color-scheme and by data-theme.
std::string page_theme_css();

}  // namespace locus::report
