#include "report/figures/identifiability.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "core/nan.h"
#include "core/text.h"
#include "io/codec.h"
#include "report/markup.h"
#include "stats/descriptive.h"

namespace locus::report {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLayers = 12;
constexpr std::size_t kMaxSimilarityRows = 600;

std::string whole_path(const std::string& path) {
  std::error_code code;
  const fs::path whole = fs::weakly_canonical(path, code);
  return code ? path : whole.string();
}

// The group of each run the analysis speaks of; -1 for runs that are not in this report.
std::vector<int> groups_of(const Inputs& inputs, const IdentifiabilityResult& result) {
  std::map<std::string, int> known;
  for (const Run& run : inputs.runs) known[whole_path(run.path)] = run.group;
  std::vector<int> groups;
  for (const std::string& path : result.runs) {
    const auto it = known.find(whole_path(path));
    groups.push_back(it == known.end() ? -1 : it->second);
  }
  return groups;
}

int group_at(const std::vector<int>& groups, std::int64_t run) {
  return run >= 0 && run < static_cast<std::int64_t>(groups.size()) ? groups[static_cast<std::size_t>(run)] : -1;
}

struct PairFilter {
  std::string model;
  double CodePairRow::*field;
  int layer = 0;
};

// Pairs of seeds within each setting. They share runs, so a mean gets no interval.
SigmaLine seed_line(const Inputs& inputs, const std::vector<CodePairRow>& pairs, const std::vector<int>& groups,
                    const PairFilter& filter) {
  std::map<int, std::vector<double>> values;
  for (const CodePairRow& row : pairs) {
    if (row.comparison != "seeds" || row.model_a != filter.model || row.layer_a != filter.layer) continue;
    const int group = group_at(groups, row.run_a);
    const double value = row.*filter.field;
    if (group >= 0 && std::isfinite(value)) values[group].push_back(value);
  }
  SigmaLine line;
  for (const auto& [group, own] : values) {
    const Group& g = inputs.groups[static_cast<std::size_t>(group)];
    SigmaLine::Setting setting{group, g.label, {g.sigma.value_or(kNan), stats::mean(own), kNan, kNan}, {}};
    for (const double v : own) setting.runs.push_back({-1, v});
    line.settings.push_back(std::move(setting));
  }
  return line;
}

std::vector<SigmaPanel> panels_of(const Inputs& inputs, const std::vector<CodePairRow>& pairs,
                                  const std::vector<int>& groups, int layer) {
  std::vector<SigmaPanel> panels;
  const std::pair<double CodePairRow::*, SigmaPanel> wanted[] = {
      {&CodePairRow::cosine_pearson, {"Same neighbourhoods?", "r of the cosines of two seeds", {}}},
      {&CodePairRow::procrustes_matched, {"Same code up to rotation?", "norm-matched distance of two seeds", {}}}};
  for (const auto& [field, empty] : wanted) {
    SigmaPanel panel = empty;
    panel.lines.push_back(seed_line(inputs, pairs, groups, {"init", field, layer}));
    panel.lines.back().label = "untrained";
    panel.lines.back().colour = "c11";
    panel.lines.back().dashed = true;
    panel.lines.push_back(seed_line(inputs, pairs, groups, {"final", field, layer}));
    panel.lines.back().label = "trained";
    panel.lines.back().colour = "c0";
    if (has_values(panel)) panels.push_back(std::move(panel));
  }
  return panels;
}

std::vector<PairSummaryRow> first_rows(const std::vector<PairSummaryRow>& rows) {
  return {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), kMaxSimilarityRows))};
}

Table table_of(const Identifiability& data) {
  Table table;
  table.columns = {"Pairs of", "Setting", "Model", "Layer", "Pairs", "r of cosines", "r, centred", "Procrustes", "CKA"};
  const auto number = [](double v) { return std::isfinite(v) ? r_text(v) : std::string("–"); };
  for (const PairSummaryRow& r : data.rows) {
    table.rows.push_back({r.comparison, shorten(r.setting, 80), r.model, r.layer < 0 ? "all" : std::to_string(r.layer + 1),
                          std::to_string(r.pairs), number(r.cosine_pearson), number(r.centred_pearson),
                          number(r.procrustes_matched), number(r.cka)});
    table.sort_keys.push_back({kNan, kNan, kNan, r.layer < 0 ? kNan : static_cast<double>(r.layer + 1),
                               static_cast<double>(r.pairs), r.cosine_pearson, r.centred_pearson, r.procrustes_matched,
                               r.cka});
  }
  return table;
}

}  // namespace

Found<Identifiability> collect_identifiability(const Inputs& inputs) {
  Identifiability data;
  if (const auto* const result = find_result<IdentifiabilityResult>(inputs.group_analyses)) {
    data.rows = first_rows(result->summary);
    const std::vector<int> groups = groups_of(inputs, *result);
    for (int l = 0; l < kMaxLayers; ++l) {
      std::vector<SigmaPanel> panels = panels_of(inputs, result->pairs, groups, l);
      if (panels.empty()) break;
      data.layers.push_back(std::move(panels));
    }
  }
  if (data.rows.empty() && data.layers.empty()) {
    return Found<Identifiability>::none(
        "there is no analysis identifiability beside the runs (locus analyze makes it of two runs or more)");
  }
  return Found<Identifiability>::of(std::move(data));
}

Figure draw_identifiability(const Identifiability& data) {
  Figure figure{.name = "identifiability", .title = "Agreement of positions between seeds"};
  for (std::size_t l = 0; l < data.layers.size(); ++l) {
    Variant variant;
    variant.choices = {{"layer", std::to_string(l + 1)}};
    for (const SigmaPanel& panel : data.layers[l]) variant.panels.push_back(draw_sigma_panel(panel));
    figure.variants.push_back(std::move(variant));
  }
  if (!data.layers.empty())
    figure.legend = {{.label = "trained", .css = "c0"}, {.label = "untrained", .css = "c11", .mark = LegendMark::kDash}};
  if (!data.rows.empty()) figure.table = table_of(data);
  figure.caption =
      "Positions are the same across seeds only as far as trained pairs lie above untrained ones (distances: below): with "
      "few tokens and many channels unrelated codes look somewhat alike too. Points are means over pairs of runs that "
      "differ "
      "in the seed alone; pairs share runs, so no interval or p value is given. In the table, layers and time compare codes "
      "within a run.";
  figure.csv = csv_identifiability(data);
  return figure;
}

std::string csv_identifiability(const Identifiability& data) {
  std::string out = "comparison,setting,model,layer,pairs,cosine_pearson,centred_pearson,procrustes_matched,cka\n";
  for (const PairSummaryRow& r : data.rows) {
    const std::string cells[] = {r.comparison,
                                 r.setting,
                                 r.model,
                                 std::to_string(r.layer + 1),
                                 std::to_string(r.pairs),
                                 shortest(r.cosine_pearson),
                                 shortest(r.centred_pearson),
                                 shortest(r.procrustes_matched),
                                 shortest(r.cka)};
    out += csv_row(cells);
  }
  return out;
}

}  // namespace locus::report
