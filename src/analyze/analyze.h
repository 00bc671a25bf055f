// The front door: running analyses (analyze/results/registry.h) on a run directory or a group of runs, with results kept
// under DIR/analysis and computed again only when their inputs changed. Never trains.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "analyze/analysis_run.h"
#include "analyze/results/registry.h"
#include "analyze/settings.h"
#include "data/examples.h"
#include "run/analysis_files.h"

namespace locus {

// What an analysis of one run works on; the data set is made when first asked for.
struct AnalysisJob {
  const AnalysisRun& run;
  const std::function<const Dataset&()>& dataset;
  const AnalyzeSettings& settings;
  const AnalyzeProgress& progress;
};

struct AnalysisGroupJob {
  const std::vector<std::filesystem::path>& runs;
  const AnalyzeSettings& settings;
  const AnalyzeProgress& progress;
};

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
  std::string message;      // why not, and how to get it
  bool lacks_data = false;  // it could be computed, were the data of the run there
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

// What identifies an output: written into its JSON.
struct AnalysisStamp {
  std::string name;
  std::string inputs_hash;
  Json made_of;  // states of the models (run/analysis_files.h)
};
// <folder>/analysis/<name>.json, .csv, .npz; the JSON last.
std::filesystem::path write_analysis(const std::filesystem::path& folder, const AnalysisStamp& stamp,
                                     const AnalysisOutput& output);
std::filesystem::path write_unavailable(const std::filesystem::path& folder, const AnalysisStamp& stamp, const Error& error);
// True when a complete result of exactly these inputs is there. One from before states were recorded gets its state.
bool is_cached(const std::filesystem::path& folder, const AnalysisStamp& stamp);
// The JSON of a result. IoError when absent or broken, DataError with the reason when it says "not available" or was made
// of another state of the model.
Json read_analysis(const std::filesystem::path& folder, const std::string& name);
template <class R>
R read_result(const std::filesystem::path& folder) {
  return result_from_json<R>(read_analysis(folder, R::kName));
}

}  // namespace locus
