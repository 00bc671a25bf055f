// Agreement of attention with the reference model against generalisation, one dot a run, with rank correlations.
#pragma once

#include <string>
#include <vector>

#include "report/analysis.h"
#include "stats/correlation.h"

namespace locus::report {

struct Agreement {
  struct Dot {
    int run = -1, group = -1;
    std::string label, colour;
    double x = 0, y = 0;
  };
  struct View {
    std::string form;  // "plain", "centred"
    std::vector<Dot> dots;
    stats::Correlation over_runs, over_means;  // Spearman; n < 3: r is NaN
    double floor = 0;                          // mean agreement of untrained models, NaN without
  };
  Measure measure;
  std::vector<View> views;
};

Found<Agreement> collect_agreement(const Inputs& inputs);
Figure draw_agreement(const Agreement& data);
std::string csv_agreement(const Agreement& data);  // form,run,setting,agreement,outcome

}  // namespace locus::report
