#include "report/theme.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace locus::report {
namespace {

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
