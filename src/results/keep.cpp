#include "results/keep.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "config/identity.h"
#include "config/load.h"
#include "config/sources.h"
#include "core/json.h"
#include "core/text.h"
#include "io/codec.h"
#include "io/file.h"
#include "io/temporary.h"
#include "results/kept_analyses.h"
#include "results/kept_encodings.h"
#include "run/layout.h"
#include "run/run_reader.h"

namespace locus {

namespace fs = std::filesystem;
constexpr std::size_t kNameDigits = 8;

std::string encoding_label(const RunConfig& c) {
  std::string label = encoding_name(c);
  if (c.model.layers == 0) {
    label = c.model.head_hidden > 0 ? "MLP baseline" : "logistic baseline";
    if (c.model.attention_mask == AttentionMask::kCausal) label += ", causal";
  }
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
  for (const SourceRow& source : source_rows()) {
    if (source.forget_places != nullptr) source.forget_places(c);
  }
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

}  // namespace

std::vector<std::string> differing_keys(const RunConfig& a, const RunConfig& b) {
  RunConfig any;
  const FieldList list = describe(any);
  const std::vector<std::string> x = result_texts(without_data_folders(a));
  const std::vector<std::string> y = result_texts(without_data_folders(b));
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] != y[i]) keys.push_back(list.fields()[i].path);
  }
  return keys;
}

namespace {

bool is_result_of(const fs::path& file, const RunConfig& config) {
  std::error_code code;
  if (!fs::exists(file, code)) return false;
  try {
    return differing_keys(read_kept_run(file).config, config).empty();
  } catch (const std::exception&) {
    return false;  // whatever it is, it is not this run's
  }
}

// The text with every stretch of other characters than letters, digits and dots as one dash.
std::string file_name_part(const std::string& text) {
  std::string out;
  bool inside = false;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
    if (plain) out += c;
    if (!plain && !inside) out += '-';
    inside = !plain;
  }
  return out;
}

// Runs that differ in any key that matters, also in when they stop or what they watch, get files of their own.
fs::path kept_file(const std::string& data_hash, const RunConfig& config, const fs::path& folder) {
  const std::string label = file_name_part(encoding_label(config));
  const auto name = [&](std::string_view hash) {
    return folder / fmt::format("{}-seed{}-{}.json", label, config.seed, hash.substr(0, kNameDigits));
  };
  // Version 1 named files by the run's hash, which says nothing of stop rules: such a file is replaced when it is ours.
  const std::string before = config_identity(config, data_hash).version1;
  if (const fs::path old = name(before); !before.empty() && is_result_of(old, config)) return old;
  RunConfig copy = config;
  const FieldList list = describe(copy);
  std::vector<std::string> texts;
  for (const Field& f : list.fields()) texts.push_back(f.text());
  const std::string hash = IdentityMaker(list).cell(texts, data_hash, {}).current;
  return name(std::string_view(hash).substr(hash.find('-') + 1));
}

// Whether a file holds the result of this very training.
bool holds_summary(const fs::path& file, const Json& summary) {
  std::error_code code;
  if (!fs::exists(file, code)) return false;
  try {
    return Json::parse(read_text_file(file)).at("summary") == summary;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

KeptRun read_kept_run(const fs::path& file) {
  const Json json = Json::parse(read_text_file(file));
  KeptRun run;
  run.file = file.filename().string();
  run.config = run_config_from_json(json.at("config"), file.string());
  for (const char* part : {"summary", "analyses"}) {
    if (!json.contains(part)) continue;
    for (const auto& [key, value] : json[part].items()) {
      if (const auto number = number_of_json(value)) run.values[key] = *number;
      if (key == "data_hash" && value.is_string()) run.data_hash = value.get<std::string>();
    }
  }
  return run;
}

KeptResults keep_results(const std::vector<std::string>& dirs, const std::string& to) {
  ensure_writable_directory(to);
  remove_stale_temporaries(to);
  KeptResults kept;
  std::vector<fs::path> folders(dirs.begin(), dirs.end());
  for (const fs::path& path : find_runs(folders)) {
    const RunReader run(path);
    if (!run.state().complete() || !run.config()) {
      kept.skipped.push_back(path.string());
      continue;
    }
    Json json;
    const RunConfig config = without_data_folders(*run.config());
    json["config"] = to_json(config);
    json["summary"] = Json::parse(read_text_file(path / run_files::kSummary));
    std::vector<std::string> notes;
    if (const Json analyses = flat_analyses(run, notes); !analyses.empty()) json["analyses"] = analyses;
    if (!notes.empty()) json["notes"] = notes;
    for (const std::string& note : notes) kept.notes.push_back(path.string() + ": " + note);
    json["commit"] = run.manifest().value("commit", "unknown");
    const std::string file = kept_file(run.data_hash(), config, to).string();
    if (std::find(kept.written.begin(), kept.written.end(), file) != kept.written.end()) {
      kept.notes.push_back(path.string() + ": left out, another folder holds the same run: " + file);
      continue;
    }
    if (const std::string note = keep_encoding(run, file); !note.empty()) {
      kept.notes.push_back(path.string() + ": " + note);
      // What was kept before may be of an earlier training.
      if (!holds_summary(file, json["summary"])) remove_kept_encoding(file);
    }
    write_file_atomic(file, json.dump(1) + "\n");
    kept.written.push_back(file);
  }
  return kept;
}

}  // namespace locus
