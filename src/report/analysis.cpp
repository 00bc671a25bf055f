#include "report/analysis.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/nan.h"
#include "core/text.h"
#include "io/codec.h"
#include "report/markup.h"

namespace locus::report {
namespace {

std::set<double> sigmas_of(const SigmaPanel& panel) {
  std::set<double> sigmas;
  for (const SigmaLine& line : panel.lines) {
    for (const auto& s : line.settings) {
      if (std::isfinite(s.mean.x)) sigmas.insert(s.mean.x);
    }
  }
  return sigmas;
}

Mark mark_of(const SigmaLine& line, const SigmaLine::Setting& s) {
  std::string title = fmt::format("{}, {}: {}", s.label, line.label, pretty(s.mean.value, 3));
  if (std::isfinite(s.mean.lo)) title += fmt::format(" [{}, {}]", pretty(s.mean.lo, 3), pretty(s.mean.hi, 3));
  return {.title = title + fmt::format(", n = {}", s.runs.size()), .group = s.group, .value = s.mean.value};
}

void draw_line(XyPlot& plot, const SigmaLine& line) {
  std::vector<Point> points;
  for (const auto& s : line.settings) {
    if (std::isfinite(s.mean.x)) points.push_back({s.mean.x, s.mean.value});
  }
  std::sort(points.begin(), points.end(), [](Point a, Point b) { return a.x < b.x; });
  plot.line(points, line.colour, line.dashed ? "line dash" : "line", {});
  for (const auto& s : line.settings) {
    if (!std::isfinite(s.mean.x)) {
      if (line.references) plot.reference(s.mean, "c11", "line dash", mark_of(line, s), s.label);
      continue;
    }
    for (const auto& [run, value] : s.runs) {
      if (line.dashed) break;
      plot.point({s.mean.x, value}, 2.2, line.colour,
                 {.title = fmt::format("{}, {}: {}", s.label, line.label, pretty(value, 3)),
                  .run = run,
                  .group = s.group,
                  .x = s.mean.x,
                  .value = value},
                 Shape::kCircle, true);
    }
    plot.estimate(s.mean, line.colour, mark_of(line, s), line.dashed ? Shape::kSquare : Shape::kCircle);
  }
}

// Of one σ there is no curve: what would be its lines stand side by side.
Panel draw_one_sigma(const SigmaPanel& panel) {
  PlotSpec spec{.title = panel.title, .x = {.kind = AxisKind::kCategories}, .y = {.label = panel.y_label}};
  std::vector<SigmaLine> lines;
  for (SigmaLine line : panel.lines) {
    std::erase_if(line.settings, [](const SigmaLine::Setting& s) { return !std::isfinite(s.mean.x); });
    if (line.settings.empty()) continue;
    for (SigmaLine::Setting& s : line.settings) s.mean.x = static_cast<double>(lines.size());
    spec.x.categories.push_back(line.label);
    lines.push_back(std::move(line));
  }
  XyPlot plot(spec);
  for (const SigmaLine& line : lines) draw_line(plot, line);
  return plot.finish();
}

}  // namespace

SigmaLine collect_line(const Inputs& inputs, const std::string& label, const std::string& colour, const RunNumber& number) {
  SigmaLine line{label, colour, false, false, {}};
  for (std::size_t g = 0; g < inputs.groups.size(); ++g) {
    const Group& group = inputs.groups[g];
    SigmaLine::Setting setting{static_cast<int>(g), group.label, {}, {}};
    std::vector<double> values;
    for (const int r : group.runs) {
      const double v = number(inputs.run(r));
      if (!std::isfinite(v)) continue;
      setting.runs.push_back({r, v});
      values.push_back(v);
    }
    if (values.empty()) continue;
    setting.mean = mean_over_runs(values, group.sigma.value_or(kNan));
    line.settings.push_back(std::move(setting));
  }
  return line;
}

bool has_values(const SigmaPanel& panel) {
  return std::any_of(panel.lines.begin(), panel.lines.end(), [](const SigmaLine& l) { return !l.settings.empty(); });
}

Panel draw_sigma_panel(const SigmaPanel& panel) {
  const std::set<double> sigmas = sigmas_of(panel);
  const bool log_axis = !sigmas.empty() && *sigmas.begin() > 0;
  bool labels = false;
  for (const SigmaLine& line : panel.lines) {
    for (const auto& s : line.settings) labels = labels || (line.references && !std::isfinite(s.mean.x));
  }
  if (sigmas.size() == 1 && !labels) return draw_one_sigma(panel);
  XyPlot plot({.title = panel.title,
               .x = {.label = "σ of the initial encoding",
                     .kind = log_axis ? AxisKind::kLog : AxisKind::kLinear,
                     .at = {sigmas.begin(), sigmas.end()}},
               .y = {.label = panel.y_label},
               .right_margin = labels ? 96.0 : 12.0});
  for (const SigmaLine& line : panel.lines) draw_line(plot, line);
  return plot.finish();
}

std::string csv_sigma_panels(const std::vector<SigmaPanel>& panels, const std::string& head, const std::string& prefix) {
  std::string out = head.empty() ? "" : head + "measure,line,setting,sigma,run,value\n";
  for (const SigmaPanel& panel : panels) {
    for (const SigmaLine& line : panel.lines) {
      for (const auto& s : line.settings) {
        for (const auto& [run, value] : s.runs) {
          const std::string cells[] = {panel.title,        line.label,          s.label,
                                       shortest(s.mean.x), std::to_string(run), shortest(value)};
          out += prefix + csv_row(cells);
        }
      }
    }
  }
  return out;
}

std::string runs_text(const std::vector<SigmaPanel>& panels) {
  std::size_t low = SIZE_MAX, high = 0;
  for (const SigmaPanel& panel : panels) {
    for (const SigmaLine& line : panel.lines) {
      for (const auto& s : line.settings) {
        low = std::min(low, s.runs.size());
        high = std::max(high, s.runs.size());
      }
    }
  }
  if (high == 0) return "n = 0";
  return low == high ? fmt::format("n = {} per setting", low) : fmt::format("n = {}–{} per setting", low, high);
}

}  // namespace locus::report
