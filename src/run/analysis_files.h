// Results of analyses in a run directory: where they lie, what they were made of, and whether that is still what the folder
// holds. Every reader of such a file asks check_analysis first.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "run/run_record.h"

namespace locus {

// The state of a run that an analysis looks at. No data set is needed to tell it.
struct ModelState {
  std::string config_hash;
  std::string data_hash;
  std::string model;      // "final", "checkpoints/0000000120"; "" when there is none
  std::string sha256;     // of its file
  std::int64_t step = 0;  // of training
};
ModelState model_state(const RunRecord& record);           // of record.best_model(); hashes its file
ModelState model_state(const std::filesystem::path& run);  // the same; IoError when `run` is no folder

// What stands in an analysis's JSON under kMadeOf: the state of its run, or a list of states with their folders.
inline constexpr const char* kMadeOf = "made_of";
// An analysis that compares its run with others names them under "with".
nlohmann::ordered_json to_json(const ModelState& state);
nlohmann::ordered_json to_json(const ModelState& state, const std::filesystem::path& run);
inline constexpr const char* kMadeWith = "with";

enum class AnalysisAge { kCurrent, kUnverified, kStale };

struct AnalysisCheck {
  AnalysisAge age = AnalysisAge::kCurrent;
  std::string note;  // a sentence for the user; "" when current

  bool usable() const { return age != AnalysisAge::kStale; }
};

// Of a run's own analysis; `now` is the run's state. A result from before states were recorded is unverified.
AnalysisCheck check_analysis(const nlohmann::json& analysis, const ModelState& now);
// Of any analysis in `folder`/analysis, also of several runs: looks at the runs that it was made of.
AnalysisCheck check_analysis_in(const std::filesystem::path& folder, const nlohmann::json& analysis);

std::filesystem::path analysis_folder(const std::filesystem::path& folder);
std::filesystem::path analysis_file(const std::filesystem::path& folder, const std::string& name);  // its JSON

}  // namespace locus
