#include "report/figures/agreement.h"

#include <fmt/core.h>

#include <cmath>
#include <map>

#include "analyze/results/attention.h"
#include "core/nan.h"
#include "core/text.h"
#include "io/codec.h"
#include "report/markup.h"
#include "report/rank_test.h"
#include "stats/descriptive.h"

namespace locus::report {
namespace {

double agreement_of(const Run& run, const std::string& model, const std::string& form) {
  for (const char* reference : {"example", "overall"}) {
    const auto fits = [&](const AttentionAgreementRow& row) {
      return row.model == model && row.map == "mean" && row.form == form && row.reference == reference;
    };
    const double v = number_of(&AttentionResult::agreement, &AttentionAgreementRow::cosine, fits)(run);
    if (std::isfinite(v)) return v;
  }
  return kNan;
}

Agreement::View view_of(const Inputs& inputs, const std::string& form) {
  Agreement::View view;
  view.form = form;
  std::vector<double> x, y, floor;
  std::map<int, std::pair<std::vector<double>, std::vector<double>>> groups;
  for (std::size_t r = 0; r < inputs.runs.size(); ++r) {
    const Run& run = inputs.runs[r];
    if (run.group < 0) continue;
    const auto outcome = run.measures.find(inputs.measure->key());
    const double value = agreement_of(run, "final", form);
    const double before = agreement_of(run, "init", form);
    if (std::isfinite(before)) floor.push_back(before);
    if (outcome == run.measures.end() || !std::isfinite(outcome->second) || !std::isfinite(value)) continue;
    const Group& g = inputs.groups[static_cast<std::size_t>(run.group)];
    view.dots.push_back(
        {static_cast<int>(r), run.group, fmt::format("{} ({})", g.label, run.name), g.colour, value, outcome->second});
    x.push_back(value);
    y.push_back(outcome->second);
    if (g.sigma) {
      groups[run.group].first.push_back(value);
      groups[run.group].second.push_back(outcome->second);
    }
  }
  std::vector<double> mean_x, mean_y;
  for (const auto& [g, values] : groups) {
    mean_x.push_back(stats::mean(values.first));
    mean_y.push_back(stats::mean(values.second));
  }
  view.over_runs = rank_correlation(x, y);
  view.over_means = rank_correlation(mean_x, mean_y);
  view.floor = floor.empty() ? kNan : stats::mean(floor);
  return view;
}

}  // namespace

Found<Agreement> collect_agreement(const Inputs& inputs) {
  Agreement data;
  if (!inputs.measure) return Found<Agreement>::none("no run has an evaluated measure");
  data.measure = *inputs.measure;
  for (const char* form : {"plain", "centred"}) {
    Agreement::View view = view_of(inputs, form);
    if (!view.dots.empty()) data.views.push_back(std::move(view));
  }
  if (data.views.empty()) {
    return Found<Agreement>::none(
        "no run has the analysis attention with agreement with reference runs (locus analyze DIR --reference RUN makes it; "
        "RUN is a 2-D sinusoid run)");
  }
  return Found<Agreement>::of(std::move(data));
}

Figure draw_agreement(const Agreement& data) {
  Figure figure{.name = "agreement", .title = "Agreement of attention against generalisation"};
  figure.variants.emplace_back();
  std::map<int, LegendEntry> legend;
  for (const Agreement::View& view : data.views) {
    const std::string rho = std::isfinite(view.over_runs.r) ? fmt::format("ρ = {}, {}, n = {}", r_text(view.over_runs.r),
                                                                          p_text(view.over_runs.p), view.dots.size())
                                                            : fmt::format("too few runs for ρ (n = {})", view.dots.size());
    XyPlot plot({.title = fmt::format("{}: {}", view.form == "plain" ? "Plain maps" : "Minus 1/T", rho),
                 .x = {.label = "cosine with the reference model's maps"},
                 .y = {.label = data.measure.label(), .unit = data.measure.unit()}});
    if (std::isfinite(view.floor)) {
      Range range;
      for (const auto& dot : view.dots) range.include(dot.y);
      plot.line({{view.floor, range.lo}, {view.floor, range.hi}}, "c11", "line dot",
                {.title = fmt::format("untrained models: {}", pretty(view.floor, 3)), .value = view.floor});
    }
    for (const auto& dot : view.dots) {
      plot.point({dot.x, dot.y}, 4, dot.colour,
                 {.title = fmt::format("{}: agreement {}, {}", dot.label, pretty(dot.x, 3), data.measure.show(dot.y)),
                  .run = dot.run,
                  .group = dot.group,
                  .x = dot.x,
                  .value = dot.y});
      legend.emplace(dot.group, LegendEntry{.label = dot.label.substr(0, dot.label.rfind(" (")),
                                            .css = dot.colour,
                                            .mark = LegendMark::kPoint,
                                            .group = dot.group});
    }
    figure.variants[0].panels.push_back(plot.finish());
  }
  for (const auto& [group, entry] : legend) {
    if (figure.legend.size() < 24) figure.legend.push_back(entry);
  }
  const stats::Correlation& means = data.views[0].over_means;
  figure.caption = "One dot a run. ρ: Spearman's rank correlation over all runs. ";
  if (std::isfinite(means.r)) {
    figure.caption += fmt::format("Over the means of the {} values of σ ρ = {}: so few points give a high ρ easily. ",
                                  means.n, r_text(means.r));
  }
  figure.caption += "Dotted: mean agreement of untrained models, the floor.";
  figure.csv = csv_agreement(data);
  return figure;
}

std::string csv_agreement(const Agreement& data) {
  std::string out = "form,run,setting,agreement,outcome\n";
  for (const Agreement::View& view : data.views) {
    for (const auto& dot : view.dots) {
      const std::string cells[] = {view.form, std::to_string(dot.run), dot.label, shortest(dot.x), shortest(dot.y)};
      out += csv_row(cells);
    }
  }
  return out;
}

}  // namespace locus::report
