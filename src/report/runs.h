// Run directories as a report sees them: what is on disk, and what is broken or missing said in words, never thrown.
#pragma once

#include <any>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/json.h"
#include "core/matrix.h"
#include "run/run_reader.h"

namespace locus::report {

// Evaluations over training, thinned to a few hundred at most (see read_metrics).
struct Curves {
  std::vector<double> epochs;
  std::map<std::string, std::vector<double>> series;  // by metric name, NaN where a line has no such value
  std::size_t evaluations = 0;                        // before thinning
};

struct Warning {
  int run = -1;  // -1: about the whole report
  std::string text;
};

// Results of analyses by name; each holds the struct of src/analyze/results whose kName that is.
using Results = std::map<std::string, std::any>;

template <class R>
const R* find_result(const Results& results) {
  const auto it = results.find(R::kName);
  return it == results.end() ? nullptr : std::any_cast<R>(&it->second);
}

struct Run : RunState {
  std::string path;
  std::string name;  // unique within the report
  std::optional<RunConfig> config;
  Json manifest;  // object, may be empty
  Curves curves;
  Results analyses;             // of DIR/analysis, rows of models between init and final left out
  std::set<std::string> stale;  // names of analyses that were made of another state of the model: not shown
  std::vector<std::string> problems;
  int group = -1;

  bool usable() const { return config.has_value() && !measures.empty(); }
};

// Run folders at or below each of `dirs`, each once, in byte order. IoError when a given folder does not exist.
std::vector<std::string> find_run_paths(std::span<const std::string> dirs);

// Reads all of them, several at a time. Never throws for what a folder holds.
std::vector<Run> load_runs(std::span<const std::string> paths);

// Those of several runs at once, found in the analysis/ of the folders given; the first file of a name that is not stale
// counts. What was left out or cannot be checked goes to `warnings`.
Results load_group_analyses(std::span<const std::string> dirs, std::vector<Warning>& warnings);

// A file that an analysis of this run wrote beside its JSON ("networks.npz"); empty when absent or stale.
std::string analysis_arrays(const Run& run, const std::string& analysis);

}  // namespace locus::report
