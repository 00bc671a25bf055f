// A run directory as analyses and reports read it: whatever is there, and a list of what is missing or broken.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "run/metrics.h"
#include "run/run_summary.h"

namespace locus {

// A folder with a model.safetensors.
struct ModelEntry {
  enum class Kind { kInit, kSnapshot, kCheckpoint, kFinal };
  Kind kind = Kind::kInit;
  std::int64_t number = 0;  // epoch of a snapshot, step of a checkpoint
  std::string name;         // "init", "snapshots/10", "checkpoints/0000000120", "final"
  std::filesystem::path path;
};

struct RunRecord {
  std::filesystem::path path;
  std::optional<RunConfig> config;
  nlohmann::ordered_json manifest = nlohmann::ordered_json::object();
  std::string config_hash;  // from the manifest; "" when that is broken
  std::string data_hash;
  std::string signature;
  MetricsTable metrics;
  std::optional<Summary> summary;  // absent while a run goes on, and after a kill
  std::vector<ModelEntry> models;  // init, snapshots by epoch, checkpoints by step, final
  bool training = false;           // a process holds the lock right now
  std::vector<std::string> problems;
  std::vector<std::string> notes;  // what cannot be checked, in a run of an earlier version

  const ModelEntry* find_model(std::string_view name) const;  // nullptr when absent
  // final (unless the run was extended and interrupted), else the newest checkpoint, else init; nullptr when there is none.
  // Files are not checked.
  const ModelEntry* best_model() const;
};

// IoError only when `path` is no folder at all.
RunRecord read_run(const std::filesystem::path& path);

// Run directories at or below the given folders, each once, in byte order. IoError for a folder that is not there.
std::vector<std::filesystem::path> find_runs(std::span<const std::filesystem::path> folders);
bool is_run_directory(const std::filesystem::path& path);

}  // namespace locus
