#include "report/figures/interventions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "report/markup.h"
#include "stats/descriptive.h"

namespace locus::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMaxKinds = 16;

struct Averages {
  std::vector<double> after, change;
};

// Those a reader asks for first; the drawing shows eight.
constexpr const char* kFirst[] = {"true2d",   "true2d permuted", "shuffled",   "shuffled by layer",
                                  "averaged", "zeroed",          "scaled 0.5", "scaled 2"};

std::string kind_of(const nlohmann::json& row) {
  std::string kind = shorten(row_text(row, "kind"), 40);
  std::replace(kind.begin(), kind.end(), '_', ' ');
  const double amount = row_number(row, "amount");
  return std::isfinite(amount) ? fmt::format("{} {}", kind, pretty(amount, 3)) : kind;
}

// Per kind, the mean over repeats of interventions on all layers and the split wanted; single lesions are too many to list.
std::map<std::string, Averages> averages_of(const Run& run, const Interventions& data, std::vector<std::string>& kinds) {
  std::map<std::string, Averages> found;
  for (const nlohmann::json* row : analysis_rows(run, "interventions", "rows", {{"split", data.split}})) {
    const double layer = row_number(*row, "layer"), token = row_number(*row, "token");
    if ((std::isfinite(layer) && layer >= 0) || (std::isfinite(token) && token >= 0)) continue;
    const double after = row_number(*row, data.measure.c_str());
    if (!std::isfinite(after)) continue;
    const std::string kind = kind_of(*row);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
    found[kind].after.push_back(after);
    const double change = row_number(*row, "change");
    found[kind].change.push_back(std::isfinite(change) ? change : 0);
  }
  return found;
}

std::string find_split(const Inputs& inputs) {
  std::vector<std::string> splits;
  for (const Run& run : inputs.runs) {
    for (const nlohmann::json* row : analysis_rows(run, "interventions", "rows", {})) {
      const std::string split = row_text(*row, "split");
      if (std::find(splits.begin(), splits.end(), split) == splits.end()) splits.push_back(split);
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
    const auto it = run.analyses.find("interventions");
    if (it != run.analyses.end() && data.measure.empty()) data.measure = row_text(it->second, "measure");
  }
  if (data.measure != "accuracy" && data.measure != "mse") {
    return Found<Interventions>::none("no run has analysis/interventions.json (locus analyze makes it)");
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
    return Found<Interventions>::none("analysis/interventions.json of no run has values for all layers at once");
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
                                 csv_number(row.after.value),
                                 csv_number(row.change.value),
                                 csv_number(row.change.lo),
                                 csv_number(row.change.hi)};
    out += csv_row(cells);
  }
  return out;
}

}  // namespace locus::report
