// The measure for each condition of the data (difficulty of a puzzle): against σ, and for the other encodings.
#pragma once

#include <string>
#include <vector>

#include "report/figure.h"
#include "report/inputs.h"

namespace locus::report {

struct ByDifficulty {
  struct Cell {
    int group = -1;
    std::string setting;
    std::size_t condition = 0;
    Estimate mean;  // x: σ, NaN without
    std::size_t runs = 0;
  };
  Measure measure;
  std::vector<std::string> conditions;  // easiest first where known
  std::vector<Cell> cells;
};

Found<ByDifficulty> collect_by_difficulty(const Inputs& inputs);
Figure draw_by_difficulty(const ByDifficulty& data);
std::string csv_by_difficulty(const ByDifficulty& data);  // setting,sigma,condition,runs,mean,lo,hi

}  // namespace locus::report
