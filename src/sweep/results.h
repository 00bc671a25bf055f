// The results of all sweeps in a folder: results.csv (a row per cell, split, condition and measure; nothing in it depends
// on when or how often the cells ran) and results.json (with times, reasons and logs).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sweep/folder.h"

namespace locus {

// A cell as the plans in the folder know it.
struct PlannedCell {
  std::string hash;
  std::string label;                          // of its case
  std::map<std::string, std::string> values;  // of PlannedCells::keys; "" where a condition makes it meaningless
  std::set<std::string> off;
  std::shared_ptr<const std::map<std::string, std::string>> base;  // all keys, as they are without the cell's own
};

struct PlannedCells {
  std::vector<std::string> keys;
  std::vector<PlannedCell> cells;  // each once, plans by name, cells by index
  bool has_labels = false;
  std::vector<std::string> problems;  // a sentence for each plan that cannot be read; its cells are missing here
};

PlannedCells read_plans(const SweepFolder& folder);  // empty where no sweep ran

// IoError when a plan cannot be read: the results would lose its cells.
void require_plans(const PlannedCells& plans);

// How each cell ended or stands; those that results.json knows as finished are not read again.
std::vector<CellOutcome> cell_outcomes(const SweepFolder& folder, const PlannedCells& plans);

struct ResultsWritten {
  std::int64_t cells = 0;  // with a row
  std::int64_t read = 0;   // looked at for it; the others were known from results.json
};

// Cells that results.json knows as finished and whose folders are there are not read again, unless `afresh`. IoError as
// require_plans, and when results.csv has cells that no plan knows; the files are left as they are then. Two at once in one
// folder would undo each other's work: collect_results of sweep/collect.h lets one after the other.
ResultsWritten write_results(const SweepFolder& folder, bool afresh = false);

}  // namespace locus
