// Numbers out of results of analyses (src/analyze/results), and panels of such numbers against σ.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "report/figure.h"
#include "report/inputs.h"

namespace locus::report {

// A number of a run; NaN when it has none.
using RunNumber = std::function<double(const Run&)>;

// The field of the first row of a table of result R that fits.
template <class R, class Row, class Fits>
RunNumber number_of(std::vector<Row> R::*table, double Row::*field, Fits fits) {
  return [=](const Run& run) {
    const R* const result = find_result<R>(run.analyses);
    if (result != nullptr) {
      for (const Row& row : result->*table) {
        if (fits(row)) return row.*field;
      }
    }
    return std::numeric_limits<double>::quiet_NaN();
  };
}

// How many layers a table of result R reports on.
template <class R, class Row>
int layers_of(const Inputs& inputs, std::vector<Row> R::*table) {
  std::int64_t layers = 0;
  for (const Run& run : inputs.runs) {
    const R* const result = find_result<R>(run.analyses);
    if (result == nullptr) continue;
    for (const Row& row : result->*table) {
      if (row.layer < 1000) layers = std::max(layers, row.layer + 1);
    }
  }
  return static_cast<int>(layers);
}

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

SigmaLine collect_line(const Inputs& inputs, const std::string& label, const std::string& colour, const RunNumber& number);
bool has_values(const SigmaPanel& panel);
Panel draw_sigma_panel(const SigmaPanel& panel);
std::string csv_sigma_panels(const std::vector<SigmaPanel>& panels, const std::string& head, const std::string& prefix);
// "n = 3 per setting"
std::string runs_text(const std::vector<SigmaPanel>& panels);

}  // namespace locus::report
