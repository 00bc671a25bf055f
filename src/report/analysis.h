// Numbers out of DIR/analysis/*.json (fields as in src/analyze/results/), and panels of such numbers against σ.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/figure.h"
#include "report/inputs.h"

namespace locus::report {

// Conditions on a row: {"model", "final"}, {"code", "centred"}.
using RowFilter = std::vector<std::pair<std::string, std::string>>;

// Rows of list `list` of an analysis that fit all conditions; empty when there is no such file.
std::vector<const nlohmann::json*> analysis_rows(const Run& run, const std::string& analysis, const std::string& list,
                                                 const RowFilter& filter);
double row_number(const nlohmann::json& row, const char* field);  // NaN when absent
std::string row_text(const nlohmann::json& row, const char* field);

// The field of the first fitting row of layer `layer` (-1: any); NaN when there is none.
struct Wanted {
  std::string analysis, list, field;
  RowFilter filter;
  int layer = -1;
};
double wanted_number(const Run& run, const Wanted& wanted);

// How many layers an analysis reports on.
int analysis_layers(const Inputs& inputs, const std::string& analysis, const std::string& list);

// One number of every run, as a line against σ and horizontal lines for encodings without σ.
struct SigmaLine {
  struct Setting {
    int group = -1;
    std::string label;
    Estimate mean;  // x: σ, NaN without
    std::vector<std::pair<int, double>> runs;
  };
  std::string label;  // "trained"
  std::string colour;
  bool dashed = false;      // a comparison, not the result
  bool references = false;  // draw the encodings without σ as horizontal lines
  std::vector<Setting> settings;
};

struct SigmaPanel {
  std::string title, y_label;
  std::vector<SigmaLine> lines;
};

SigmaLine collect_line(const Inputs& inputs, const std::string& label, const std::string& colour, const Wanted& wanted);
bool has_values(const SigmaPanel& panel);
Panel draw_sigma_panel(const SigmaPanel& panel);
std::string csv_sigma_panels(const std::vector<SigmaPanel>& panels, const std::string& head, const std::string& prefix);
// "n = 3 per setting"
std::string runs_text(const std::vector<SigmaPanel>& panels);

}  // namespace locus::report
