// A run directory as everything that looks at runs reads it. Each part is read from disk when it is first asked for; what is
// missing or broken is said in words and costs no other part.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"
#include "core/json.h"
#include "core/token_info.h"
#include "run/live_state.h"
#include "run/metrics.h"
#include "run/run_summary.h"

namespace locus {

// A folder with a model file.
struct ModelEntry {
  enum class Kind { kInit, kSnapshot, kCheckpoint, kFinal };
  Kind kind = Kind::kInit;
  std::int64_t number = 0;  // epoch of a snapshot, step of a checkpoint
  std::string name;         // "init", "snapshots/10", "checkpoints/0000000120", "final"
  std::filesystem::path path;
};

// The state of a run that an analysis looks at. No data set is needed to tell it.
struct ModelState {
  std::string config_hash;
  std::string data_hash;
  std::string model;      // "final", "checkpoints/0000000120"; "" when there is none
  std::string sha256;     // of its file
  std::int64_t step = 0;  // of training
};

// How a run ended, or how far it is.
struct RunState {
  std::string status;  // of the summary; "training", "unfinished" or "damaged" where that does not tell
  std::string reason;
  std::int64_t epochs = 0;
  std::int64_t steps = 0;
  double seconds = 0;
  std::map<std::string, double> measures;  // last values by name: of the summary, else of the last evaluation
  bool verified = false;                   // the summary is this run's for certain; those of earlier versions are not
  std::optional<LiveState> live;           // while a process trains it

  bool complete() const { return status == "finished" || status == "converged"; }
};

// For one thread at a time. Copies share nothing.
class RunReader {
 public:
  // IoError when `path` is no folder at all. Reads nothing yet.
  explicit RunReader(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }

  const std::optional<RunConfig>& config() const;  // nothing when it is missing or broken
  const Json& manifest() const;                    // an object, empty when it is missing or broken
  std::string manifest_text(const char* key) const;
  std::string config_hash() const { return manifest_text("config_hash"); }
  std::string data_hash() const { return manifest_text("data_hash"); }

  const MetricsTable& metrics() const;                   // every evaluation
  MetricsTable thinned_metrics(std::size_t most) const;  // see read_metrics; not kept
  std::optional<MetricRow> last_evaluation() const;      // reads the end of the file only, anew at each call
  const std::optional<Summary>& summary() const;  // nothing while a run goes on, after a kill, and when it is another run's

  const std::vector<ModelEntry>& models() const;              // init, snapshots by epoch, checkpoints by step, final
  const ModelEntry* find_model(std::string_view name) const;  // nullptr when absent
  // final (of a run that came to its end and was not extended since), else the newest checkpoint, else init; nullptr when
  // there is none. Files are not checked.
  const ModelEntry* best_model() const;
  const ModelState& model_state() const;  // of best_model(); hashes its file

  std::optional<TokenInfo> tokens() const;  // nothing when the run has no such file; IoError when it is damaged

  std::optional<LiveState> live() const;  // asked anew at each call
  RunState state() const;                 // the same, with what summary and metrics say

  void read_all() const;  // every part that may have a problem
  // Of the parts read so far.
  const std::vector<std::string>& problems() const { return problems_; }
  const std::vector<std::string>& notes() const { return notes_; }  // what cannot be checked, in a run of an earlier version

 private:
  template <class Read>
  void attempt(const Read& read) const;
  void check_metrics() const;
  void list_models(std::vector<ModelEntry>& models) const;

  std::filesystem::path path_;
  mutable std::optional<std::optional<RunConfig>> config_;
  mutable std::optional<Json> manifest_;
  mutable std::optional<MetricsTable> metrics_;
  mutable bool metrics_checked_ = false;
  mutable std::optional<std::optional<Summary>> summary_;
  mutable std::optional<std::vector<ModelEntry>> models_;
  mutable std::optional<ModelState> model_state_;
  mutable std::vector<std::string> problems_;
  mutable std::vector<std::string> notes_;
};

// Run directories at or below the given folders, each once, in byte order. IoError for a folder that is not there.
std::vector<std::filesystem::path> find_runs(std::span<const std::filesystem::path> folders);
bool is_run_directory(const std::filesystem::path& path);

}  // namespace locus
