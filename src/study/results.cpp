#include "study/results.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "config/load.h"
#include "core/text.h"
#include "io/file.h"
#include "run/run_record.h"
#include "study/kept_analyses.h"

namespace locus {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string encoding_label(const RunConfig& c) {
  std::string label(kPeKindNames[static_cast<std::size_t>(c.pe.kind)]);
  if (c.pe.kind == PeKind::kLearned) {
    label = fmt::format("{} sigma {}", c.pe.is_trained() ? "learned" : "random", shortest(c.pe.sigma));
    if (c.pe.init == PeInit::kFile) label = c.pe.is_trained() ? "transplanted, trained" : "transplanted, frozen";
  }
  if (c.pe.kind == PeKind::kSinusoidal && c.pe.is_trained()) label += " learnable";
  if (c.pe.kind != PeKind::kLearned && c.pe.kind != PeKind::kNone && c.pe.kind != PeKind::kLaplacian) {
    label += fmt::format(" {}-D", c.position_axes());
  }
  if (c.model.layers == 0) label = c.model.head_hidden > 0 ? "MLP baseline" : "logistic baseline";
  if (c.model.attention_mask == AttentionMask::kCausal) label += ", causal";
  if (c.pe.dropout > 0) label += c.pe.dropout_at_eval ? ", dropout at evaluation" : ", dropout";
  if (c.train.freeze_pe_after >= 0) label += fmt::format(", frozen after {}", c.train.freeze_pe_after);
  if (c.train.pe_norm_clamp > 0) label += ", norm clamped";
  if (c.model.embed_gain != 1) label += fmt::format(", content x {}", shortest(c.model.embed_gain));
  return label;
}

KeptResults keep_results(const std::vector<std::string>& dirs, const std::string& to) {
  ensure_writable_directory(to);
  KeptResults kept;
  std::vector<fs::path> folders(dirs.begin(), dirs.end());
  for (const fs::path& path : find_runs(folders)) {
    const RunRecord run = read_run(path);
    const bool complete = run.summary && run.config &&
                          (run.summary->status == RunStatus::kFinished || run.summary->status == RunStatus::kConverged);
    if (!complete) {
      kept.skipped.push_back(path.string());
      continue;
    }
    Json json;
    json["config"] = to_json(*run.config);
    // Folders of this machine say nothing to a reader.
    json["config"]["lst"]["dir"] = run.config->lst.source == LstSource::kAuthors ? "authors" : "";
    json["config"]["series"]["files"] = Json::array();
    json["config"]["series"]["atlas"] = "";
    json["summary"] = Json::parse(read_text_file(path / "summary.json"));
    std::vector<std::string> notes;
    if (const Json analyses = flat_analyses(path.string(), notes); !analyses.empty()) json["analyses"] = analyses;
    if (!notes.empty()) json["notes"] = notes;
    for (const std::string& note : notes) kept.notes.push_back(path.string() + ": " + note);
    json["commit"] = run.manifest.value("commit", "unknown");
    const std::string label = std::regex_replace(encoding_label(*run.config), std::regex("[^A-Za-z0-9.]+"), "-");
    const std::string digits = run.config_hash.substr(run.config_hash.find('-') + 1, 8);  // without the version
    const std::string file = (fs::path(to) / fmt::format("{}-seed{}-{}.json", label, run.config->seed, digits)).string();
    write_file_atomic(file, json.dump(1) + "\n");
    kept.written.push_back(file);
  }
  return kept;
}

}  // namespace locus
