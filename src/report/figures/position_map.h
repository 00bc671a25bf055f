// Learned positions as a map: the two principal axes of the encoding table, aligned to the true places where known.
#pragma once

#include <string>
#include <vector>

#include "report/figure.h"
#include "report/inputs.h"
#include "report/tokens.h"

namespace locus::report {

struct PositionMap {
  struct Map {
    MatrixD points;  // (T, 2)
    double explained = 0;
    double r = 0;  // fit to the truth, NaN without one
  };
  struct Model {
    int run = -1;
    std::string label;
    Tokens tokens;
    MatrixD truth;                      // (T, 2), 0 rows: none
    std::vector<Map> initial, learned;  // per layer; initial may be empty
  };
  std::vector<Model> models;
};

Found<PositionMap> collect_position_map(const Inputs& inputs);
Figure draw_position_map(const PositionMap& data);
std::string csv_position_map(const PositionMap& data);  // run,layer,stage,token,x,y

}  // namespace locus::report
