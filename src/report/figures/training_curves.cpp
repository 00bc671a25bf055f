#include "report/figures/training_curves.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/text.h"
#include "io/codec.h"
#include "report/markup.h"

namespace locus::report {
namespace {

constexpr std::size_t kMaxLines = 14;
constexpr std::size_t kMaxSingles = 40;

TrainingCurves::Line mean_line(const Inputs& inputs, int group, const std::string& metric) {
  const Group& g = inputs.groups[static_cast<std::size_t>(group)];
  std::map<double, std::vector<double>> by_epoch;
  for (const int r : g.runs) {
    const Curves& curves = inputs.run(r).curves;
    const auto it = curves.series.find(metric);
    if (it == curves.series.end()) continue;
    for (std::size_t i = 0; i < curves.epochs.size(); ++i) {
      if (std::isfinite(it->second[i]) && std::isfinite(curves.epochs[i]))
        by_epoch[curves.epochs[i]].push_back(it->second[i]);
    }
  }
  TrainingCurves::Line line{group, g.label, g.colour, {}, {}};
  std::size_t most = 0;
  for (const auto& [epoch, values] : by_epoch) most = std::max(most, values.size());
  for (const auto& [epoch, values] : by_epoch) {
    // Where runs ended at unlike epochs a mean over the few that go on would jump: keep epochs most runs share.
    if (2 * values.size() < most) continue;
    line.mean.push_back(mean_over_runs(values, epoch));
    line.runs.push_back(values.size());
  }
  return line;
}

// Ticks at every epoch when they are few: there is no epoch 1.2.
std::vector<double> whole_epochs(const TrainingCurves::View& view) {
  Range range;
  for (const auto& line : view.lines) {
    for (const Estimate& e : line.mean) range.include(e.x);
  }
  std::vector<double> at;
  if (range.empty || range.hi - range.lo > 8) return at;
  for (double e = std::ceil(range.lo); e <= range.hi; ++e) at.push_back(e);
  return at;
}

void add_singles(const Inputs& inputs, const Group& g, const TrainingCurves::Line& line, TrainingCurves::View& view) {
  if (g.runs.size() < 2) return;
  for (const int r : g.runs) {
    const Curves& curves = inputs.run(r).curves;
    const auto it = curves.series.find(view.metric);
    if (it == curves.series.end()) continue;
    TrainingCurves::Single single{line.group, r, inputs.run(r).name, line.colour, {}};
    for (std::size_t i = 0; i < curves.epochs.size(); ++i) single.points.push_back({curves.epochs[i], it->second[i]});
    view.singles.push_back(std::move(single));
  }
}

}  // namespace

Found<TrainingCurves> collect_training_curves(const Inputs& inputs) {
  if (!inputs.measure) return Found<TrainingCurves>::none("no run has an evaluated measure");
  TrainingCurves data;
  data.settings = inputs.groups.size();
  const std::vector<int> groups = representative_groups(inputs, kMaxLines);
  data.shown = groups.size();
  std::size_t runs = 0;
  for (const int g : groups) runs += inputs.groups[static_cast<std::size_t>(g)].runs.size();
  const Measure& m = *inputs.measure;
  std::vector<TrainingCurves::View> views = {{"train.loss", "Training loss", true, false, {}, {}}};
  if (m.is_fraction()) views.push_back({"train.accuracy", "Training accuracy (%)", false, true, {}, {}});
  if (m.split != "train") {
    std::string title = m.label();
    title[0] = static_cast<char>(title[0] - (title[0] >= 'a' && title[0] <= 'z' ? 32 : 0));
    views.push_back({m.key(), title, false, m.is_fraction(), {}, {}});
  }
  for (TrainingCurves::View& view : views) {
    std::size_t points = 0;
    for (const int g : groups) {
      TrainingCurves::Line line = mean_line(inputs, g, view.metric);
      points = std::max(points, line.mean.size());
      if (runs <= kMaxSingles) add_singles(inputs, inputs.groups[static_cast<std::size_t>(g)], line, view);
      if (!line.mean.empty()) view.lines.push_back(std::move(line));
    }
    if (points >= 2) data.views.push_back(std::move(view));
  }
  if (data.views.empty()) return Found<TrainingCurves>::none("every run has fewer than two evaluations");
  return Found<TrainingCurves>::of(std::move(data));
}

Figure draw_training_curves(const TrainingCurves& data) {
  Figure figure{.name = "training_curves", .title = "Training curves"};
  figure.variants.emplace_back();
  for (const TrainingCurves::View& view : data.views) {
    PlotSpec spec{.title = view.title,
                  .x = {.label = "epoch"},
                  .y = {.label = "",
                        .kind = view.log_scale ? AxisKind::kLog : AxisKind::kLinear,
                        .unit = view.fraction ? AxisUnit::kPercent : AxisUnit::kPlain}};
    spec.x.at = whole_epochs(view);
    spec.height = 290;
    if (view.fraction) spec.y.possible = {0, 1};
    XyPlot plot(spec);
    const auto show = [&](double v) { return view.fraction ? percent(v) : pretty(v, 4); };
    for (const auto& single : view.singles) {
      plot.line(single.points, single.colour, "thin", {.title = single.label, .run = single.run, .group = single.group});
    }
    for (const auto& line : view.lines) {
      plot.band(line.mean, line.colour, {.title = "", .group = line.group});
      std::vector<Point> points;
      for (const Estimate& e : line.mean) points.push_back({e.x, e.value});
      const Estimate& last = line.mean.back();
      plot.line(points, line.colour, "line",
                {.title = fmt::format("{}: {} at epoch {} (n = {})", line.label, show(last.value), pretty(last.x, 6),
                                      line.runs.back()),
                 .group = line.group,
                 .value = last.value});
    }
    figure.variants[0].panels.push_back(plot.finish());
  }
  for (const auto& line : data.views.back().lines) {
    figure.legend.push_back({.label = line.label, .css = line.colour, .group = line.group});
  }
  std::size_t low = SIZE_MAX, high = 0;
  for (const auto& line : data.views.back().lines) {
    for (const std::size_t n : line.runs) {
      low = std::min(low, n);
      high = std::max(high, n);
    }
  }
  figure.caption = fmt::format(
      "Thick lines: mean over runs (n = {} per setting); bands: Student's 95 % interval of the mean (3 runs or more)",
      low == high ? fmt::format("{}", low) : fmt::format("{}–{}", low, high));
  figure.caption += high < 2 ? ", absent with one run. " : ". ";
  if (!data.views[0].singles.empty()) figure.caption += "Thin lines: single runs. ";
  if (data.shown < data.settings) {
    figure.caption += fmt::format("{} of {} settings are drawn: best, worst and evenly between.", data.shown, data.settings);
  }
  figure.csv = csv_training_curves(data);
  return figure;
}

std::string csv_training_curves(const TrainingCurves& data) {
  std::string out = "metric,setting,epoch,runs,mean,lo,hi\n";
  for (const auto& view : data.views) {
    for (const auto& line : view.lines) {
      for (std::size_t i = 0; i < line.mean.size(); ++i) {
        const Estimate& e = line.mean[i];
        const std::string cells[] = {view.metric,       line.label,     shortest(e.x), std::to_string(line.runs[i]),
                                     shortest(e.value), shortest(e.lo), shortest(e.hi)};
        out += csv_row(cells);
      }
    }
  }
  return out;
}

}  // namespace locus::report
