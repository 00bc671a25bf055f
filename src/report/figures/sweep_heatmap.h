// The measure over a grid of σ and any other key that was varied.
#pragma once

#include <string>
#include <vector>

#include "report/figure.h"
#include "report/inputs.h"

namespace locus::report {

struct SweepHeatmap {
  struct Cell {
    double mean = 0;
    std::size_t runs = 0;
  };
  struct Grid {
    std::string key;                       // "model.width"
    std::vector<double> sigmas;            // columns
    std::vector<std::string> values;       // rows
    std::vector<std::vector<Cell>> cells;  // [row][column]; runs == 0: not run
    bool mixed = false;                    // a cell averages over further keys that vary
  };
  Measure measure;
  std::vector<Grid> grids;
};

Found<SweepHeatmap> collect_sweep_heatmap(const Inputs& inputs);
Figure draw_sweep_heatmap(const SweepHeatmap& data);
std::string csv_sweep_heatmap(const SweepHeatmap& data);  // key,value,sigma,runs,mean

}  // namespace locus::report
