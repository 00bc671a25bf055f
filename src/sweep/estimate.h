// What a sweep will cost, from a few measured steps of a cell.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "sweep/plan.h"

namespace locus {

struct CellCost {
  double seconds = 0;           // of a whole run; negative: it has no limit of steps or epochs
  double steps_per_second = 0;  // one thread
  double disk_bytes = 0;
  double peak_bytes = 0;  // of this process, which did nothing else
  bool upper = false;     // a run may converge before
};

// Makes the data and trains for about `seconds` in a temporary folder, which is removed.
CellCost measure_cell(const RunConfig& config, double seconds, int threads);

// Cells with the same text cost about the same: everything that shapes the model, the data and the length.
std::string cost_group(const RunConfig& config);

struct SweepCost {
  double seconds = 0;  // of all cells, one after another
  double disk = 0;
  double peak_bytes = 0;  // of the largest cell that was measured
  bool known = true;
  bool upper = false;
  std::size_t measured = 0;
  std::size_t groups = 0;
};

// Cells of the same size cost the same; the first few sizes are measured, two seconds each; others take the mean of these.
SweepCost estimate_cells(const SweepPlan& plan, const std::vector<const SweepCell*>& cells, int threads,
                         const std::atomic<int>& stop);

}  // namespace locus
