#include "run/run_record.h"

#include <algorithm>
#include <functional>
#include <set>

#include "core/error.h"
#include "run/checkpoint.h"
#include "run/files.h"
#include "run/layout.h"
#include "run/manifest.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

// Runs `read`; an error becomes a problem.
void attempt(RunRecord& record, const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& e) {
    record.problems.push_back(one_line(e));
  }
}

bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::exists(path, code);
}

void add_model(RunRecord& record, ModelEntry::Kind kind, std::int64_t number, const std::string& name) {
  const fs::path path = record.path / name;
  if (!is_there(path)) return;
  if (is_there(path / run_files::kModel)) {
    record.models.push_back({kind, number, name, path});
  } else {
    record.problems.push_back((path / run_files::kModel).string() + ": missing");
  }
}

void list_models(RunRecord& record) {
  add_model(record, ModelEntry::Kind::kInit, 0, run_files::kInit);
  for (const auto& [folder, kind] : {std::pair(run_files::kSnapshots, ModelEntry::Kind::kSnapshot),
                                     std::pair(run_files::kCheckpoints, ModelEntry::Kind::kCheckpoint)}) {
    std::vector<CheckpointEntry> entries = list_checkpoints(record.path / folder);
    std::reverse(entries.begin(), entries.end());
    for (const CheckpointEntry& e : entries) {
      add_model(record, kind, e.step, std::string(folder) + "/" + e.path.filename().string());
    }
  }
  add_model(record, ModelEntry::Kind::kFinal, 0, run_files::kFinal);
}

void read_texts(RunRecord& record) {
  attempt(record, [&] {
    record.manifest = read_manifest(record.path / run_files::kManifest);
    record.config_hash = manifest_text(record.manifest, "config_hash");
    record.data_hash = manifest_text(record.manifest, "data_hash");
    record.signature = manifest_text(record.manifest, "signature");
  });
  attempt(record, [&] { record.config = read_config_file(record.path / run_files::kConfig); });
  attempt(record, [&] { record.metrics = read_metrics(record.path / run_files::kMetricsJsonl, record.problems); });
  const fs::path summary = record.path / run_files::kSummary;
  if (!is_there(summary)) return;
  attempt(record, [&] { record.summary = read_run_summary(record.path); });
  if (!record.summary) return;
  if (!record.summary->verified)
    record.notes.push_back(summary.string() + ": unverified, written before summaries named their run");
  attempt(record, [&] {
    if (const std::string problem = metrics_problem(record.path, *record.summary); !problem.empty())
      record.problems.push_back(problem);
  });
}

void collect_runs(const fs::path& folder, std::set<fs::path>& seen, std::vector<fs::path>& runs) {
  const auto add = [&](const fs::path& path) {
    std::error_code code;
    const fs::path real = fs::canonical(path, code);
    if (!code && seen.insert(real).second) runs.push_back(path);
  };
  if (is_run_directory(folder)) return add(folder);
  std::error_code code;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, code);
  for (const fs::recursive_directory_iterator end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    if (!it->is_directory(ignored) || !is_run_directory(it->path())) continue;
    add(it->path());
    it.disable_recursion_pending();
  }
}

}  // namespace

const ModelEntry* RunRecord::find_model(std::string_view name) const {
  const auto it = std::find_if(models.begin(), models.end(), [&](const ModelEntry& m) { return m.name == name; });
  return it == models.end() ? nullptr : &*it;
}

const ModelEntry* RunRecord::best_model() const {
  const ModelEntry* final_model = find_model(run_files::kFinal);
  const auto checkpoint = std::find_if(models.rbegin(), models.rend(),
                                       [](const ModelEntry& m) { return m.kind == ModelEntry::Kind::kCheckpoint; });
  const bool has_checkpoint = checkpoint != models.rend();
  // Extended and then interrupted: final is still that of the first end.
  const bool outdated = has_checkpoint && summary && summary->status == RunStatus::kInterrupted;
  if (final_model != nullptr && !outdated) return final_model;
  return has_checkpoint ? &*checkpoint : find_model(run_files::kInit);
}

RunRecord read_run(const fs::path& path) {
  std::error_code code;
  if (!fs::is_directory(path, code)) {
    throw IoError({.what = is_there(path) ? "a run is a folder, this is a file" : "no such run directory",
                   .where = path.string(),
                   .hint = "give the folder named after --out in training"});
  }
  RunRecord record;
  record.path = path;
  read_texts(record);
  list_models(record);
  record.training = is_locked(path / run_files::kLock);
  return record;
}

bool is_run_directory(const fs::path& path) {
  // Other programs have a manifest.json as well; a run has at least one of these beside it.
  return is_there(path / run_files::kManifest) &&
         (is_there(path / run_files::kConfig) || is_there(path / run_files::kMetricsJsonl) ||
          is_there(path / run_files::kCheckpoints) || is_there(path / run_files::kInit));
}

std::vector<fs::path> find_runs(std::span<const fs::path> folders) {
  std::set<fs::path> seen;
  std::vector<fs::path> runs;
  for (const fs::path& folder : folders) {
    std::error_code code;
    if (!fs::is_directory(folder, code)) {
      throw IoError({.what = "no such folder",
                     .where = folder.string(),
                     .hint = "check the spelling; a relative path is taken from the current directory"});
    }
    collect_runs(folder, seen, runs);
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

}  // namespace locus
