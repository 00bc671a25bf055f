// Results of analyses in a run directory: where they lie, what they were made of, and whether that is still what the folder
// holds. Every reader of such a file asks check_analysis first.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "run/run_reader.h"

namespace locus {

// What stands in an analysis's JSON under kMadeOf: the state of its run, or a list of states with their folders.
inline constexpr const char* kMadeOf = "made_of";
// An analysis that compares its run with others names them under "with".
Json to_json(const ModelState& state);
Json to_json(const ModelState& state, const std::filesystem::path& run);
inline constexpr const char* kMadeWith = "with";

enum class AnalysisAge { kCurrent, kUnverified, kStale };

struct AnalysisCheck {
  AnalysisAge age = AnalysisAge::kCurrent;
  std::string note;  // a sentence for the user; "" when current

  bool usable() const { return age != AnalysisAge::kStale; }
};

// Of a run's own analysis; `now` is the run's state. A result from before states were recorded is unverified.
AnalysisCheck check_analysis(const Json& analysis, const ModelState& now);
// Of any analysis in `folder`/analysis, also of several runs: looks at the runs that it was made of.
AnalysisCheck check_analysis_in(const std::filesystem::path& folder, const Json& analysis);

// A result of a run's own as it stands, and whether it may be used.
struct StoredAnalysis {
  Json json;
  AnalysisCheck check;
  bool available = false;  // else the JSON says why it could not be computed
};
// Nothing when there is no such file; IoError when it is no result.
std::optional<StoredAnalysis> stored_analysis(const RunReader& run, const std::string& name);

// The JSON of a result; IoError when it is missing or none.
Json read_analysis_file(const std::filesystem::path& file);
std::vector<std::string> analysis_names(const std::filesystem::path& folder);  // of the results there, in byte order
std::filesystem::path analysis_folder(const std::filesystem::path& folder);
std::filesystem::path analysis_file(const std::filesystem::path& folder, const std::string& name);  // its JSON

}  // namespace locus
