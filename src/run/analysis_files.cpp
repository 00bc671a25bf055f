#include "run/analysis_files.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/error.h"
#include "core/json.h"
#include "io/codec.h"
#include "io/file.h"
#include "run/files.h"
#include "run/layout.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxResultBytes = std::uint64_t{256} << 20;
constexpr const char* kResultSuffix = ".json";

AnalysisCheck unverified(const std::string& why) {
  return {AnalysisAge::kUnverified, why + "; run `locus analyze` again to be sure"};
}

AnalysisCheck check_state(const Json& then, const ModelState& now) {
  if (!then.is_object() || text_at(then, "sha256").empty())
    return unverified("unverified: made before analyses recorded the model they look at");
  if (now.sha256.empty()) return unverified("unverified: the model it was made of is no longer in the folder");
  const bool same = text_at(then, "sha256") == now.sha256 && text_at(then, "config_hash") == now.config_hash &&
                    text_at(then, "data_hash") == now.data_hash;
  if (same) return {};
  const auto step = then.find("step");
  const std::string when = step != then.end() && step->is_number_integer() ? step->dump() : "unknown";
  return {AnalysisAge::kStale,
          fmt::format("left out: made at step {} of another model state (now: step {}); run `locus analyze` again", when,
                      now.step)};
}

// The worst of several runs in their folders.
AnalysisCheck check_several(const Json& states) {
  AnalysisCheck worst;
  for (const Json& then : states) {
    const std::string run = then.is_object() ? text_at(then, "run") : "";
    AnalysisCheck check = is_run_directory(run) ? check_state(then, RunReader(run).model_state())
                                                : unverified("unverified: a run that it was made of is not where it was");
    if (check.age <= worst.age) continue;
    check.note = run + ": " + check.note;
    worst = std::move(check);
  }
  return worst;
}

}  // namespace

Json to_json(const ModelState& state) {
  Json json;
  json["config_hash"] = state.config_hash;
  json["data_hash"] = state.data_hash;
  json["model"] = state.model;
  json["sha256"] = state.sha256;
  json["step"] = state.step;
  return json;
}

Json to_json(const ModelState& state, const fs::path& run) {
  Json json = to_json(state);
  json["run"] = run.string();
  return json;
}

AnalysisCheck check_analysis(const Json& analysis, const ModelState& now) {
  const auto then = analysis.find(kMadeOf);
  AnalysisCheck check = check_state(then == analysis.end() ? Json() : *then, now);
  if (check.age != AnalysisAge::kCurrent) return check;
  const auto with = then->find(kMadeWith);
  return with == then->end() ? check : check_several(*with);
}

AnalysisCheck check_analysis_in(const fs::path& folder, const Json& analysis) {
  const auto then = analysis.find(kMadeOf);
  if (then != analysis.end() && then->is_array()) return check_several(*then);
  return check_analysis(analysis, is_run_directory(folder) ? RunReader(folder).model_state() : ModelState());
}

std::optional<StoredAnalysis> stored_analysis(const RunReader& run, const std::string& name) {
  const fs::path file = analysis_file(run.path(), name);
  std::error_code code;
  if (!fs::exists(file, code)) return std::nullopt;
  StoredAnalysis stored;
  stored.json = read_analysis_file(file);
  stored.check = check_analysis(stored.json, run.model_state());
  stored.available = stored.json.value("available", false);
  return stored;
}

Json read_analysis_file(const fs::path& file) {
  Json json = Json::parse(read_text_file(file, kMaxResultBytes));
  if (json.is_object()) return json;
  throw IoError({.what = "not a result of an analysis", .where = file.string(), .hint = "run locus analyze again"});
}

std::vector<std::string> analysis_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator it(analysis_folder(folder), code), end; !code && it != end; it.increment(code)) {
    if (it->path().extension() == kResultSuffix && !is_temporary_name(it->path().filename().string()))
      names.push_back(it->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path analysis_folder(const fs::path& folder) { return folder / run_files::kAnalysis; }

fs::path analysis_file(const fs::path& folder, const std::string& name) {
  return analysis_folder(folder) / (name + kResultSuffix);
}

}  // namespace locus
