#include "report/figures/interventions.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/results/interventions.h"
#include "core/nan.h"
#include "core/text.h"
#include "io/codec.h"
#include "report/markup.h"
#include "stats/descriptive.h"

namespace locus::report {
namespace {

constexpr std::size_t kMaxKinds = 16;

struct Averages {
  std::vector<double> after, change;
};

// Those a reader asks for first; the drawing shows eight.
constexpr const char* kFirst[] = {"true grid", "grid shuffled", "shuffled", "shuffled by layer",
                                  "all alike", "removed",       "halved",   "doubled"};

// What was done to the positions, in words that fit under a bar.
std::string kind_of(const InterventionRow& row) {
  static const std::map<std::string, std::string> kWords = {{"true2d", "true grid"},
                                                            {"true2d_permuted", "grid shuffled"},
                                                            {"true2d_unaligned", "grid not turned"},
                                                            {"averaged", "all alike"},
                                                            {"zeroed", "removed"}};
  if (const auto words = kWords.find(row.kind); words != kWords.end()) return words->second;
  if (row.kind == "interpolated" && row.amount == 0) return "initial again";
  if (row.kind == "interpolated") return fmt::format("{} learned", percent(row.amount, 0));
  if (row.kind == "scaled" && row.amount == 0.5) return "halved";
  if (row.kind == "scaled" && row.amount == 2) return "doubled";
  std::string kind = shorten(row.kind, 40);
  std::replace(kind.begin(), kind.end(), '_', ' ');
  return std::isfinite(row.amount) ? fmt::format("{} {}", kind, pretty(row.amount, 3)) : kind;
}

std::vector<InterventionRow> rows_of(const Run& run) {
  const auto* const result = find_result<InterventionResult>(run.analyses);
  return result == nullptr ? std::vector<InterventionRow>() : result->rows;
}

// Per kind, the mean over repeats of interventions on all layers and the split wanted; single lesions are too many to list.
std::map<std::string, Averages> averages_of(const Run& run, const Interventions& data, std::vector<std::string>& kinds) {
  std::map<std::string, Averages> found;
  for (const InterventionRow& row : rows_of(run)) {
    const double after = data.measure == "accuracy" ? row.accuracy : row.mse;
    if (row.split != data.split || !row.is_main() || !std::isfinite(after)) continue;
    const std::string kind = kind_of(row);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
    found[kind].after.push_back(after);
    found[kind].change.push_back(std::isfinite(row.change) ? row.change : 0);
  }
  return found;
}

std::string find_split(const Inputs& inputs) {
  std::vector<std::string> splits;
  for (const Run& run : inputs.runs) {
    for (const InterventionRow& row : rows_of(run)) {
      if (std::find(splits.begin(), splits.end(), row.split) == splits.end()) splits.push_back(row.split);
    }
  }
  if (inputs.measure && std::find(splits.begin(), splits.end(), inputs.measure->split) != splits.end())
    return inputs.measure->split;
  return splits.empty() ? "" : splits[0];
}

constexpr std::ptrdiff_t kKindsAPanel = 4;  // more would be too small to read on a narrow screen

// What is drawn: the kinds a reader asks for first.
std::vector<std::string> drawn_kinds(const Interventions& data) {
  std::vector<std::string> kinds = data.kinds;
  std::erase(kinds, "none");
  const auto rank = [](const std::string& kind) { return std::find(std::begin(kFirst), std::end(kFirst), kind); };
  std::stable_sort(kinds.begin(), kinds.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  if (kinds.size() > 8) kinds.resize(8);
  return kinds;
}

// The common range of all panels, a little wider than what they show.
std::pair<double, double> range_of(const Interventions& data, const std::vector<std::string>& kinds) {
  double lo = 0, hi = 0;
  for (const auto& row : data.rows) {
    if (std::find(kinds.begin(), kinds.end(), row.kind) == kinds.end()) continue;
    for (const double v : {row.change.value, row.change.lo, row.change.hi}) {
      if (!std::isfinite(v)) continue;
      lo = std::min(lo, v);
      hi = std::max(hi, v);
    }
  }
  const double room = hi > lo ? 0.05 * (hi - lo) : 1;
  return {lo - room, hi + room};
}

Panel draw_panel(const Interventions& data, const Measure& measure, const std::vector<std::string>& kinds,
                 std::pair<double, double> range) {
  XyPlot plot({.title = "",
               .x = {.label = "", .kind = AxisKind::kCategories, .categories = kinds},
               .y = {.label = "change of " + measure.words() + (measure.is_fraction() ? " (points)" : ""),
                     .unit = measure.unit(),
                     .lo = range.first,
                     .hi = range.second},
               .width = 460});
  std::vector<int> groups;
  for (const auto& row : data.rows) {
    if (std::find(groups.begin(), groups.end(), row.group) == groups.end()) groups.push_back(row.group);
  }
  plot.reference({0, 0, kNan, kNan}, "c11", "line dot", {.title = "no change"}, "");
  for (const auto& row : data.rows) {
    const auto at = std::find(kinds.begin(), kinds.end(), row.kind);
    if (at == kinds.end()) continue;
    const auto g = static_cast<double>(std::find(groups.begin(), groups.end(), row.group) - groups.begin());
    Estimate e = row.change;
    const double n = static_cast<double>(groups.size());
    e.x = static_cast<double>(at - kinds.begin()) + (g - (n - 1) / 2) * 0.7 / n;
    plot.estimate(e, row.colour,
                  {.title = fmt::format("{}, {}: {}{}", row.setting, row.kind, e.value > 0 ? "+" : "",
                                        measure.show_difference(e.value)),
                   .group = row.group,
                   .value = e.value});
  }
  return plot.finish();
}

std::vector<Panel> draw_panels(const Interventions& data, const Measure& measure) {
  const std::vector<std::string> kinds = drawn_kinds(data);
  const auto range = range_of(data, kinds);
  std::vector<Panel> panels;
  const auto count = static_cast<std::ptrdiff_t>(kinds.size());
  for (std::ptrdiff_t first = 0; first < count; first += kKindsAPanel) {
    const auto last = std::min(count, first + kKindsAPanel);
    panels.push_back(draw_panel(data, measure, {kinds.begin() + first, kinds.begin() + last}, range));
  }
  return panels;
}

}  // namespace

Found<Interventions> collect_interventions(const Inputs& inputs) {
  Interventions data;
  data.split = find_split(inputs);
  for (const Run& run : inputs.runs) {
    const auto* const result = find_result<InterventionResult>(run.analyses);
    if (result != nullptr && data.measure.empty()) data.measure = result->measure;
  }
  if (data.measure != "accuracy" && data.measure != "mse") {
    return Found<Interventions>::none("no run has the analysis interventions (locus analyze makes it)");
  }
  for (std::size_t g = 0; g < inputs.groups.size(); ++g) {
    const Group& group = inputs.groups[g];
    std::map<std::string, Averages> over_runs;
    for (const int r : group.runs) {
      for (const auto& [kind, own] : averages_of(inputs.run(r), data, data.kinds)) {
        over_runs[kind].after.push_back(stats::mean(own.after));
        over_runs[kind].change.push_back(stats::mean(own.change));
      }
    }
    for (const auto& [kind, values] : over_runs) {
      data.rows.push_back({static_cast<int>(g), group.label, group.colour, kind, mean_over_runs(values.after, 0),
                           mean_over_runs(values.change, 0), values.after.size()});
    }
  }
  if (data.rows.empty())
    return Found<Interventions>::none("the analysis interventions of no run has values for all layers at once");
  if (data.kinds.size() > kMaxKinds) data.kinds.resize(kMaxKinds);
  return Found<Interventions>::of(std::move(data));
}

Figure draw_interventions(const Interventions& data) {
  const Measure measure{data.split, data.measure, data.measure == "accuracy"};
  Figure figure{.name = "interventions", .title = "What changing the positions does, nothing retrained"};
  figure.variants.emplace_back();
  figure.variants[0].panels = draw_panels(data, measure);
  Table table;
  table.columns = {"Setting", "Intervention", "Runs", measure.words(), "Change", "95 % from", "to"};
  std::map<int, LegendEntry> legend;
  for (const auto& row : data.rows) {
    const auto difference = [&](double v) { return std::isfinite(v) ? measure.show_difference(v) : "–"; };
    table.rows.push_back({row.setting, row.kind, std::to_string(row.runs), measure.show(row.after.value),
                          difference(row.change.value), difference(row.change.lo), difference(row.change.hi)});
    table.sort_keys.push_back(
        {kNan, kNan, static_cast<double>(row.runs), row.after.value, row.change.value, row.change.lo, row.change.hi});
    legend.emplace(row.group,
                   LegendEntry{.label = row.setting, .css = row.colour, .mark = LegendMark::kPoint, .group = row.group});
  }
  for (const auto& [group, entry] : legend) figure.legend.push_back(entry);
  figure.table = std::move(table);
  figure.caption =
      "Change against the same model untouched; all layers at once. Repeats of a random intervention are averaged within a "
      "run; intervals are "
      "Student's 95 % over 3 runs or more.";
  figure.csv = csv_interventions(data);
  return figure;
}

std::string csv_interventions(const Interventions& data) {
  std::string out = "setting,intervention,runs,after,change,lo,hi\n";
  for (const auto& row : data.rows) {
    const std::string cells[] = {row.setting,
                                 row.kind,
                                 std::to_string(row.runs),
                                 shortest(row.after.value),
                                 shortest(row.change.value),
                                 shortest(row.change.lo),
                                 shortest(row.change.hi)};
    out += csv_row(cells);
  }
  return out;
}

}  // namespace locus::report
