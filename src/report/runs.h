// Run directories as a report sees them: what is on disk, and what is broken or missing said in words, never thrown.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/matrix.h"

namespace locus::report {

// Evaluations over training, thinned to a few hundred at most (a power-of-two stride over lines, so that runs of one
// length share their epochs) with the last one always kept.
struct Curves {
  std::vector<double> epochs;
  std::map<std::string, std::vector<double>> series;  // by metric name, NaN where a line has no such value
  std::size_t evaluations = 0;                        // before thinning
};

struct Warning {
  int run = -1;  // -1: about the whole report
  std::string text;
};

struct Run {
  std::string path;
  std::string name;  // unique within the report
  std::optional<RunConfig> config;
  nlohmann::json manifest;  // object, may be empty
  std::string status;       // of summary.json, or "training", "unfinished" or "broken"
  bool verified = false;    // the summary is this run's for certain; those of earlier versions are not
  std::string reason;
  std::map<std::string, double> metrics;  // last values by name
  double epochs = 0, steps = 0, seconds = 0;
  Curves curves;
  std::map<std::string, nlohmann::json>
      analyses;                 // DIR/analysis/<name>.json by name, rows of models between init and final left out
  std::set<std::string> stale;  // names of analyses that were made of another state of the model: not shown
  std::vector<std::string> problems;
  int group = -1;

  bool usable() const { return config.has_value() && !metrics.empty(); }
  bool complete() const { return status == "finished" || status == "converged"; }
};

// Run folders at or below each of `dirs`, each once, in byte order. IoError when a given folder does not exist.
std::vector<std::string> find_run_paths(std::span<const std::string> dirs);

// Reads all of them, several at a time. Never throws for what a folder holds.
std::vector<Run> load_runs(std::span<const std::string> paths);

// The analyses a report draws from.
inline constexpr const char* kAnalyses[] = {"recovery", "networks", "attention", "interventions", "kernel", "movement"};

// Those of several runs at once, found in the analysis/ of the folders given; the first file of a name that is not stale
// counts. What was left out or cannot be checked goes to `warnings`.
std::map<std::string, nlohmann::json> load_group_analyses(std::span<const std::string> dirs, std::vector<Warning>& warnings);

// A file that an analysis of this run wrote beside its JSON ("networks.npz"); empty when absent or stale.
std::string analysis_arrays(const Run& run, const std::string& analysis);

// One file of JSON, or null and a sentence in `problem`.
nlohmann::json load_json(const std::string& path, std::string& problem);

}  // namespace locus::report
