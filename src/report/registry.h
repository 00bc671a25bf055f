// All figures by name: the one list that the page, `locus plot` and the tests go through.
#pragma once

#include <string>
#include <vector>

#include "report/figure.h"
#include "report/inputs.h"

namespace locus::report {

struct FigureSpec {
  std::string name;   // "accuracy_vs_sigma"
  std::string title;  // for lists
  std::string needs;  // which files it is made from
  Found<Figure> (*make)(const Inputs& inputs);
};

const std::vector<FigureSpec>& figure_specs();

// ConfigError with the nearest name when there is none.
const FigureSpec& find_figure(const std::string& name);

}  // namespace locus::report
