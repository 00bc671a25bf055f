#include "report/figures/modules.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analyze/results/networks.h"
#include "core/text.h"
#include "io/codec.h"
#include "report/markup.h"

namespace locus::report {
namespace {

constexpr std::size_t kMaxSettings = 9;

struct NetworkField {
  const char* name;
  const char* title;
  double NetworkRow::*value;
  double NetworkRow::*p;
};
constexpr NetworkField kFields[] = {
    {"q_signed", "Modularity Q (signed) on the labels", &NetworkRow::q_signed, &NetworkRow::q_signed_p},
    {"difference", "Within minus between (cosine)", &NetworkRow::difference, &NetworkRow::difference_p},
    {"segregation", "Segregation (within − between) / within", &NetworkRow::segregation, &NetworkRow::difference_p},
    {"adjusted_rand", "Communities against labels (ARI)", &NetworkRow::adjusted_rand, &NetworkRow::adjusted_rand_p}};

void add_bar(const Inputs& inputs, int group, const NetworkField& field, const std::string& stage, int layer,
             Modules::Layer& out) {
  const Group& g = inputs.groups[static_cast<std::size_t>(group)];
  const auto fits = [&](const NetworkRow& row) { return row.model == stage && row.code == "centred" && row.layer == layer; };
  const RunNumber value_of = number_of(&NetworkResult::rows, field.value, fits);
  const RunNumber p_of = number_of(&NetworkResult::rows, field.p, fits);
  std::vector<double> values;
  double p = std::numeric_limits<double>::quiet_NaN();
  for (const int r : g.runs) {
    const double v = value_of(inputs.run(r));
    if (!std::isfinite(v)) continue;
    values.push_back(v);
    const double own = p_of(inputs.run(r));
    if (std::isfinite(own)) p = std::isfinite(p) ? std::max(p, own) : own;
  }
  if (values.empty()) return;
  out.bars.push_back(
      {group, g.label, field.name, stage == "init" ? "untrained" : "trained", mean_over_runs(values, 0), values.size(), p});
}

std::string short_setting(const std::string& label) {
  return label.rfind("learned σ ", 0) == 0 ? "σ " + label.substr(std::string("learned σ ").size()) : label;
}

Panel draw_panel(const Modules& data, const Modules::Layer& layer, const std::string& measure) {
  std::vector<std::string> categories;
  for (const std::string& s : data.settings) categories.push_back(short_setting(s));
  XyPlot plot({.title = module_measure_title(measure),
               .x = {.label = "", .kind = AxisKind::kCategories, .categories = categories},
               .y = {.label = ""}});
  for (const Modules::Bar& bar : layer.bars) {
    const auto at = std::find(data.settings.begin(), data.settings.end(), bar.setting);
    if (bar.measure != measure || at == data.settings.end()) continue;
    Estimate e = bar.mean;
    const bool trained = bar.stage == "trained";
    e.x = static_cast<double>(at - data.settings.begin()) + (trained ? 0.19 : -0.19);
    std::string title = fmt::format("{}, {}: {}", bar.setting, bar.stage, pretty(e.value, 3));
    if (std::isfinite(e.lo)) title += fmt::format(" [{}, {}]", pretty(e.lo, 3), pretty(e.hi, 3));
    if (std::isfinite(bar.p)) title += fmt::format(", {} (permuted labels, worst run)", p_text(bar.p));
    plot.bar(e, 0.34, trained ? "c0" : "c11",
             {.title = title + fmt::format(", n = {}", bar.runs), .group = bar.group, .value = e.value});
  }
  return plot.finish();
}

}  // namespace

std::string module_measure_title(const std::string& field) {
  for (const NetworkField& f : kFields) {
    if (field == f.name) return f.title;
  }
  return field;
}

Found<Modules> collect_modules(const Inputs& inputs) {
  Modules data;
  const int layers = layers_of(inputs, &NetworkResult::rows);
  const std::vector<int> groups = representative_groups(inputs, kMaxSettings);
  for (int l = 0; l < layers && l < 12; ++l) {
    Modules::Layer layer;
    for (const NetworkField& field : kFields) {
      for (const int g : groups) {
        for (const char* stage : {"init", "final"}) add_bar(inputs, g, field, stage, l, layer);
      }
    }
    data.layers.push_back(std::move(layer));
  }
  for (const NetworkField& field : kFields) {
    const bool any = std::any_of(data.layers.begin(), data.layers.end(), [&](const Modules::Layer& layer) {
      return std::any_of(layer.bars.begin(), layer.bars.end(),
                         [&](const Modules::Bar& b) { return b.measure == field.name; });
    });
    if (any) data.measures.push_back(field.name);
  }
  if (data.measures.empty()) {
    return Found<Modules>::none("no run has the analysis networks with labels (locus analyze makes it)");
  }
  for (const Modules::Layer& layer : data.layers) {
    for (const Modules::Bar& bar : layer.bars) {
      if (std::find(data.settings.begin(), data.settings.end(), bar.setting) == data.settings.end())
        data.settings.push_back(bar.setting);
    }
  }
  return Found<Modules>::of(std::move(data));
}

Figure draw_modules(const Modules& data) {
  Figure figure{.name = "modules", .title = "Modules in the encoding"};
  std::size_t low = SIZE_MAX, high = 0;
  for (std::size_t l = 0; l < data.layers.size(); ++l) {
    Variant variant;
    variant.choices = {{"layer", std::to_string(l + 1)}};
    for (const std::string& measure : data.measures) variant.panels.push_back(draw_panel(data, data.layers[l], measure));
    figure.variants.push_back(std::move(variant));
    for (const Modules::Bar& bar : data.layers[l].bars) {
      low = std::min(low, bar.runs);
      high = std::max(high, bar.runs);
    }
  }
  figure.legend = {{.label = "untrained", .css = "c11", .mark = LegendMark::kPoint, .shape = Shape::kSquare},
                   {.label = "trained", .css = "c0", .mark = LegendMark::kPoint, .shape = Shape::kSquare}};
  figure.caption = fmt::format(
      "Cosines of the mean-centred encoding. Bars: means over runs (n = {}), whiskers: Student's 95 % interval (3 runs or "
      "more). Segregation "
      "is left "
      "out where the mean within labels is below 0.05, because it is then a ratio of noise.",
      low == high ? fmt::format("{}", low) : fmt::format("{}–{}", low, high));
  figure.csv = csv_modules(data);
  return figure;
}

std::string csv_modules(const Modules& data) {
  std::string out = "layer,measure,setting,stage,runs,mean,lo,hi,p\n";
  for (std::size_t l = 0; l < data.layers.size(); ++l) {
    for (const Modules::Bar& b : data.layers[l].bars) {
      const std::string cells[] = {
          std::to_string(l + 1),  b.measure,           b.setting,           b.stage,      std::to_string(b.runs),
          shortest(b.mean.value), shortest(b.mean.lo), shortest(b.mean.hi), shortest(b.p)};
      out += csv_row(cells);
    }
  }
  return out;
}

}  // namespace locus::report
