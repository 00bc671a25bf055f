// The main figure: the measure against the spread σ of the initial encoding, other encodings as horizontal lines.
#pragma once

#include <string>
#include <vector>

#include "report/figure.h"
#include "report/inputs.h"

namespace locus::report {

struct AccuracyVsSigma {
  struct Run {
    int run = -1;
    std::string label;
    double value = 0;
  };
  struct Setting {
    int group = -1;
    std::string label, colour;
    Estimate mean;  // x: σ (NaN for reference lines)
    std::vector<Run> runs;
  };
  struct Series {
    std::string others;  // the keys beside σ, empty when only σ varies
    std::string colour;
    std::vector<Setting> settings;  // σ ascending
  };
  Measure measure;
  std::vector<Series> series;
  std::vector<Setting> references;                        // encodings without σ
  std::vector<std::pair<std::string, double>> baselines;  // "ridge regression", 0.715
};

Found<AccuracyVsSigma> collect_accuracy_vs_sigma(const Inputs& inputs);
Figure draw_accuracy_vs_sigma(const AccuracyVsSigma& data);
std::string csv_accuracy_vs_sigma(const AccuracyVsSigma& data);  // setting,sigma,run,value,n,mean,lo,hi

}  // namespace locus::report
