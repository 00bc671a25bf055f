// The results of all sweeps in a folder: results.csv (a row per cell, split, condition and measure; nothing in it depends
// on when or how often the cells ran) and results.json (with times, reasons and logs).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "study/sweep_folder.h"

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
};

PlannedCells read_plans(const SweepFolder& folder);  // empty where no sweep ran
void write_results(const SweepFolder& folder);

}  // namespace locus
