#include "results/kept_runs.h"

#include <algorithm>

#include "config/load.h"

namespace locus {

namespace fs = std::filesystem;

std::vector<KeptRun> read_kept_runs(const fs::path& folder) {
  std::vector<fs::path> files;
  if (fs::exists(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<KeptRun> runs;
  for (const fs::path& file : files) runs.push_back(read_kept_run(file));
  return runs;
}

bool matches(const RunConfig& config, const std::string& condition) {
  const std::size_t equals = condition.find('=');
  RunConfig copy = config;
  RunConfig wanted = config;
  apply_override(wanted, condition);
  const FieldList here = describe(copy);
  const FieldList there = describe(wanted);
  const std::string key = condition.substr(0, equals);
  return here.find(key, "table").text() == there.find(key, "table").text();
}

bool matches_all(const RunConfig& config, const std::vector<std::string>& conditions) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const std::string& c) { return matches(config, c); });
}

std::optional<double> kept_value(const KeptRun& run, const std::string& key) {
  const std::size_t slash = key.find(" / ");
  const auto found = run.values.find(key.substr(0, slash));
  if (found == run.values.end()) return std::nullopt;
  if (slash == std::string::npos) return found->second;
  const auto below = run.values.find(key.substr(slash + 3));
  return below == run.values.end() ? std::nullopt : std::optional(found->second / below->second);
}

}  // namespace locus
