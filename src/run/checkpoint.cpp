#include "run/checkpoint.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/error.h"
#include "core/hash.h"
#include "core/json.h"
#include "io/file.h"
#include "run/files.h"
#include "run/layout.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "run.";
constexpr const char* kFormatKey = "run.format";
constexpr const char* kStepKey = "run.step";
constexpr const char* kHashKey = "run.config_hash";
constexpr const char* kModelKey = "run.model_sha256";
constexpr const char* kConfigKey = "run.config_sha256";
constexpr const char* kRowsKey = "run.metrics_rows";
constexpr const char* kCsvKey = "run.metrics_csv_bytes";
constexpr const char* kCsvHashKey = "run.metrics_csv_sha256";

bool is_object_text(const std::string& text) { return Json::parse(text).is_object(); }

// "pt" is what PyTorch's own loaders look for.
const TensorMetadata kModelMetadata = {{"format", "pt"}};

void write_model_files(const fs::path& folder, const ModelFiles& model) {
  LOCUS_CHECK(is_object_text(model.config_json), "config_json is a JSON object");
  write_safetensors(folder / run_files::kModel, model.tensors, kModelMetadata);
  write_file_atomic(folder / run_files::kModelConfig, model.config_json);
}

[[noreturn]] void throw_unusable(const fs::path& where, std::string what, std::string got = {}, std::string expected = {}) {
  throw IoError({.what = std::move(what),
                 .where = where.string(),
                 .got = std::move(got),
                 .expected = std::move(expected),
                 .hint = "use the previous checkpoint"});
}

std::int64_t stored_count(const TensorFile& state, const char* key) {
  const auto it = state.metadata.find(key);
  const auto number = it == state.metadata.end() ? std::nullopt : number_of_name(it->second);
  if (!number) throw_unusable(state.source, fmt::format("no checkpoint state: '{}' is missing", key));
  return *number;
}

std::string stamp_of(const TensorFile& state, const char* key) {
  const auto it = state.metadata.find(key);
  return it == state.metadata.end() ? "nothing" : it->second;
}

void require_stamp(const TensorFile& state, const char* key, const std::string& expected, const std::string& what) {
  const std::string got = stamp_of(state, key);
  if (got != expected) throw_unusable(state.source, what, got, expected);
}

TensorFile read_own(const fs::path& path) {
  TensorFile file = read_safetensors(path);
  if (!file.verified) throw_unusable(path, "the file has no checksum, so it was not written by a run");
  return file;
}

}  // namespace

void write_model(const fs::path& folder, const ModelFiles& model) {
  write_folder_atomic(folder, [&](const fs::path& fresh) { write_model_files(fresh, model); });
}

void write_checkpoint(const fs::path& folder, const Checkpoint& checkpoint, const CheckpointStamp& stamp) {
  TensorMetadata metadata(checkpoint.metadata.begin(), checkpoint.metadata.end());
  for (const auto& [key, value] : metadata) LOCUS_CHECK(!key.starts_with(kPrefix), "metadata key is taken: " + key);
  metadata[kFormatKey] = std::to_string(kRunFormat);
  metadata[kStepKey] = std::to_string(checkpoint.step);
  metadata[kHashKey] = stamp.config_hash;
  metadata[kConfigKey] = sha256_hex(checkpoint.model.config_json);
  metadata[kRowsKey] = std::to_string(stamp.metrics.rows);
  metadata[kCsvKey] = std::to_string(stamp.metrics.csv_bytes);
  metadata[kCsvHashKey] = stamp.metrics.csv_sha256;
  write_folder_atomic(folder, [&](const fs::path& fresh) {
    write_model_files(fresh, checkpoint.model);
    metadata[kModelKey] = file_sha256(fresh / run_files::kModel);
    write_safetensors(fresh / run_files::kState, checkpoint.state, metadata);
  });
}

LoadedCheckpoint read_checkpoint(const fs::path& folder, const IdentityHashes& hashes) {
  LoadedCheckpoint loaded;
  loaded.state = read_own(folder / run_files::kState);
  const TensorFile& state = loaded.state;
  require_stamp(state, kFormatKey, std::to_string(kRunFormat), "a checkpoint of another format");
  if (const std::string hash = stamp_of(state, kHashKey); !hashes.knows(hash)) {
    throw_unusable(state.source, "the checkpoint belongs to another run", hash, hashes.current);
  }
  loaded.step = stored_count(state, kStepKey);
  loaded.metrics = {stored_count(state, kRowsKey), stored_count(state, kCsvKey), ""};
  if (const auto it = state.metadata.find(kCsvHashKey); it != state.metadata.end()) loaded.metrics.csv_sha256 = it->second;
  if (number_of_name(folder.filename().string()) != loaded.step) {
    throw_unusable(folder, "the checkpoint is of another step than its folder's name says", std::to_string(loaded.step));
  }

  const fs::path model_path = folder / run_files::kModel;
  loaded.model = {model_path, read_own(model_path), read_text_file(folder / run_files::kModelConfig)};
  require_stamp(state, kModelKey, file_sha256(model_path),
                fmt::format("{} and {} do not belong together", run_files::kModel, run_files::kState));
  require_stamp(state, kConfigKey, sha256_hex(loaded.model.config_json),
                fmt::format("{} was altered", run_files::kModelConfig));
  for (const auto& [key, value] : state.metadata) {
    if (!key.starts_with(kPrefix)) loaded.metadata[key] = value;
  }
  return loaded;
}

LoadedModel load_model_file(const fs::path& path) {
  std::error_code code;
  const bool folder = fs::is_directory(path, code);
  LoadedModel model;
  model.path = folder ? path / run_files::kModel : path;
  if (folder && !fs::exists(model.path, code)) {
    throw IoError({.what = "no model in this folder",
                   .where = path.string(),
                   .expected = fmt::format("a file {}", run_files::kModel),
                   .hint = "give init, final, a snapshot or a checkpoint of a run, or a .safetensors file"});
  }
  model.tensors = read_safetensors(model.path);
  const fs::path config = model.path.parent_path() / run_files::kModelConfig;
  if (folder || fs::exists(config, code)) model.config_json = read_text_file(config);
  return model;
}

std::vector<CheckpointEntry> list_checkpoints(const fs::path& folder) {
  std::vector<CheckpointEntry> entries;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    const auto step = number_of_name(it->path().filename().string());
    if (step && it->is_directory(ignored)) entries.push_back({*step, it->path()});
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.step > b.step; });
  return entries;
}

}  // namespace locus
