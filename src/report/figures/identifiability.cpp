#include "report/figures/identifiability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "report/markup.h"
#include "stats/descriptive.h"

namespace locus::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kMaxLayers = 12;
constexpr std::size_t kMaxRows = 600;

std::string whole_path(const std::string& path) {
  std::error_code code;
  const fs::path whole = fs::weakly_canonical(path, code);
  return code ? path : whole.string();
}

// The group of each run the analysis speaks of; -1 for runs that are not in this report.
std::vector<int> groups_of(const Inputs& inputs, const json& analysis) {
  std::map<std::string, int> known;
  for (const Run& run : inputs.runs) known[whole_path(run.path)] = run.group;
  std::vector<int> groups;
  if (!analysis.contains("runs") || !analysis["runs"].is_array()) return groups;
  for (const json& path : analysis["runs"]) {
    const auto it = path.is_string() ? known.find(whole_path(path.get<std::string>())) : known.end();
    groups.push_back(it == known.end() ? -1 : it->second);
  }
  return groups;
}

int group_at(const std::vector<int>& groups, double run) {
  return run >= 0 && run < static_cast<double>(groups.size()) ? groups[static_cast<std::size_t>(run)] : -1;
}

struct PairFilter {
  std::string model, field;
  int layer = 0;
};

// Pairs of seeds within each setting. They share runs, so a mean gets no interval.
SigmaLine seed_line(const Inputs& inputs, const json& pairs, const std::vector<int>& groups, const PairFilter& filter) {
  std::map<int, std::vector<double>> values;
  for (const json& row : pairs) {
    if (!row.is_object() || row_text(row, "comparison") != "seeds" || row_text(row, "model_a") != filter.model ||
        row_number(row, "layer_a") != filter.layer)
      continue;
    const int group = group_at(groups, row_number(row, "run_a"));
    const double value = row_number(row, filter.field.c_str());
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

std::vector<SigmaPanel> panels_of(const Inputs& inputs, const json& analysis, const std::vector<int>& groups, int layer) {
  std::vector<SigmaPanel> panels;
  if (!analysis.contains("pairs") || !analysis["pairs"].is_array()) return panels;
  const std::pair<const char*, SigmaPanel> wanted[] = {
      {"cosine_pearson", {"Same neighbourhoods?", "r of the cosines of two seeds", {}}},
      {"procrustes_matched", {"Same code up to rotation?", "norm-matched distance of two seeds", {}}}};
  for (const auto& [field, empty] : wanted) {
    SigmaPanel panel = empty;
    panel.lines.push_back(seed_line(inputs, analysis["pairs"], groups, {"init", field, layer}));
    panel.lines.back().label = "untrained";
    panel.lines.back().colour = "c11";
    panel.lines.back().dashed = true;
    panel.lines.push_back(seed_line(inputs, analysis["pairs"], groups, {"final", field, layer}));
    panel.lines.back().label = "trained";
    panel.lines.back().colour = "c0";
    if (has_values(panel)) panels.push_back(std::move(panel));
  }
  return panels;
}

void load_rows(const json& analysis, Identifiability& data) {
  if (!analysis.contains("summary") || !analysis["summary"].is_array()) return;
  for (const json& row : analysis["summary"]) {
    if (!row.is_object() || data.rows.size() == kMaxRows) continue;
    const auto whole = [&](const char* field) {
      const double v = row_number(row, field);
      return std::abs(v) < 1e6 ? static_cast<int>(v) : 0;
    };
    data.rows.push_back({row_text(row, "comparison"), row_text(row, "setting"), row_text(row, "model"), whole("layer"),
                         whole("pairs"), row_number(row, "cosine_pearson"), row_number(row, "centred_pearson"),
                         row_number(row, "procrustes_matched"), row_number(row, "cka")});
  }
}

Table table_of(const Identifiability& data) {
  Table table;
  table.columns = {"Pairs of", "Setting", "Model", "Layer", "Pairs", "r of cosines", "r, centred", "Procrustes", "CKA"};
  const auto number = [](double v) { return std::isfinite(v) ? r_text(v) : std::string("–"); };
  for (const Identifiability::Row& r : data.rows) {
    table.rows.push_back({r.comparison, shorten(r.setting, 80), r.model, r.layer < 0 ? "all" : std::to_string(r.layer + 1),
                          std::to_string(r.pairs), number(r.cosine), number(r.centred), number(r.procrustes),
                          number(r.cka)});
    table.sort_keys.push_back({kNan, kNan, kNan, r.layer < 0 ? kNan : static_cast<double>(r.layer + 1),
                               static_cast<double>(r.pairs), r.cosine, r.centred, r.procrustes, r.cka});
  }
  return table;
}

}  // namespace

Found<Identifiability> collect_identifiability(const Inputs& inputs) {
  Identifiability data;
  const auto it = inputs.group_analyses.find("identifiability");
  if (it != inputs.group_analyses.end()) {
    load_rows(it->second, data);
    const std::vector<int> groups = groups_of(inputs, it->second);
    for (int l = 0; l < kMaxLayers; ++l) {
      std::vector<SigmaPanel> panels = panels_of(inputs, it->second, groups, l);
      if (panels.empty()) break;
      data.layers.push_back(std::move(panels));
    }
  }
  if (data.rows.empty() && data.layers.empty()) {
    return Found<Identifiability>::none(
        "no analysis/identifiability.json beside the runs (locus analyze makes it of two runs or more)");
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
  for (const Identifiability::Row& r : data.rows) {
    const std::string cells[] = {r.comparison,
                                 r.setting,
                                 r.model,
                                 std::to_string(r.layer + 1),
                                 std::to_string(r.pairs),
                                 csv_number(r.cosine),
                                 csv_number(r.centred),
                                 csv_number(r.procrustes),
                                 csv_number(r.cka)};
    out += csv_row(cells);
  }
  return out;
}

}  // namespace locus::report
