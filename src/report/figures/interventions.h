// What becomes of the measure when the positions of trained models are changed: a table and a picture.
#pragma once

#include <string>
#include <vector>

#include "report/analysis.h"

namespace locus::report {

struct Interventions {
  struct Row {
    int group = -1;
    std::string setting, colour, kind;  // kind with its amount: "scaled 0.5"
    Estimate after, change;             // over runs; repeats of a run are averaged first
    std::size_t runs = 0;
  };
  std::string split, measure;  // "heldout", "accuracy"
  std::vector<std::string> kinds;
  std::vector<Row> rows;
};

Found<Interventions> collect_interventions(const Inputs& inputs);
Figure draw_interventions(const Interventions& data);
std::string csv_interventions(const Interventions& data);  // setting,intervention,runs,after,change,lo,hi

}  // namespace locus::report
