#include "run/analysis_files.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "io/file.h"
#include "run/layout.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

std::string text_at(const nlohmann::json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

AnalysisCheck unverified(const std::string& why) {
  return {AnalysisAge::kUnverified, why + "; run `locus analyze` again to be sure"};
}

AnalysisCheck check_state(const nlohmann::json& then, const ModelState& now) {
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
AnalysisCheck check_several(const nlohmann::json& states) {
  AnalysisCheck worst;
  for (const nlohmann::json& then : states) {
    const std::string run = then.is_object() ? text_at(then, "run") : "";
    AnalysisCheck check = is_run_directory(run) ? check_state(then, model_state(fs::path(run)))
                                                : unverified("unverified: a run that it was made of is not where it was");
    if (check.age <= worst.age) continue;
    check.note = run + ": " + check.note;
    worst = std::move(check);
  }
  return worst;
}

}  // namespace

ModelState model_state(const RunRecord& record) {
  ModelState state;
  state.config_hash = record.config_hash;
  state.data_hash = record.data_hash;
  const ModelEntry* const model = record.best_model();
  if (model == nullptr) return state;
  state.model = model->name;
  if (model->kind == ModelEntry::Kind::kCheckpoint) state.step = model->number;
  if (model->kind == ModelEntry::Kind::kFinal && record.summary) state.step = record.summary->steps;
  std::error_code code;
  const fs::path file = model->path / run_files::kModel;
  if (fs::is_regular_file(file, code)) state.sha256 = file_sha256(file);
  return state;
}

ModelState model_state(const fs::path& run) { return model_state(read_run(run)); }

nlohmann::ordered_json to_json(const ModelState& state) {
  nlohmann::ordered_json json;
  json["config_hash"] = state.config_hash;
  json["data_hash"] = state.data_hash;
  json["model"] = state.model;
  json["sha256"] = state.sha256;
  json["step"] = state.step;
  return json;
}

nlohmann::ordered_json to_json(const ModelState& state, const fs::path& run) {
  nlohmann::ordered_json json = to_json(state);
  json["run"] = run.string();
  return json;
}

AnalysisCheck check_analysis(const nlohmann::json& analysis, const ModelState& now) {
  const auto then = analysis.find(kMadeOf);
  AnalysisCheck check = check_state(then == analysis.end() ? nlohmann::json() : *then, now);
  if (check.age != AnalysisAge::kCurrent) return check;
  const auto with = then->find(kMadeWith);
  return with == then->end() ? check : check_several(*with);
}

AnalysisCheck check_analysis_in(const fs::path& folder, const nlohmann::json& analysis) {
  const auto then = analysis.find(kMadeOf);
  if (then != analysis.end() && then->is_array()) return check_several(*then);
  return check_analysis(analysis, is_run_directory(folder) ? model_state(folder) : ModelState());
}

fs::path analysis_folder(const fs::path& folder) { return folder / "analysis"; }

fs::path analysis_file(const fs::path& folder, const std::string& name) {
  return analysis_folder(folder) / (name + ".json");
}

}  // namespace locus
