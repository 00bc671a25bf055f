// Regions of the brain seen from three sides, coloured by network and by the communities of the learned encoding.
#pragma once

#include <string>
#include <vector>

#include "report/figure.h"
#include "report/inputs.h"
#include "report/tokens.h"

namespace locus::report {

struct Brain {
  struct Model {
    std::string label;
    std::vector<std::vector<int>> communities;  // per layer, (T); empty: not analysed
  };
  Tokens tokens;  // with (T, 3) coordinates in mm: x to the right, y to the front, z up
  std::vector<Model> models;
};

Found<Brain> collect_brain(const Inputs& inputs);
Figure draw_brain(const Brain& data);
std::string csv_brain(const Brain& data);  // token,name,x,y,z,network then one column a run and layer

}  // namespace locus::report
