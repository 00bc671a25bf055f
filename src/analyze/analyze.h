// The front door: which analyses there are, and running them on a run directory or a group of runs, with results kept
// under DIR/analysis and computed again only when their inputs changed. Never trains.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "analyze/analysis_run.h"
#include "analyze/results/fields.h"
#include "analyze/settings.h"
#include "data/examples.h"
#include "run/analysis_files.h"

namespace locus {

struct AnalysisInfo {
  std::string name;
  std::string question;
  std::string needs;           // in words
  bool on_group = false;       // of several runs at once
  bool needs_dataset = false;  // the examples, not only what the run directory holds
  bool by_default = true;      // part of "everything" unless named
};
// All analyses, those of single runs first.
std::vector<AnalysisInfo> analysis_list();

struct AnalyzeOptions {
  std::filesystem::path run;
  std::vector<std::string> names;    // empty: all that are on by default; "all": every one
  std::function<Dataset()> dataset;  // called at most once, and only when an analysis has to compute with examples
  AnalyzeSettings settings;
  AnalyzeProgress progress;
  bool force = false;  // compute again whatever is there
};

enum class AnalysisState { kComputed, kCached, kUnavailable };

struct AnalysisOutcome {
  std::string name;
  AnalysisState state = AnalysisState::kComputed;
  std::string message;  // why not, and how to get it
  double seconds = 0;
  std::filesystem::path file;  // the JSON
};

// One outcome a name. What a run cannot give is an outcome and a JSON that says so; the other analyses go on.
// ConfigError for unknown names; DataError or IoError when the folder is no run that can be analysed.
std::vector<AnalysisOutcome> analyze_run(const AnalyzeOptions& options);

struct AnalyzeGroupOptions {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path out;       // results go to OUT/analysis
  std::vector<std::string> names;  // empty: all group analyses
  AnalyzeSettings settings;
  AnalyzeProgress progress;
  bool force = false;
};
std::vector<AnalysisOutcome> analyze_group(const AnalyzeGroupOptions& options);

// What an analysis hands over to be written.
struct AnalysisOutput {
  nlohmann::ordered_json json;
  std::vector<std::pair<std::string, std::string>> tables;  // "" is <name>.csv, "layers" is <name>.layers.csv
  std::vector<ResultArray> arrays;
};

// What identifies an output: written into its JSON.
struct AnalysisStamp {
  std::string name;
  std::string inputs_hash;
  nlohmann::ordered_json made_of;  // states of the models (run/analysis_files.h)
};
// <folder>/analysis/<name>.json, .csv, .npz; the JSON last.
std::filesystem::path write_analysis(const std::filesystem::path& folder, const AnalysisStamp& stamp,
                                     const AnalysisOutput& output);
std::filesystem::path write_unavailable(const std::filesystem::path& folder, const AnalysisStamp& stamp, const Error& error);
// True when a complete result of exactly these inputs is there. One from before states were recorded gets its state.
bool is_cached(const std::filesystem::path& folder, const AnalysisStamp& stamp);
// The JSON of a result. IoError when absent or broken, DataError with the reason when it says "not available" or was made
// of another state of the model.
nlohmann::ordered_json read_analysis(const std::filesystem::path& folder, const std::string& name);
// The same of a run whose state is known (hashing its model once serves all its analyses); the caller looks at `check`.
nlohmann::ordered_json read_analysis(const std::filesystem::path& folder, const std::string& name, const ModelState& now,
                                     AnalysisCheck& check);

}  // namespace locus
