#include "run/run_summary.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/error.h"
#include "core/json.h"
#include "io/codec.h"
#include "io/file.h"
#include "run/checkpoint.h"
#include "run/layout.h"
#include "run/manifest.h"

namespace locus {
namespace {

std::int64_t count_at(const Json& json, const char* key, const std::filesystem::path& file) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_number_integer()) {
    throw IoError({.what = std::string("'") + key + "' is missing or no count", .where = file.string()});
  }
  return it->get<std::int64_t>();
}

}  // namespace

std::optional<double> Summary::find(std::string_view name) const {
  for (const auto& [key, value] : values) {
    if (key == name) return value;
  }
  return std::nullopt;
}

void write_summary_file(const std::filesystem::path& file, const Summary& summary) {
  Json json;
  json["status"] = kRunStatusNames[static_cast<std::size_t>(summary.status)];
  json["reason"] = summary.reason;
  json["epochs"] = summary.epochs;
  json["steps"] = summary.steps;
  json["seconds"] = json_value(summary.seconds);
  json["config_hash"] = summary.config_hash;
  json["data_hash"] = summary.data_hash;
  json["signature"] = summary.signature;
  json["run_id"] = summary.run_id;
  json["metrics_sha256"] = summary.metrics_sha256;
  for (const auto& [key, value] : summary.values) {
    LOCUS_CHECK(!json.contains(key), "summary key is taken: " + key);
    json[key] = json_value(value);
  }
  write_file_atomic(file, json.dump(2) + "\n");
}

Summary read_summary_file(const std::filesystem::path& file) {
  const Json json = Json::parse(read_text_file(file));
  if (!json.is_object()) throw IoError({.what = "not a JSON object", .where = file.string()});
  Summary summary;
  const std::string status = text_at(json, "status");
  const auto* const name = std::find(kRunStatusNames.begin(), kRunStatusNames.end(), status);
  if (name == kRunStatusNames.end()) throw IoError({.what = "unknown status", .where = file.string(), .got = status});
  summary.status = static_cast<RunStatus>(name - kRunStatusNames.begin());
  summary.reason = text_at(json, "reason");
  summary.epochs = count_at(json, "epochs", file);
  summary.steps = count_at(json, "steps", file);
  summary.config_hash = text_at(json, "config_hash");
  summary.data_hash = text_at(json, "data_hash");
  summary.signature = text_at(json, "signature");
  summary.run_id = text_at(json, "run_id");
  summary.metrics_sha256 = text_at(json, "metrics_sha256");
  for (const auto& [key, value] : json.items()) {
    const auto number = number_of_json(value);
    if (key == "seconds") {
      summary.seconds = number.value_or(0);
    } else if (number && key != "epochs" && key != "steps" && key.find('.') != std::string::npos) {
      summary.values.emplace_back(key, *number);
    }
  }
  return summary;
}

Summary read_run_summary(const std::filesystem::path& run) {
  const std::filesystem::path file = run / run_files::kSummary;
  Summary summary = read_summary_file(file);
  const auto checkpoints = list_checkpoints(run / run_files::kCheckpoints);
  if (!checkpoints.empty() && checkpoints.front().step > summary.steps && summary.status != RunStatus::kInterrupted) {
    summary.reason =
        fmt::format("trained on from its end at step {} and cut off after step {}", summary.steps, checkpoints.front().step);
    summary.status = RunStatus::kInterrupted;
  }
  Json manifest;
  try {
    manifest = read_manifest(run / run_files::kManifest);
  } catch (const IoError&) {
    return summary;  // nothing to compare with
  }
  const auto same = [&](const char* key, const std::string& own) {
    const std::string there = manifest_text(manifest, key);
    if (!own.empty() && !there.empty() && own != there) {
      throw IoError({.what = "the summary is that of another run",
                     .where = file.string(),
                     .got = std::string(key) + " " + own,
                     .expected = there,
                     .hint = "put the right file back, or train again with the same --out: it goes on from its checkpoint"});
    }
    return !own.empty() && own == there;
  };
  const bool config = same("config_hash", summary.config_hash);
  const bool data = same("data_hash", summary.data_hash);
  summary.verified = same("run_id", summary.run_id) && config && data;
  return summary;
}

std::string metrics_problem(const std::filesystem::path& run, const Summary& summary) {
  const std::filesystem::path file = run / run_files::kMetricsJsonl;
  std::error_code code;
  if (summary.metrics_sha256.empty() || !std::filesystem::exists(file, code)) return "";
  if (file_sha256(file) == summary.metrics_sha256) return "";
  return file.string() + ": not as the run wrote it, so curves may be wrong";
}

}  // namespace locus
