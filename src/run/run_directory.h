// The folder of one training run while it is being written: identity, lock, metrics, checkpoints, results.
// The contract stands in docs/run_directory.md. Nothing here prints; what a user should know is in warnings().
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/identity.h"
#include "config/run_config.h"
#include "run/checkpoint.h"
#include "run/dataset_info.h"
#include "run/files.h"
#include "run/metrics.h"
#include "run/predictions.h"
#include "run/run_summary.h"

namespace locus {

// What the manifest says of one tensor.
struct ParameterInfo {
  std::string name;
  std::vector<std::int64_t> shape;
  bool trained = true;
  double lr = 0;
  double weight_decay = 0;
};

// What a run is (config, hashes) and how it was started (the rest).
struct RunIdentity {
  RunConfig config;
  IdentityHashes hashes;  // of the configuration and the data
  std::string data_hash;
  PinnedSignature signature;  // of the encoding's behaviour; a change is a warning on resume
  std::string command;
  std::int64_t threads = 1;
  std::map<std::string, std::string> data;
  std::map<std::string, std::string> preprocessing;
  std::vector<ParameterInfo> parameters;
};

struct RunOptions {
  std::uint64_t disk_bytes = 0;  // what the run will write; must be free beforehand
  int keep_checkpoints = 2;
};

struct CheckpointSearch {
  std::optional<LoadedCheckpoint> checkpoint;
  std::vector<std::string> warnings;  // one for each checkpoint that could not be used
};

class RunDirectory {
 public:
  // Early check, before data are loaded; leaves nothing behind. Throws as open_for_training would, as far as can be known.
  static void probe(const std::filesystem::path& path, const RunConfig& config, const RunOptions& options = {});

  // Creates the folder or goes on with the run of the same configuration in it.
  // ConfigError: a run of another configuration (says which keys differ), or a folder that is no run directory.
  // IoError: unwritable, not enough space, or another process trains there.
  static RunDirectory open_for_training(const std::filesystem::path& path, const RunIdentity& identity,
                                        const RunOptions& options = {});

  const std::filesystem::path& path() const { return path_; }
  bool resumed() const { return resumed_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

  void append_metrics(const MetricRow& row);
  MetricsPosition metrics_position() const { return metrics_.position(); }
  // Call once after load_latest_checkpoint, with its position or {}; returns the seconds of the last row kept. IoError when
  // the rows are not those that the checkpoint saw; metrics_note() says what was mended or cannot be checked.
  double truncate_metrics(const MetricsPosition& position) { return metrics_.truncate(position); }
  const std::string& metrics_note() const { return metrics_.note(); }

  // The metrics' position goes with it. Afterwards the newest `keep_checkpoints` good ones are left.
  void save_checkpoint(const Checkpoint& checkpoint);
  CheckpointSearch load_latest_checkpoint();

  // name: "init", "final" or "snapshots/<epoch>"
  void save_model(const std::string& name, const ModelFiles& model);

  void write_summary(const Summary& summary);
  void write_dataset(const DatasetInfo& info);
  void log(std::string_view text);                 // one line for each line of the text, with the time
  std::filesystem::path predictions_path() const;  // for PredictionsWriter

 private:
  RunDirectory() = default;
  void start(const RunIdentity& identity);
  void resume(const RunIdentity& identity);

  std::filesystem::path path_;
  RunLock lock_;
  MetricsWriter metrics_;
  AppendFile log_;
  std::string config_hash_;  // the one that the run began with: of version 1 in an old folder
  IdentityHashes hashes_;    // what checkpoints may be stamped with
  std::string data_hash_;
  std::string run_id_;
  std::string signature_;
  int keep_checkpoints_ = 2;
  bool resumed_ = false;
  bool summary_is_stale_ = false;
  std::set<std::int64_t> damaged_;  // steps of checkpoints that could not be read
  std::vector<std::string> warnings_;
};

}  // namespace locus
