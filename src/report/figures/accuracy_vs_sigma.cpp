#include "report/figures/accuracy_vs_sigma.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/text.h"
#include "io/codec.h"
#include "report/markup.h"
#include "report/verdict.h"

namespace locus::report {
namespace {

constexpr std::size_t kMaxReferences = 10;

AccuracyVsSigma::Setting setting_of(const Inputs& inputs, int group, const std::string& key) {
  const Group& g = inputs.groups[static_cast<std::size_t>(group)];
  AccuracyVsSigma::Setting s{group, g.label, g.colour, {}, {}};
  std::vector<double> values;
  for (const int r : g.runs) {
    const auto it = inputs.run(r).measures.find(key);
    if (it == inputs.run(r).measures.end() || !std::isfinite(it->second)) continue;
    s.runs.push_back({r, inputs.run(r).name, it->second});
    values.push_back(it->second);
  }
  s.mean = mean_over_runs(values, g.sigma.value_or(std::numeric_limits<double>::quiet_NaN()));
  return s;
}

// Baselines stand among the metrics as <split>.<measure>_<name>; they belong to the data, so any run's will do.
std::vector<std::pair<std::string, double>> baselines_of(const Inputs& inputs) {
  const std::string prefix = inputs.measure->key() + "_";
  std::map<std::string, double> found;
  for (const Run& run : inputs.runs) {
    for (const auto& [key, value] : run.measures) {
      if (key.rfind(prefix, 0) != 0 || !std::isfinite(value)) continue;
      std::string name = shorten(key.substr(prefix.size()), 40);
      std::replace(name.begin(), name.end(), '_', ' ');
      found.emplace(name, value);
    }
  }
  return {found.begin(), found.end()};
}

// Baselines far from all runs would press the curve flat: they are named in the caption instead.
bool is_near(const AccuracyVsSigma& data, double value) {
  Range range;
  const auto include = [&](const AccuracyVsSigma::Setting& s) {
    for (const double v : {s.mean.value, s.mean.lo, s.mean.hi}) range.include(v);
    for (const auto& run : s.runs) range.include(run.value);
  };
  for (const auto& series : data.series) std::for_each(series.settings.begin(), series.settings.end(), include);
  std::for_each(data.references.begin(), data.references.end(), include);
  const double span = std::max(range.hi - range.lo, 0.05 * std::abs(range.hi));
  return value > range.lo - 1.5 * span && value < range.hi + 1.5 * span;
}

std::string setting_title(const AccuracyVsSigma& data, const AccuracyVsSigma::Setting& s) {
  std::string text = fmt::format("{}: {}", s.label, data.measure.show(s.mean.value));
  if (std::isfinite(s.mean.lo)) {
    text += fmt::format(" [{}, {}]", data.measure.show(s.mean.lo), data.measure.show(s.mean.hi));
  }
  return text + fmt::format(", n = {}", s.runs.size());
}

void draw_series(const AccuracyVsSigma& data, const AccuracyVsSigma::Series& series, XyPlot& plot) {
  std::vector<Point> points;
  for (const auto& s : series.settings) points.push_back({s.mean.x, s.mean.value});
  if (points.size() > 2) plot.line(points, series.colour, "line", {.title = ""});  // two points make no curve
  for (const auto& s : series.settings) {
    for (const auto& run : s.runs) {
      plot.point({s.mean.x, run.value}, 2.4, series.colour,
                 {.title = fmt::format("{} ({}): {}", s.label, run.label, data.measure.show(run.value)),
                  .run = run.run,
                  .group = s.group,
                  .x = s.mean.x,
                  .value = run.value},
                 Shape::kCircle, true);
    }
    plot.estimate(s.mean, series.colour,
                  {.title = setting_title(data, s), .group = s.group, .x = s.mean.x, .value = s.mean.value});
  }
}

void draw_references(const AccuracyVsSigma& data, XyPlot& plot, Figure& figure) {
  for (const auto& s : data.references) {
    plot.reference(s.mean, s.colour, "line dash", {.title = setting_title(data, s), .group = s.group, .value = s.mean.value},
                   s.label);
    figure.legend.push_back({.label = s.label, .css = s.colour, .mark = LegendMark::kDash, .group = s.group});
  }
  for (const auto& [name, value] : data.baselines) {
    if (!is_near(data, value)) continue;
    const double none = std::numeric_limits<double>::quiet_NaN();
    plot.reference({0, value, none, none}, "c11", "line dot",
                   {.title = fmt::format("baseline {}: {}", baseline_words(name), data.measure.show(value)), .value = value},
                   baseline_words(name));
  }
}

std::string baseline_text(const AccuracyVsSigma& data) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : data.baselines) parts.push_back(baseline_words(name) + " " + data.measure.show(value));
  return join(parts, ", ");
}

// One σ alone is no axis: settings and baselines side by side instead.
Panel draw_bars(const AccuracyVsSigma& data) {
  std::vector<const AccuracyVsSigma::Setting*> settings;
  for (const auto& series : data.series) {
    for (const auto& s : series.settings) settings.push_back(&s);
  }
  for (const auto& s : data.references) settings.push_back(&s);
  PlotSpec spec{
      .title = "",
      .x = {.kind = AxisKind::kCategories},
      .y = {.label = data.measure.label(), .unit = data.measure.unit(), .lo = 0.0, .possible = data.measure.possible()},
      .width = 460,
      .height = 330};
  for (const auto* s : settings) spec.x.categories.push_back(shorten(s->label, 24));
  double largest = 0;
  for (const auto* s : settings) largest = std::max(largest, s->mean.value);
  std::vector<std::pair<std::string, double>> baselines = data.baselines;
  std::erase_if(baselines, [&](const auto& b) { return b.second > 3 * largest; });  // all others would be flat beside it
  for (const auto& [name, value] : baselines) spec.x.categories.push_back(shorten(baseline_words(name), 24));
  XyPlot plot(spec);
  double x = 0;
  for (const auto* s : settings) {
    const Estimate mean{x++, s->mean.value, s->mean.lo, s->mean.hi};
    plot.bar(mean, 0.7, s->colour, {.title = setting_title(data, *s), .group = s->group, .value = s->mean.value});
  }
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [name, value] : baselines)
    plot.bar({x++, value, none, none}, 0.7, "c11",
             {.title = fmt::format("baseline {}: {}", baseline_words(name), data.measure.show(value)), .value = value});
  return plot.finish();
}

}  // namespace

Found<AccuracyVsSigma> collect_accuracy_vs_sigma(const Inputs& inputs) {
  if (!inputs.measure) return Found<AccuracyVsSigma>::none("no run has an evaluated measure");
  AccuracyVsSigma data;
  data.measure = *inputs.measure;
  std::map<std::string, AccuracyVsSigma::Series> series;
  for (std::size_t i = 0; i < inputs.groups.size(); ++i) {
    const Group& g = inputs.groups[i];
    AccuracyVsSigma::Setting s = setting_of(inputs, static_cast<int>(i), data.measure.key());
    if (s.runs.empty()) continue;
    if (g.sigma) {
      series[g.others].settings.push_back(std::move(s));
    } else {
      data.references.push_back(std::move(s));
    }
  }
  int next = 0;
  for (auto& [others, s] : series) {
    s.others = others;
    s.colour = category_class(next++);
    data.series.push_back(std::move(s));
  }
  if (data.series.empty() && data.references.empty()) {
    return Found<AccuracyVsSigma>::none("no run has a finite " + data.measure.words());
  }
  if (data.references.size() > kMaxReferences) {
    std::stable_sort(data.references.begin(), data.references.end(), [&](const auto& a, const auto& b) {
      return data.measure.higher_is_better ? a.mean.value > b.mean.value : a.mean.value < b.mean.value;
    });
    data.references.resize(kMaxReferences);
  }
  data.baselines = baselines_of(inputs);
  return Found<AccuracyVsSigma>::of(std::move(data));
}

Figure draw_accuracy_vs_sigma(const AccuracyVsSigma& data) {
  std::string title = data.measure.words();
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  Figure figure{.name = "accuracy_vs_sigma", .title = title + " against σ"};
  std::set<double> sigmas;
  for (const auto& series : data.series) {
    for (const auto& s : series.settings) sigmas.insert(s.mean.x);
  }
  if (sigmas.size() < 2) {
    figure.title = title + (data.baselines.empty() ? "" : ", beside what needs no model");
    figure.variants.emplace_back();
    figure.variants[0].panels.push_back(draw_bars(data));
    figure.caption = "Means over the runs of a setting, with Student's 95 % interval where there are three runs or more.";
    if (!data.baselines.empty()) figure.caption += " Grey: baselines on the same data (" + baseline_text(data) + ").";
    if (!data.measure.higher_is_better) figure.caption += " Low is good.";
    figure.csv = csv_accuracy_vs_sigma(data);
    return figure;
  }
  const bool log_axis = !sigmas.empty() && *sigmas.begin() > 0;
  const bool labels = !data.references.empty() || !data.baselines.empty();
  PlotSpec spec{.title = "",
                .x = {.label = "σ of the initial encoding" + std::string(log_axis ? " (log scale)" : ""),
                      .kind = log_axis ? AxisKind::kLog : AxisKind::kLinear,
                      .at = {sigmas.begin(), sigmas.end()}},
                .y = {.label = data.measure.label(), .unit = data.measure.unit(), .possible = data.measure.possible()},
                .width = 460,
                .height = 330,
                .right_margin = labels ? 96.0 : 12.0};
  XyPlot plot(spec);
  draw_references(data, plot, figure);
  std::size_t low = SIZE_MAX, high = 0;
  for (const auto& series : data.series) {
    draw_series(data, series, plot);
    if (!series.others.empty() || data.series.size() > 1) {
      figure.legend.push_back({.label = series.others.empty() ? "learned" : series.others, .css = series.colour});
    }
    for (const auto& s : series.settings) low = std::min(low, s.runs.size()), high = std::max(high, s.runs.size());
  }
  figure.variants.emplace_back();
  figure.variants[0].panels.push_back(plot.finish());
  figure.caption = data.series.empty() ? "No learned encodings: lines are means over runs. "
                                       : fmt::format(
                                             "Large dots: mean over seeds (n = {} per σ); whiskers: Student's 95 % "
                                             "interval of the mean (3 runs or more){}; small dots: single runs. ",
                                             low == high ? fmt::format("{}", low) : fmt::format("{}–{}", low, high),
                                             high < 2 ? ", absent with one seed" : "");
  if (!data.references.empty())
    figure.caption += "Dashed lines with bands: encodings without σ, mean and interval likewise. ";
  if (!data.baselines.empty())
    figure.caption +=
        "Dotted lines: baselines on the same data (" + baseline_text(data) + "); those far from all runs are not drawn.";
  figure.csv = csv_accuracy_vs_sigma(data);
  return figure;
}

std::string csv_accuracy_vs_sigma(const AccuracyVsSigma& data) {
  std::string out = "setting,sigma,run,value,n,mean,lo,hi\n";
  const auto rows = [&](const AccuracyVsSigma::Setting& s) {
    for (const auto& run : s.runs) {
      const std::string cells[] = {s.label,
                                   shortest(s.mean.x),
                                   run.label,
                                   shortest(run.value),
                                   std::to_string(s.runs.size()),
                                   shortest(s.mean.value),
                                   shortest(s.mean.lo),
                                   shortest(s.mean.hi)};
      out += csv_row(cells);
    }
  };
  for (const auto& series : data.series) std::for_each(series.settings.begin(), series.settings.end(), rows);
  std::for_each(data.references.begin(), data.references.end(), rows);
  for (const auto& [name, value] : data.baselines) {
    const std::string cells[] = {"baseline " + name, "nan", "", shortest(value), "", "", "", ""};
    out += csv_row(cells);
  }
  return out;
}

}  // namespace locus::report
