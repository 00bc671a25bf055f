#include "report/figures/recovery.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "analyze/results/recovery.h"
#include "report/markup.h"

namespace locus::report {
namespace {

// The number of the model "init" or "final".
using NumberAt = std::function<RunNumber(const std::string& model)>;

// A measure after training, and the same before it as a dashed line.
SigmaPanel panel_of(const Inputs& inputs, const std::string& title, const std::string& y_label, const NumberAt& at) {
  SigmaPanel panel{title, y_label, {}};
  panel.lines.push_back(collect_line(inputs, "untrained", "c11", at("init")));
  panel.lines.back().dashed = true;
  panel.lines.push_back(collect_line(inputs, "trained", "c0", at("final")));
  panel.lines.back().references = true;
  return panel;
}

std::vector<SigmaPanel> panels_of(const Inputs& inputs, const std::string& truth, int layer) {
  const auto of_layer = [layer](double RecoveryRow::*field) -> NumberAt {
    return [=](const std::string& model) {
      return number_of(&RecoveryResult::layers, field,
                       [=](const RecoveryRow& row) { return row.model == model && row.layer == layer; });
    };
  };
  const NumberAt likeness = [&](const std::string& model) { return truth_likeness(model, truth, layer); };
  std::vector<SigmaPanel> panels = {
      panel_of(inputs, "Correlation with the truth", "Pearson's r of cosines with " + truth, likeness),
      panel_of(inputs, "Procrustes distance", "norm-matched distance", of_layer(&RecoveryRow::procrustes_matched)),
      panel_of(inputs, "Read-out of the places", "cross-validated R²", of_layer(&RecoveryRow::readout_r2)),
      panel_of(inputs, "Label of the nearest token", "share that is right", of_layer(&RecoveryRow::label_accuracy))};
  panels[1].lines.push_back(
      collect_line(inputs, "permuted positions", "c1", of_layer(&RecoveryRow::procrustes_null)("final")));
  panels[1].lines.back().dashed = true;
  std::erase_if(panels, [](const SigmaPanel& p) { return !has_values(p); });
  return panels;
}

}  // namespace

std::string recovery_truth(const Inputs& inputs) {
  std::set<std::string> names;
  for (const Run& run : inputs.runs) {
    const auto* const result = find_result<RecoveryResult>(run.analyses);
    if (result == nullptr) continue;
    for (const TruthRow& row : result->truths) {
      if (row.similarity == "cosine") names.insert(row.truth);
    }
  }
  for (const char* known : {"sinusoid", "connectivity", "correlation", "W", "modules"}) {
    if (names.count(known) != 0) return known;
  }
  return names.empty() ? "" : *names.begin();
}

RunNumber truth_likeness(const std::string& model, const std::string& truth, int layer) {
  return number_of(&RecoveryResult::truths, &TruthRow::pearson, [=](const TruthRow& row) {
    return row.model == model && row.code == "raw" && row.similarity == "cosine" && row.truth == truth && row.layer == layer;
  });
}

Found<Recovery> collect_recovery(const Inputs& inputs) {
  Recovery data;
  data.truth = recovery_truth(inputs);
  const int layers = layers_of(inputs, &RecoveryResult::layers);
  for (int l = 0; l < layers && l < 12; ++l) {
    std::vector<SigmaPanel> panels = panels_of(inputs, data.truth, l);
    if (!panels.empty()) data.layers.push_back(std::move(panels));
  }
  if (data.layers.empty()) return Found<Recovery>::none("no run has the analysis recovery (locus analyze makes it)");
  return Found<Recovery>::of(std::move(data));
}

Figure draw_recovery(const Recovery& data) {
  Figure figure{.name = "recovery", .title = "Recovery of the true arrangement against σ"};
  for (std::size_t l = 0; l < data.layers.size(); ++l) {
    Variant variant;
    variant.choices = {{"layer", std::to_string(l + 1)}};
    for (const SigmaPanel& panel : data.layers[l]) variant.panels.push_back(draw_sigma_panel(panel));
    figure.variants.push_back(std::move(variant));
  }
  figure.legend = {{.label = "trained", .css = "c0"}, {.label = "untrained", .css = "c11", .mark = LegendMark::kDash}};
  for (const SigmaPanel& panel : data.layers[0]) {
    for (const SigmaLine& line : panel.lines) {
      if (line.label == "permuted positions" && !line.settings.empty())
        figure.legend.push_back({.label = line.label, .css = "c1", .mark = LegendMark::kDash});
    }
  }
  figure.caption = fmt::format(
      "Means over runs ({}) with Student's 95 % interval (3 runs or more); small dots: single runs. Distances are after "
      "both codes were "
      "scaled to norm 1 (0: equal; how far unrelated encodings are depends on tokens and channels: compare with untrained "
      "models), because the raw distance falls with σ without any learning.",
      runs_text(data.layers[0]));
  figure.csv = csv_recovery(data);
  return figure;
}

std::string csv_recovery(const Recovery& data) {
  std::string out;
  for (std::size_t l = 0; l < data.layers.size(); ++l) {
    out += csv_sigma_panels(data.layers[l], l == 0 ? "layer," : "", std::to_string(l + 1) + ",");
  }
  return out;
}

}  // namespace locus::report
