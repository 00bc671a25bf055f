#include "report/theme.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

namespace locus::report {
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

struct Pair {
  std::string_view name;
  unsigned light, dark;
};

// Ink and surfaces, then categories (the first eight after Okabe and Ito, darkened or lightened for contrast).
constexpr Pair kInk[] = {{"bg", 0xFFFFFF, 0x14171C},    {"panel", 0xFFFFFF, 0x1A1E24}, {"ink", 0x1B1F24, 0xE6E9ED},
                         {"muted", 0x5B6470, 0xA3ACB8}, {"faint", 0xE4E7EB, 0x2C323B}, {"axis", 0x8A929C, 0x6B7480},
                         {"accent", 0x0B5CAD, 0x7DB8F5}};
constexpr Pair kPalette[kCategoryColours] = {
    {"c0", 0x0072B2, 0x4BA3E3}, {"c1", 0xD55E00, 0xFF8F4A}, {"c2", 0x008A63, 0x2FBF93},  {"c3", 0xB6558C, 0xE59AC4},
    {"c4", 0xB87A00, 0xF0B437}, {"c5", 0x2F93CF, 0x8BCBF5}, {"c6", 0x6F4C9B, 0xB39BE0},  {"c7", 0x5E6B2D, 0xB9C46A},
    {"c8", 0x882255, 0xE0709F}, {"c9", 0x2A8F86, 0x66CFC5}, {"c10", 0x8C6239, 0xC9A078}, {"c11", 0x6B7280, 0xA8B0BC}};

std::vector<Pair> ramp() {
  static constexpr std::string_view kNames[kRampSteps] = {"q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9"};
  const auto& map = colour_map(ColourMap::kSequential);
  const auto value = [](Rgb c) { return static_cast<unsigned>(c.r << 16 | c.g << 8 | c.b); };
  std::vector<Pair> out;
  for (int i = 0; i < kRampSteps; ++i) {
    const double w = i / (kRampSteps - 1.0);
    out.push_back({kNames[i], value(map[static_cast<std::size_t>(std::lround(20 + w * 160))]),
                   value(map[static_cast<std::size_t>(std::lround(242 - w * 132))])});
  }
  return out;
}

std::vector<Pair> all_pairs() {
  std::vector<Pair> pairs(std::begin(kInk), std::end(kInk));
  pairs.insert(pairs.end(), std::begin(kPalette), std::end(kPalette));
  const std::vector<Pair> steps = ramp();
  pairs.insert(pairs.end(), steps.begin(), steps.end());
  return pairs;
}

// The rules every figure needs; `colour(name)` spells a colour.
template <class Colour>
std::string figure_rules(const Colour& colour) {
  std::string css;
  const auto rule = [&](std::string_view selector, std::string_view property, std::string_view name) {
    css += fmt::format("{}{{{}:{}}}", selector, property, colour(name));
  };
  css +=
      "svg.fig,svg.fig text{font-family:system-ui,-apple-system,'Segoe UI','Helvetica Neue',Arial,'Liberation Sans',"
      "sans-serif}svg.fig text{font-size:11.5px}svg.fig text.ttl{font-size:13px;font-weight:600}"
      "svg.fig text.small{font-size:11px}svg.fig .line{fill:none;stroke-width:1.8;stroke-linejoin:round;"
      "stroke-linecap:round}svg.fig .thin{fill:none;stroke-width:.8;opacity:.45}svg.fig .dash{stroke-dasharray:6 4}"
      "svg.fig .dot{stroke-dasharray:1.5 3.5}svg.fig .band{opacity:.16;stroke:none!important}"
      "svg.fig .mark{stroke-width:1}svg.fig .soft{opacity:.55}svg.fig .px{image-rendering:pixelated}"
      "svg.fig .none{fill:none}svg.fig .hl{fill:none;stroke-width:1.6;opacity:0}svg.fig .err{stroke-width:1.4;fill:none}"
      "svg.fig .gap{stroke-width:6}";
  for (const Pair& p : all_pairs()) {
    if (p.name[0] != 'c' && p.name[0] != 'q') continue;
    rule(fmt::format("svg.fig .{}", p.name), "fill", p.name);
    rule(fmt::format("svg.fig .s-{0}", p.name), "stroke", p.name);
  }
  rule("svg.fig text", "fill", "ink");
  rule("svg.fig text.tick,svg.fig text.small", "fill", "muted");
  rule("svg.fig .page", "fill", "panel");
  rule("svg.fig .grid", "stroke", "faint");
  rule("svg.fig .axis", "stroke", "axis");
  rule("svg.fig .ring", "stroke", "panel");
  rule("svg.fig .inkline", "stroke", "ink");
  rule("svg.fig .gap", "stroke", "panel");
  rule("svg.fig .frame", "stroke", "axis");
  rule("svg.fig .hl", "stroke", "accent");
  css += "svg.fig .frame{fill:none;stroke-width:.8}svg.fig text.on-dark{fill:#fff}svg.fig text.on-light{fill:#111}";
  return css;
}

}  // namespace

std::string hex(Rgb c) { return fmt::format("#{:02x}{:02x}{:02x}", c.r, c.g, c.b); }

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

std::string ramp_class(int i, int n) {
  const int step = n <= 1 ? 2 : static_cast<int>(std::lround(i * (kRampSteps - 1.0) / (n - 1)));
  return fmt::format("q{}", std::clamp(step, 0, kRampSteps - 1));
}

std::string category_class(int i) {
  return fmt::format("c{}", ((i % kCategoryColours) + kCategoryColours) % kCategoryColours);
}

std::string standalone_css(Theme theme) {
  const auto sheet = [](bool dark) {
    const std::vector<Pair> pairs = all_pairs();
    return figure_rules([&](std::string_view name) {
      const auto it = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& p) { return p.name == name; });
      return fmt::format("#{:06x}", dark ? it->dark : it->light);
    });
  };
  if (theme == Theme::kLight) return sheet(false);
  if (theme == Theme::kDark) return sheet(true);
  return sheet(false) + "@media (prefers-color-scheme:dark){" + sheet(true) + "}";
}

std::string page_theme_css() {
  const std::vector<Pair> pairs = all_pairs();
  const auto variables = [&](bool dark) {
    std::string out = dark ? "color-scheme:dark;" : "color-scheme:light;";
    for (const Pair& p : pairs) out += fmt::format("--{}:#{:06x};", p.name, dark ? p.dark : p.light);
    return out;
  };
  return ":root{" + variables(false) + "}@media (prefers-color-scheme:dark){:root:not([data-theme=light]){" +
         variables(true) + "}}@media screen{:root[data-theme=dark]{" + variables(true) +
         "}}@media print{:root,:root:not([data-theme=light]){" + variables(false) + "}}" +
         figure_rules([](std::string_view name) { return fmt::format("var(--{})", name); });
}

}  // namespace locus::report
