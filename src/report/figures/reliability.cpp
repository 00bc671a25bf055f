#include "report/figures/reliability.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/nan.h"
#include "core/text.h"
#include "io/codec.h"
#include "report/markup.h"
#include "report/plot.h"

namespace locus::report {
namespace {

constexpr std::size_t kMostReliabilityRows = 300;

struct Comparison {
  const char* name;
  const char* words;
  const char* colour;
};
constexpr Comparison kComparisons[] = {{"halves", "other people, other seed", "c0"},
                                       {"halves_same_seed", "other people, same seed", "c2"},
                                       {"seeds", "same people, other seed", "c1"}};

// The first layer's agreement, one place on the axis a code and comparison.
Panel draw_overall(const Reliability& data, const std::string& setting) {
  std::vector<const ReliabilityRow*> rows;
  std::vector<std::string> places;
  for (const ReliabilityRow& r : data.rows) {
    if (r.setting != setting || r.layer != 0) continue;
    rows.push_back(&r);
    places.push_back(r.code == "change" ? "P − P₀" : "P");
  }
  XyPlot plot({.title = "All regions",
               .x = {.label = "read", .kind = AxisKind::kCategories, .categories = places},
               .y = {.label = "r of the cosines of two runs", .lo = -0.2, .hi = 1.0}});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ReliabilityRow& r = *rows[i];
    for (const Comparison& c : kComparisons) {
      if (r.comparison != c.name) continue;
      const auto x = static_cast<double>(i);
      const Mark mark{.title = fmt::format("{}, {}: {} ({} to {}), {} pairs", places[i], c.words, r_text(r.agreement),
                                           r_text(r.low), r_text(r.high), r.pairs),
                      .x = x,
                      .value = r.agreement};
      plot.estimate({x, r.agreement, r.low, r.high}, c.colour, mark);
      if (std::isfinite(r.shuffled))
        plot.point({x, r.shuffled}, 3, "c11", {.title = "regions shuffled: " + r_text(r.shuffled), .value = r.shuffled},
                   Shape::kSquare, true);
    }
  }
  return plot.finish();
}

Panel draw_regions(const Reliability& data, const std::string& setting) {
  XyPlot plot({.title = "Each region, P − P₀",
               .x = {.label = "regions, best first"},
               .y = {.label = "r of its cosines, other people", .lo = -0.2, .hi = 1.0},
               .width = 560});
  double x = 0;
  for (const RegionReliabilityRow& r : data.regions) {
    if (r.setting != setting) continue;
    ++x;
    const Mark mark{.title = fmt::format("{}: {} ({} to {})", r.name, r_text(r.halves), r_text(r.low), r_text(r.high)),
                    .token = static_cast<int>(r.token),
                    .x = x,
                    .value = r.halves};
    plot.line({{x, r.low}, {x, r.high}}, "c0", "line", {.title = mark.title});
    if (std::isfinite(r.seeds))
      plot.point({x, r.seeds}, 2, "c1", {.title = fmt::format("{}, other seed: {}", r.name, r_text(r.seeds))},
                 Shape::kDiamond, true);
    plot.point({x, r.halves}, 2.5, "c0", mark);
  }
  return plot.finish();
}

Table table_of(const Reliability& data) {
  Table table;
  table.columns = {"Setting", "Layer", "Read", "Pairs of", "Pairs", "r", "95 % from", "to", "All people", "Shuffled"};
  const auto number = [](double v) { return std::isfinite(v) ? r_text(v) : std::string("–"); };
  for (const ReliabilityRow& r : data.rows) {
    std::string words = r.comparison;
    for (const Comparison& c : kComparisons) {
      if (r.comparison == c.name) words = c.words;
    }
    table.rows.push_back({shorten(r.setting, 80), std::to_string(r.layer + 1), r.code == "change" ? "P − P₀" : "P", words,
                          std::to_string(r.pairs), number(r.agreement), number(r.low), number(r.high), number(r.whole),
                          number(r.shuffled)});
    table.sort_keys.push_back({kNan, static_cast<double>(r.layer + 1), kNan, kNan, static_cast<double>(r.pairs), r.agreement,
                               r.low, r.high, r.whole, r.shuffled});
  }
  return table;
}

}  // namespace

Found<Reliability> collect_reliability(const Inputs& inputs) {
  Reliability data;
  if (const auto* const result = find_result<ReliabilityResult>(inputs.group_analyses)) {
    data.rows.assign(result->rows.begin(), result->rows.begin() + static_cast<std::ptrdiff_t>(
                                                                      std::min(result->rows.size(), kMostReliabilityRows)));
    data.regions = result->regions;
    std::stable_sort(data.regions.begin(), data.regions.end(), [](const auto& a, const auto& b) {
      return a.setting != b.setting ? a.setting < b.setting : a.halves > b.halves;
    });
  }
  if (data.rows.empty()) {
    return Found<Reliability>::none(
        "there is no analysis reliability beside the runs: how far other people give the same positions is not known (train "
        "on two halves of the people, with two seeds, then locus analyze)");
  }
  return Found<Reliability>::of(std::move(data));
}

Figure draw_reliability(const Reliability& data) {
  Figure figure{.name = "reliability", .title = "Do other people give the same positions?"};
  std::set<std::string> settings;
  for (const ReliabilityRow& r : data.rows) {
    if (!settings.insert(r.setting).second) continue;
    Variant variant;
    if (r.setting != "same") variant.choices = {{"setting", shorten(r.setting, 60)}};
    variant.panels.push_back(draw_overall(data, r.setting));
    const bool has =
        std::any_of(data.regions.begin(), data.regions.end(), [&](const auto& g) { return g.setting == r.setting; });
    if (has) variant.panels.push_back(draw_regions(data, r.setting));
    figure.variants.push_back(std::move(variant));
  }
  for (const Comparison& c : kComparisons) {
    if (std::any_of(data.rows.begin(), data.rows.end(), [&](const auto& r) { return r.comparison == c.name; }))
      figure.legend.push_back({.label = c.words, .css = c.colour, .mark = LegendMark::kPoint});
  }
  figure.legend.push_back({.label = "regions shuffled", .css = "c11", .mark = LegendMark::kPoint, .shape = Shape::kSquare});
  figure.table = table_of(data);
  figure.caption =
      "Encodings trained on two halves of the people: correlation of their cosines, first layer. Intervals: 95 %, regions "
      "resampled; they say nothing about other ways to halve the people. Where halves agree as far as seeds on the same "
      "half "
      "do, it is the start of training and not the people that limits. All people: what Spearman and Brown's formula "
      "expects "
      "of twice as many. Squares: 97.5 % of agreements with shuffled regions lie below.";
  figure.csv = csv_reliability(data);
  return figure;
}

std::string csv_reliability(const Reliability& data) {
  std::string out = "setting,layer,code,comparison,pairs,agreement,low,high,whole,shuffled\n";
  for (const ReliabilityRow& r : data.rows) {
    const std::string cells[] = {r.setting,
                                 std::to_string(r.layer + 1),
                                 r.code,
                                 r.comparison,
                                 std::to_string(r.pairs),
                                 shortest(r.agreement),
                                 shortest(r.low),
                                 shortest(r.high),
                                 shortest(r.whole),
                                 shortest(r.shuffled)};
    out += csv_row(cells);
  }
  return out;
}

}  // namespace locus::report
