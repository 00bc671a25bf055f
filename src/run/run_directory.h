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
#include "core/json.h"
#include "run/checkpoint.h"
#include "run/claim.h"
#include "run/dataset_info.h"
#include "run/files.h"
#include "run/live_state.h"
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
  // How the run that is gone on with came to its end; nothing when it has none.
  const std::optional<Summary>& earlier_end() const { return earlier_end_; }
  bool same_stop_rules() const { return same_stop_rules_; }  // as it was trained with before
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Call once it is known where training begins and before it changes anything: from here on the run is what this
  // configuration says. An end that an earlier process told of is taken back first, in one step, unless it stands.
  void begin(std::int64_t step, bool trains_on);

  void append_metrics(const MetricRow& row);
  // Call once after load_latest_checkpoint, with its position or {}; returns the seconds of the last row kept. IoError when
  // the rows are not those that the checkpoint saw; metrics_note() says what was mended or cannot be checked.
  double truncate_metrics(const MetricsPosition& position) { return metrics_.truncate(position); }
  void check_metrics(const MetricsPosition& position) const { metrics_.check(position); }  // throws as that does
  const std::string& metrics_note() const { return metrics_.note(); }

  // The metrics' position goes with it. Afterwards the newest `keep_checkpoints` good ones are left.
  void save_checkpoint(const Checkpoint& checkpoint);
  CheckpointSearch load_latest_checkpoint();

  // name: "init", "final" or "snapshots/<epoch>"
  void save_model(const std::string& name, const ModelFiles& model);

  void write_summary(const Summary& summary);
  void write_dataset(const TokenInfo& info);
  // Where training stands, for who looks on (read_live_state). Cheap: call it about once a second.
  void tell_state(const TrainingState& state);
  void log(std::string_view text);                 // one line for each line of the text, with the time
  std::filesystem::path predictions_path() const;  // for PredictionsWriter

 private:
  RunDirectory() = default;
  void start(const RunIdentity& identity);
  void resume(const RunIdentity& identity);
  void remove_old_checkpoints(std::int64_t newest);
  void require_in_place() const;
  template <class Write>
  void write_in_place(const Write& write) const;  // an error when the folder went away before, during or after

  std::filesystem::path path_;
  Descriptor folder_;  // whatever its name is by now
  Claim lock_;
  MetricsWriter metrics_;
  AppendFile log_;
  std::string config_hash_;  // the one that the run began with: of version 1 in an old folder
  IdentityHashes hashes_;    // what checkpoints may be stamped with
  std::string data_hash_;
  std::string run_id_;
  std::string signature_;
  int keep_checkpoints_ = 2;
  std::string began_;  // when this process began
  bool resumed_ = false;
  bool same_stop_rules_ = true;
  std::optional<Summary> earlier_end_;
  Json manifest_;  // to be written by begin()
  std::string config_text_;
  bool begun_ = true;
  std::set<std::int64_t> damaged_;  // steps of checkpoints that could not be read
  std::vector<std::string> warnings_;
};

// The right to write into a run's folder. IoError that names the owner when another process has it.
Claim take_run_lock(const std::filesystem::path& run);

}  // namespace locus
