// Models and checkpoints on disk: folders of safetensors files that appear whole or not at all, checked when read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/identity.h"
#include "io/safetensors.h"
#include "run/metrics.h"

namespace locus {

// A model to write: tensors that somebody else owns (tensor_view<float>(name, shape, values)), in order.
struct ModelFiles {
  std::vector<TensorView> tensors;
  std::string config_json;  // nested configuration and "shape"; a JSON object
};

// Where training stands after `step` steps. `metadata` holds what is no array: epoch, generators' states, ...
// No times, if final checkpoints are to be equal byte for byte. Keys that begin with "run." are taken.
struct Checkpoint {
  std::int64_t step = 0;
  ModelFiles model;
  std::vector<TensorView> state;
  std::map<std::string, std::string> metadata;
};

struct LoadedModel {
  std::filesystem::path path;  // of the safetensors file
  TensorFile tensors;
  std::string config_json;  // empty when no config.json lies beside a bare file
};

struct LoadedCheckpoint {
  std::int64_t step = 0;
  LoadedModel model;
  TensorFile state;
  std::map<std::string, std::string> metadata;  // as given to save
  MetricsPosition metrics;                      // for truncate_metrics
};

// What is written beside the caller's own state, and checked on reading.
struct CheckpointStamp {
  std::string config_hash;
  MetricsPosition metrics;
};

void write_model(const std::filesystem::path& folder, const ModelFiles& model);
void write_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint, const CheckpointStamp& stamp);

// IoError that says what is wrong: missing, truncated, altered, of another run, or files of several checkpoints mixed.
LoadedCheckpoint read_checkpoint(const std::filesystem::path& folder, const IdentityHashes& hashes);

// A folder with model.safetensors, or such a file itself (it may come from elsewhere and have no checksum).
LoadedModel load_model_file(const std::filesystem::path& path);

// Steps of the checkpoints in `folder` (a run's checkpoints/), newest first; not checked.
struct CheckpointEntry {
  std::int64_t step = 0;
  std::filesystem::path path;
};
std::vector<CheckpointEntry> list_checkpoints(const std::filesystem::path& folder);

}  // namespace locus
