// Is the encoding modular along the known labels? Modularity, segregation and agreement of communities, as bars.
#pragma once

#include <string>
#include <vector>

#include "report/analysis.h"

namespace locus::report {

struct Modules {
  struct Bar {
    int group = -1;
    std::string setting, measure, stage;  // stage: "untrained", "trained"
    Estimate mean;
    std::size_t runs = 0;
    double p = 0;  // largest permutation p over the runs, NaN without
  };
  struct Layer {
    std::vector<Bar> bars;
  };
  std::vector<std::string> measures;  // field names that have values
  std::vector<std::string> settings;
  std::vector<Layer> layers;
};

std::string module_measure_title(const std::string& field);

Found<Modules> collect_modules(const Inputs& inputs);
Figure draw_modules(const Modules& data);
std::string csv_modules(const Modules& data);  // layer,measure,setting,stage,runs,mean,lo,hi,p

}  // namespace locus::report
