// What a sweep will cost, from a few measured steps of a cell.
#pragma once

#include <string>

#include "config/run_config.h"

namespace locus {

struct CellCost {
  double seconds = 0;           // of a whole run; negative: it has no limit of steps or epochs
  double steps_per_second = 0;  // one thread
  double disk_bytes = 0;
  bool upper = false;  // a run may converge before
};

// Makes the data and trains for about `seconds` in a temporary folder, which is removed.
CellCost measure_cell(const RunConfig& config, double seconds, int threads);

// Cells with the same text cost about the same: everything that shapes the model, the data and the length.
std::string cost_group(const RunConfig& config);

}  // namespace locus
