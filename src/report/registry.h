// All figures by name: the one list that the page, `locus plot` and the tests go through. Which figures show an analysis
// stands in its row in analyze/registry.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/figure.h"
#include "report/inputs.h"

namespace locus::report {

struct FigureSpec {
  std::string name;   // "accuracy_vs_sigma"
  std::string title;  // for lists
  std::string needs;  // what it is made from
  std::function<Found<Figure>(const Inputs& inputs)> make;
};

const std::vector<FigureSpec>& figure_specs();

// A program that links the library adds figures of its own before it calls the command line. ConfigError when there is one
// of this name.
void register_figure(FigureSpec spec);

// ConfigError with the nearest name when there is none.
const FigureSpec& find_figure(const std::string& name);

}  // namespace locus::report
