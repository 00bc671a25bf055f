#include "study/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "config/identity.h"
#include "config/load.h"
#include "core/text.h"
#include "io/file.h"
#include "run/run_record.h"
#include "study/kept_analyses.h"

namespace locus {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
constexpr std::size_t kNameDigits = 8;

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
  if (c.model.logit_scale != 1) label += fmt::format(", logits x {}", shortest(c.model.logit_scale));
  if (c.model.position_logit_scale != 1)
    label += fmt::format(", position logits x {}", shortest(c.model.position_logit_scale));
  for (const std::string& group : c.optim.group_lr) label += ", rate " + group;
  if (c.model.embed_gain != 1) label += fmt::format(", content x {}", shortest(c.model.embed_gain));
  return label;
}

namespace {

// Folders of this machine say nothing to a reader; the data's hash stands for what lies there.
RunConfig without_data_folders(RunConfig c) {
  c.lst.dir = c.lst.source == LstSource::kAuthors ? "authors" : "";
  c.series.files.clear();
  c.series.test_files.clear();
  c.series.manifest.clear();
  c.series.atlas.clear();
  return c;
}

// What a kept result depends on, as one text a field: all keys but those that leave a finished result as it is.
std::vector<std::string> result_texts(RunConfig config) {
  const std::vector<IdentityKey>& keys = IdentityTable::pinned().keys();
  const FieldList list = describe(config);
  std::vector<std::string> texts;
  for (const Field& f : list.fields()) {
    const bool counts = std::none_of(keys.begin(), keys.end(), [&](const IdentityKey& k) {
      return k.role == KeyRole::kNone && key_name_now(k.name) == f.path;
    });
    texts.push_back(counts ? f.text() : "");
  }
  return texts;
}

bool is_result_of(const fs::path& file, const RunConfig& config) {
  std::error_code code;
  if (!fs::exists(file, code)) return false;
  try {
    const nlohmann::json json = nlohmann::json::parse(read_text_file(file));
    const RunConfig there = run_config_from_json(json.at("config"), file.string());
    return result_texts(without_data_folders(there)) == result_texts(config);
  } catch (const std::exception&) {
    return false;  // whatever it is, it is not this run's
  }
}

// Runs that differ in any key that matters, also in when they stop or what they watch, get files of their own.
fs::path kept_file(const RunRecord& run, const RunConfig& config, const fs::path& folder) {
  const std::string label = std::regex_replace(encoding_label(config), std::regex("[^A-Za-z0-9.]+"), "-");
  const auto name = [&](std::string_view hash) {
    return folder / fmt::format("{}-seed{}-{}.json", label, config.seed, hash.substr(0, kNameDigits));
  };
  // Version 1 named files by the run's hash, which says nothing of stop rules: such a file is replaced when it is ours.
  const std::string before = config_identity(config, run.data_hash).version1;
  if (const fs::path old = name(before); !before.empty() && is_result_of(old, config)) return old;
  RunConfig copy = config;
  const FieldList list = describe(copy);
  std::vector<std::string> texts;
  for (const Field& f : list.fields()) texts.push_back(f.text());
  const std::string hash = IdentityMaker(list).cell(texts, run.data_hash, {}).current;
  return name(std::string_view(hash).substr(hash.find('-') + 1));
}

}  // namespace

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
    const RunConfig config = without_data_folders(*run.config);
    json["config"] = to_json(config);
    json["summary"] = Json::parse(read_text_file(path / "summary.json"));
    std::vector<std::string> notes;
    if (const Json analyses = flat_analyses(path.string(), notes); !analyses.empty()) json["analyses"] = analyses;
    if (!notes.empty()) json["notes"] = notes;
    for (const std::string& note : notes) kept.notes.push_back(path.string() + ": " + note);
    json["commit"] = run.manifest.value("commit", "unknown");
    const std::string file = kept_file(run, config, to).string();
    write_file_atomic(file, json.dump(1) + "\n");
    kept.written.push_back(file);
  }
  return kept;
}

}  // namespace locus
