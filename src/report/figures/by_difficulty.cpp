#include "report/figures/by_difficulty.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/text.h"
#include "io/codec.h"
#include "report/markup.h"
#include "report/theme.h"

namespace locus::report {
namespace {

constexpr std::size_t kMaxConditions = 8;
constexpr std::size_t kMaxCategories = 8;

std::vector<std::string> find_conditions(const Inputs& inputs, const std::string& prefix) {
  std::set<std::string> found;
  for (const Run& run : inputs.runs) {
    for (const auto& [key, value] : run.measures) {
      if (run.usable() && key.rfind(prefix, 0) == 0 && key.find('.', prefix.size()) == std::string::npos)
        found.insert(key.substr(prefix.size()));
    }
  }
  std::vector<std::string> conditions;
  for (const char* known : {"binary", "ternary", "quaternary"}) {
    if (found.erase(known) != 0) conditions.push_back(known);
  }
  conditions.insert(conditions.end(), found.begin(), found.end());
  if (conditions.size() > kMaxConditions) conditions.resize(kMaxConditions);
  return conditions;
}

Mark mark_of(const ByDifficulty& data, const ByDifficulty::Cell& cell) {
  std::string title =
      fmt::format("{}, {}: {}", cell.setting, data.conditions[cell.condition], data.measure.show(cell.mean.value));
  if (std::isfinite(cell.mean.lo))
    title += fmt::format(" [{}, {}]", data.measure.show(cell.mean.lo), data.measure.show(cell.mean.hi));
  return {
      .title = title + fmt::format(", n = {}", cell.runs), .group = cell.group, .x = std::nullopt, .value = cell.mean.value};
}

Panel sigma_panel(const ByDifficulty& data) {
  std::set<double> sigmas;
  for (const auto& c : data.cells) {
    if (std::isfinite(c.mean.x)) sigmas.insert(c.mean.x);
  }
  const bool log_axis = *sigmas.begin() > 0;
  XyPlot plot({.title = "Learned encodings",
               .x = {.label = "σ of the initial encoding",
                     .kind = log_axis ? AxisKind::kLog : AxisKind::kLinear,
                     .at = {sigmas.begin(), sigmas.end()}},
               .y = {.label = data.measure.label(), .unit = data.measure.unit(), .possible = data.measure.possible()}});
  for (std::size_t k = 0; k < data.conditions.size(); ++k) {
    const std::string colour = category_class(static_cast<int>(k));
    std::map<double, Point> points;
    for (const auto& c : data.cells) {
      if (c.condition == k && std::isfinite(c.mean.x)) points.emplace(c.mean.x, Point{c.mean.x, c.mean.value});
    }
    std::vector<Point> line;
    for (const auto& [sigma, p] : points) line.push_back(p);
    plot.line(line, colour, "line", {});
    for (const auto& c : data.cells) {
      if (c.condition == k && std::isfinite(c.mean.x))
        plot.estimate(c.mean, colour, mark_of(data, c), category_shape(static_cast<int>(k)));
    }
  }
  return plot.finish();
}

Panel category_panel(const ByDifficulty& data, bool all) {
  std::vector<std::string> settings;
  for (const auto& c : data.cells) {
    const bool wanted = all || !std::isfinite(c.mean.x);
    if (wanted && std::find(settings.begin(), settings.end(), c.setting) == settings.end()) settings.push_back(c.setting);
  }
  if (settings.size() > kMaxCategories) settings.resize(kMaxCategories);
  XyPlot plot({.title = all ? "All encodings" : "Other encodings",
               .x = {.label = "", .kind = AxisKind::kCategories, .categories = settings},
               .y = {.label = data.measure.label(), .unit = data.measure.unit(), .possible = data.measure.possible()}});
  const auto n = static_cast<double>(data.conditions.size());
  for (const auto& c : data.cells) {
    const auto at = std::find(settings.begin(), settings.end(), c.setting);
    if (at == settings.end() || (!all && std::isfinite(c.mean.x))) continue;
    Estimate e = c.mean;
    e.x = static_cast<double>(at - settings.begin()) + (static_cast<double>(c.condition) - (n - 1) / 2) * 0.6 / n;
    plot.estimate(e, category_class(static_cast<int>(c.condition)), mark_of(data, c),
                  category_shape(static_cast<int>(c.condition)));
  }
  return plot.finish();
}

}  // namespace

Found<ByDifficulty> collect_by_difficulty(const Inputs& inputs) {
  if (!inputs.measure) return Found<ByDifficulty>::none("no run has an evaluated measure");
  ByDifficulty data;
  data.measure = *inputs.measure;
  data.conditions = find_conditions(inputs, data.measure.key() + ".");
  if (data.conditions.empty())
    return Found<ByDifficulty>::none("no run has values of " + data.measure.key() +
                                     ".<condition>: the data have no conditions");
  for (std::size_t g = 0; g < inputs.groups.size(); ++g) {
    for (std::size_t k = 0; k < data.conditions.size(); ++k) {
      const std::vector<double> values = values_of(inputs, inputs.groups[g], data.measure.key() + "." + data.conditions[k]);
      if (values.empty()) continue;
      const double x = inputs.groups[g].sigma.value_or(std::numeric_limits<double>::quiet_NaN());
      data.cells.push_back({static_cast<int>(g), inputs.groups[g].label, k, mean_over_runs(values, x), values.size()});
    }
  }
  if (data.cells.empty()) return Found<ByDifficulty>::none("no condition has a finite value");
  return Found<ByDifficulty>::of(std::move(data));
}

Figure draw_by_difficulty(const ByDifficulty& data) {
  std::string title = data.measure.words() + " by difficulty";
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  Figure figure{.name = "by_difficulty", .title = title};
  std::set<double> sigmas;
  bool others = false;
  std::size_t low = SIZE_MAX, high = 0;
  for (const auto& c : data.cells) {
    if (std::isfinite(c.mean.x)) sigmas.insert(c.mean.x);
    others = others || !std::isfinite(c.mean.x);
    low = std::min(low, c.runs);
    high = std::max(high, c.runs);
  }
  Variant variant;
  const bool curve = sigmas.size() >= 2;
  if (curve) variant.panels.push_back(sigma_panel(data));
  if (others || !curve) variant.panels.push_back(category_panel(data, !curve));
  figure.variants.push_back(std::move(variant));
  for (std::size_t k = 0; k < data.conditions.size(); ++k) {
    figure.legend.push_back({.label = data.conditions[k],
                             .css = category_class(static_cast<int>(k)),
                             .mark = LegendMark::kPoint,
                             .shape = category_shape(static_cast<int>(k))});
  }
  figure.caption = fmt::format("Means over runs (n = {} per setting) with Student's 95 % interval (3 runs or more){}.",
                               low == high ? fmt::format("{}", low) : fmt::format("{}–{}", low, high),
                               high < 2 ? ", absent with one run" : "");
  figure.csv = csv_by_difficulty(data);
  return figure;
}

std::string csv_by_difficulty(const ByDifficulty& data) {
  std::string out = "setting,sigma,condition,runs,mean,lo,hi\n";
  for (const auto& c : data.cells) {
    const std::string cells[] = {c.setting,
                                 shortest(c.mean.x),
                                 data.conditions[c.condition],
                                 std::to_string(c.runs),
                                 shortest(c.mean.value),
                                 shortest(c.mean.lo),
                                 shortest(c.mean.hi)};
    out += csv_row(cells);
  }
  return out;
}

}  // namespace locus::report
