// Colours: a categorical palette that colour-blind readers can tell apart, an ordered ramp beside the colour maps of
// io/colour_map.h, and the style sheets of the page and of a figure that stands alone, all from one table.
#pragma once

#include <string>

#include "io/colour_map.h"

namespace locus::report {

std::string hex(Rgb colour);

inline constexpr int kCategoryColours = 12;  // classes c0..c11
inline constexpr int kRampSteps = 10;        // classes q0..q9, dark to light on white

// Class of the i-th of n ordered things (n >= 1), and of the i-th category.
std::string ramp_class(int i, int n);
std::string category_class(int i);

enum class Theme { kAuto, kLight, kDark };

// For a figure that stands alone: plain colours, no variables, because converters to PNG and PDF know none.
std::string standalone_css(Theme theme);
// For the page: variables under :root, switched by prefers-color-scheme and by data-theme.
std::string page_theme_css();

}  // namespace locus::report
