#include "run/run_directory.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <chrono>
#include <thread>

#include "config/load.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "io/file.h"
#include "run/data_folder.h"
#include "run/layout.h"
#include "run/manifest.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOtherOut = "choose another --out";
constexpr std::size_t kDifferencesShown = 12;
constexpr int kLockTries = 6;  // a reader that asks is_locked() holds the lock for an instant
constexpr std::chrono::milliseconds kLockPause{30};

enum class FolderState { kNew, kRun };

[[noreturn]] void refuse(const fs::path& path, std::string what, std::string got = {}) {
  throw ConfigError({.what = std::move(what), .where = path.string(), .got = std::move(got), .hint = kOtherOut});
}

// New: absent, empty, or left by a process that was killed before it wrote the manifest (it had made the lock by then).
FolderState folder_state(const fs::path& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) return FolderState::kNew;
  if (!fs::is_directory(status)) refuse(path, "this is a file, not a folder");
  if (fs::exists(path / run_files::kManifest, code)) return FolderState::kRun;
  const bool lock_left = fs::exists(path / run_files::kLock, code);
  fs::directory_iterator it(path, code);
  if (code) throw_system_error("cannot read the folder", path, code.value());
  for (const fs::directory_iterator end; it != end; it.increment(code)) {
    const std::string name = it->path().filename().string();
    const bool ours = name == run_files::kLock || (lock_left && name == run_files::kConfig);
    if (!ours && !is_temporary_name(name)) refuse(path, "the folder is not empty and holds no run", "for example " + name);
  }
  return FolderState::kNew;
}

void require_space(const fs::path& path, std::uint64_t bytes) {
  const std::uint64_t free = disk_free(path);
  if (free >= bytes) return;
  throw IoError({.what = "not enough disk space for this run",
                 .where = path.string(),
                 .got = human_bytes(static_cast<double>(free)) + " free",
                 .expected = "about " + human_bytes(static_cast<double>(bytes)),
                 .hint = "free some space or choose another --out"});
}

[[noreturn]] void refuse_other_config(const fs::path& path, std::vector<std::string> differences) {
  if (differences.size() > kDifferencesShown) {
    const std::size_t more = differences.size() - kDifferencesShown;
    differences.resize(kDifferencesShown);
    differences.push_back(fmt::format("and {} more", more));
  }
  throw ConfigError({.what = "the folder holds a run of another configuration",
                     .where = path.string(),
                     .got = join(differences, "; "),
                     .expected = fmt::format("the configuration in its {}", run_files::kConfig),
                     .hint = "choose another --out, or leave these keys as they were"});
}

// The keys are the same as far as they can be read, the hash is not.
[[noreturn]] void refuse_other_identity(const fs::path& path, const RunIdentity& identity, const Json& manifest,
                                        const std::string& config_problem) {
  if (!config_problem.empty()) refuse(path, "the folder holds a run of another configuration", config_problem);
  const std::string stored_data = manifest_text(manifest, "data_hash");
  if (stored_data == identity.data_hash) {
    refuse(path, "the folder holds a run of another version of the program, which knew other settings",
           fmt::format("configuration {} (there: {})", identity.hashes.current, manifest_text(manifest, "config_hash")));
  }
  refuse(path, "the folder holds a run of the same configuration with other data",
         fmt::format("data {} (there: {})", identity.data_hash, stored_data));
}

// The folder that make_folders(path) would make first; empty when path exists.
fs::path first_missing(fs::path path) {
  std::error_code code;
  fs::path missing;
  path = fs::absolute(path, code).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  for (; !path.empty() && !fs::exists(path, code); path = path.parent_path()) {
    missing = path;
    if (path == path.parent_path()) break;
  }
  return missing;
}

void require_name(const fs::path& path) {
  if (path.empty()) throw ConfigError({.what = "the output folder has no name", .hint = "give --out DIR"});
}

// Takes back what start() wrote before it failed.
void remove_started(const fs::path& path) {
  std::error_code code;
  for (const char* name :
       {run_files::kManifest, run_files::kConfig, run_files::kMetricsJsonl, run_files::kMetricsCsv, run_files::kLog}) {
    fs::remove(path / name, code);
  }
}

// Removes `path` and its parents down from `made`, as far as they are empty.
void remove_made(const fs::path& path, const fs::path& made) {
  std::error_code code;
  fs::path folder = fs::absolute(path, code).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  while (!made.empty() && fs::remove(folder, code) && folder != made) folder = folder.parent_path();
}

void clean_temporaries(const fs::path& path) {
  for (const char* name : {".", run_files::kCheckpoints, run_files::kSnapshots}) remove_temporaries(path / name);
}

}  // namespace

Claim take_run_lock(const fs::path& path) {
  ClaimWatch watch;
  std::string owner;
  for (int i = 0; i < kLockTries; ++i) {
    if (i > 0) std::this_thread::sleep_for(kLockPause);
    if (std::optional<Claim> claim = Claim::take(path / run_files::kLock, &watch, &owner)) return std::move(*claim);
  }
  throw IoError(
      {.what = fmt::format("another process trains here ({})", owner.empty() ? "unknown process" : owner),
       .where = path.string(),
       .hint = "wait for it or stop it, or choose another --out; where it is certain that it runs no more, remove " +
               (path / run_files::kLock).string()});
}

void RunDirectory::probe(const fs::path& path, const RunConfig& config, const RunOptions& options) {
  require_name(path);
  const FolderState state = folder_state(path);
  std::error_code code;
  fs::path existing = fs::absolute(path, code).lexically_normal();
  while (!fs::exists(existing, code) && existing != existing.parent_path()) existing = existing.parent_path();
  ensure_writable_directory(existing);
  require_space(existing, options.disk_bytes);
  if (state == FolderState::kNew) return;
  std::vector<std::string> differences;
  try {
    differences = identity_differences(config, read_config_file(path / run_files::kConfig));
  } catch (const Error&) {
    return;  // open_for_training can decide by the hash
  }
  if (!differences.empty()) refuse_other_config(path, std::move(differences));
}

RunDirectory RunDirectory::open_for_training(const fs::path& path, const RunIdentity& identity, const RunOptions& options) {
  LOCUS_CHECK(!identity.hashes.current.empty() && options.keep_checkpoints >= 1, "a run has a hash and keeps a checkpoint");
  require_name(path);
  folder_state(path);
  require_space(path, options.disk_bytes);
  RunDirectory run;
  run.path_ = path;
  run.keep_checkpoints_ = options.keep_checkpoints;
  run.config_hash_ = identity.hashes.current;
  run.hashes_ = identity.hashes;
  run.data_hash_ = identity.data_hash;
  run.signature_ = identity.signature.hash;
  run.began_ = utc_now();
  const fs::path made = first_missing(path);
  bool starting = false;
  try {
    ensure_writable_directory(path);
    run.lock_ = take_run_lock(path);
    if (run.lock_.kind() == ClaimKind::kLease)
      run.warnings_.push_back(claim_method(path).reason + "; this run is claimed by a lease, the file lock");
    remove_live_state(path);  // of a process that was killed
    run.folder_ = open_path(path, O_RDONLY | O_DIRECTORY);
    starting = folder_state(path) == FolderState::kNew;
    clean_temporaries(path);
    if (starting) {
      run.start(identity);
    } else {
      run.resume(identity);
    }
  } catch (...) {
    if (starting) remove_started(path);
    run.lock_.release();
    remove_made(path, made);
    throw;
  }
  return run;
}

void RunDirectory::start(const RunIdentity& identity) {
  // In this order: folder_state() knows a start that was cut off by what stands there without a manifest.
  write_file_atomic(path_ / run_files::kConfig, to_toml(identity.config));
  Json manifest = make_manifest(identity);
  manifest["folder"] = working_folder(path_);
  run_id_ = manifest_text(manifest, "run_id");
  write_manifest(path_ / run_files::kManifest, manifest);
  metrics_ = MetricsWriter(path_);
  log_ = AppendFile(path_ / run_files::kLog);
}

void RunDirectory::resume(const RunIdentity& identity) {
  const fs::path manifest_path = path_ / run_files::kManifest;
  const fs::path config_path = path_ / run_files::kConfig;
  std::string manifest_problem;
  std::string config_problem;
  Json manifest;
  std::vector<std::string> differences;
  try {
    manifest = read_manifest(manifest_path);
  } catch (const Error& e) {
    manifest_problem = one_line(e);
  }
  try {
    const RunConfig there = read_config_file(config_path);
    differences = identity_differences(identity.config, there);
    same_stop_rules_ = identity.config.stop == there.stop;
  } catch (const Error& e) {
    config_problem = one_line(e);
  }
  // Either file tells whether this is our run; the checkpoints are stamped with the hash besides.
  const std::string stored_hash = manifest_text(manifest, "config_hash");
  if (!manifest_problem.empty() && !config_problem.empty()) {
    refuse(path_, "the folder holds a damaged run", manifest_problem + "; " + config_problem);
  }
  if (!differences.empty()) refuse_other_config(path_, std::move(differences));
  if (manifest_problem.empty() && !identity.hashes.knows(stored_hash)) {
    refuse_other_identity(path_, identity, manifest, config_problem);
  }
  if (!manifest_problem.empty()) {
    warnings_.push_back(manifest_problem + "; it was written anew");
    manifest = make_manifest(identity);
  } else {
    config_hash_ = stored_hash;
  }
  if (!config_problem.empty()) warnings_.push_back(config_problem + "; it was written anew");
  if (const std::string before = manifest_text(manifest, "signature"); !same_behaviour(before, identity.signature)) {
    warnings_.push_back(fmt::format(
        "this program computes differently from the one that began the run (signature {}, there: {}); the result will be "
        "that of neither alone",
        identity.signature.hash, before));
  }
  note_resume(manifest, identity);
  manifest["folder"] = working_folder(path_);
  run_id_ = manifest_text(manifest, "run_id");
  manifest_ = std::move(manifest);
  config_text_ = to_toml(identity.config);
  begun_ = false;
  metrics_ = MetricsWriter(path_);
  log_ = AppendFile(path_ / run_files::kLog);
  try {
    if (std::error_code code; fs::exists(path_ / run_files::kSummary, code)) earlier_end_ = read_run_summary(path_);
  } catch (const IoError& e) {
    warnings_.push_back(one_line(e));  // begin() removes it
  }
  resumed_ = true;
}

void RunDirectory::begin(std::int64_t step, bool trains_on) {
  if (begun_) return;
  begun_ = true;
  require_in_place();
  const bool stands = earlier_end_ && earlier_end_->is_complete() && earlier_end_->steps == step && !trains_on;
  if (!stands && remove_file(path_ / run_files::kSummary)) sync_folder(path_);
  write_manifest(path_ / run_files::kManifest, manifest_);
  write_file_atomic(path_ / run_files::kConfig, config_text_);
}

// A folder that was moved or removed must not come back under its old name with a part of the run in it. One that was
// emptied is told by its manifest.
void RunDirectory::require_in_place() const {
  std::error_code code;
  const bool here = is_at(folder_, path_);
  if (here && (!begun_ || fs::exists(path_ / run_files::kManifest, code))) return;
  if (here) {
    throw IoError({.what = "files of the run were removed while it was trained",
                   .where = (path_ / run_files::kManifest).string(),
                   .hint = "nothing can be made of what is left: remove the folder and train again"});
  }
  const fs::path now = fs::read_symlink(fmt::format("/proc/self/fd/{}", folder_.get()), code);
  throw IoError({.what = "the folder of the run was moved, removed or replaced while it was trained",
                 .where = path_.string(),
                 .got = code ? "" : "it is now " + now.string(),
                 .hint = "train again with --out as the folder is called now: the run goes on from its last checkpoint"});
}

template <class Write>
void RunDirectory::write_in_place(const Write& write) const {
  require_in_place();
  try {
    write();
  } catch (const IoError&) {
    require_in_place();  // that is the reason then
    throw;
  }
  require_in_place();
}

void RunDirectory::append_metrics(const MetricRow& row) {
  begin(-1, true);
  write_in_place([&] { metrics_.append(row); });
}

void RunDirectory::save_checkpoint(const Checkpoint& checkpoint) {
  begin(-1, true);
  const fs::path folder = path_ / run_files::kCheckpoints;
  write_in_place([&] {
    // The checkpoint refers to rows of the metrics: they must be on the disk before it is.
    metrics_.sync();
    write_checkpoint(folder / checkpoint_name(checkpoint.step), checkpoint, {config_hash_, metrics_.position()});
  });
  damaged_.erase(checkpoint.step);
  remove_old_checkpoints(checkpoint.step);
}

void RunDirectory::remove_old_checkpoints(std::int64_t newest) {
  int kept = 0;
  for (const CheckpointEntry& entry : list_checkpoints(path_ / run_files::kCheckpoints)) {
    // Later steps are those that could not be used when the run went on from an earlier one.
    const bool good = entry.step <= newest && damaged_.count(entry.step) == 0;
    if (good && kept < keep_checkpoints_) {
      ++kept;
    } else {
      remove_folder(entry.path);
      damaged_.erase(entry.step);
    }
  }
}

CheckpointSearch RunDirectory::load_latest_checkpoint() {
  CheckpointSearch search;
  for (const CheckpointEntry& entry : list_checkpoints(path_ / run_files::kCheckpoints)) {
    try {
      search.checkpoint = read_checkpoint(entry.path, hashes_);
      break;
    } catch (const Error& e) {
      damaged_.insert(entry.step);
      search.warnings.push_back(fmt::format("checkpoint of step {} cannot be used: {}", entry.step, one_line(e)));
    }
  }
  if (!search.warnings.empty()) {
    search.warnings.push_back(search.checkpoint ? fmt::format("going on from step {} instead", search.checkpoint->step)
                                                : "no usable checkpoint is left: the run begins anew");
  }
  return search;
}

void RunDirectory::save_model(const std::string& name, const ModelFiles& model) {
  const bool snapshot = is_snapshot(name) && name.find('/') + 1 < name.size() && name.find('/') == name.rfind('/') &&
                        name.find("/.") == std::string::npos;
  LOCUS_CHECK(name == run_files::kInit || name == run_files::kFinal || snapshot, "unknown place for a model: " + name);
  write_in_place([&] { write_model(path_ / name, model); });
}

void RunDirectory::write_summary(const Summary& summary) {
  Summary complete = summary;
  complete.config_hash = config_hash_;
  complete.data_hash = data_hash_;
  complete.signature = signature_;
  complete.run_id = run_id_;
  require_in_place();
  complete.metrics_sha256 = file_sha256(path_ / run_files::kMetricsJsonl);
  begin(summary.steps, false);
  // Beside a checkpoint of a later step, one that could not be used, this end would look like an earlier one.
  if (summary.is_complete()) remove_old_checkpoints(summary.steps);
  remove_live_state(path_);  // first: with a summary the run is over, whatever comes after it
  write_in_place([&] { write_summary_file(path_ / run_files::kSummary, complete); });
}

void RunDirectory::tell_state(const TrainingState& state) {
  write_in_place([&] { write_live_state(path_, state, began_); });
}

void RunDirectory::write_dataset(const TokenInfo& info) {
  write_in_place([&] { write_dataset_info(path_ / run_files::kDataset, info); });
}

void RunDirectory::log(std::string_view text) {
  const std::string now = utc_now();
  std::string lines;
  for (const std::string& line : split(text, '\n')) {
    if (!line.empty()) lines += fmt::format("{} {}\n", now, line);
  }
  log_.append(lines);
}

fs::path RunDirectory::predictions_path() const { return path_ / run_files::kPredictions; }

}  // namespace locus
