#include "run/run_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/error.h"
#include "io/file.h"
#include "run/checkpoint.h"
#include "run/dataset_info.h"
#include "run/files.h"
#include "run/layout.h"
#include "run/manifest.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

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

// Where a run has no last values of its own, those of its last evaluation stand for them.
void take_evaluation(RunState& state, const std::optional<MetricRow>& row) {
  if (!row) return;
  if (state.measures.empty()) state.measures = {row->values.begin(), row->values.end()};
  state.epochs = std::max(state.epochs, row->epoch);
  state.steps = std::max(state.steps, row->step);
  if (row->seconds > state.seconds) state.seconds = row->seconds;  // NaN is not
}

}  // namespace

RunReader::RunReader(fs::path path) : path_(std::move(path)) {
  std::error_code code;
  if (fs::is_directory(path_, code)) return;
  throw IoError({.what = is_there(path_) ? "a run is a folder, this is a file" : "no such run directory",
                 .where = path_.string(),
                 .hint = "give the folder named after --out in training"});
}

// An error becomes a problem.
template <class Read>
void RunReader::attempt(const Read& read) const {
  try {
    read();
  } catch (const Error& e) {
    problems_.push_back(one_line(e));
  } catch (const std::exception& e) {  // of one run, it must not end a list of many
    problems_.push_back(path_.string() + ": " + e.what());
  }
}

const std::optional<RunConfig>& RunReader::config() const {
  if (!config_) {
    config_.emplace();
    attempt([&] { *config_ = read_config_file(path_ / run_files::kConfig); });
  }
  return *config_;
}

const Json& RunReader::manifest() const {
  if (!manifest_) {
    manifest_ = Json::object();
    attempt([&] { manifest_ = read_manifest(path_ / run_files::kManifest); });
  }
  return *manifest_;
}

std::string RunReader::manifest_text(const char* key) const { return locus::manifest_text(manifest(), key); }

const MetricsTable& RunReader::metrics() const {
  if (!metrics_) {
    metrics_.emplace();
    attempt([&] { metrics_ = read_metrics(path_ / run_files::kMetricsJsonl, problems_); });
    check_metrics();
  }
  return *metrics_;
}

MetricsTable RunReader::thinned_metrics(std::size_t most) const {
  MetricsTable table;
  attempt([&] { table = read_metrics(path_ / run_files::kMetricsJsonl, problems_, most); });
  check_metrics();
  return table;
}

// Whether the file is the one that the summary was written beside.
void RunReader::check_metrics() const {
  if (std::exchange(metrics_checked_, true)) return;
  const fs::path file = path_ / run_files::kMetricsJsonl;
  if (!is_there(file)) problems_.push_back(file.string() + ": missing");
  if (!summary()) return;
  attempt([&] {
    if (const std::string problem = metrics_problem(path_, *summary()); !problem.empty()) problems_.push_back(problem);
  });
}

std::optional<MetricRow> RunReader::last_evaluation() const {
  std::optional<MetricRow> row;
  attempt([&] { row = read_last_metrics(path_ / run_files::kMetricsJsonl); });
  return row;
}

const std::optional<Summary>& RunReader::summary() const {
  if (!summary_) {
    summary_.emplace();
    const fs::path file = path_ / run_files::kSummary;
    if (is_there(file)) attempt([&] { *summary_ = read_run_summary(path_); });
    if (*summary_ && !(*summary_)->verified)
      notes_.push_back(file.string() + ": unverified, written before summaries named their run");
  }
  return *summary_;
}

void RunReader::list_models(std::vector<ModelEntry>& models) const {
  const auto add = [&](ModelEntry::Kind kind, std::int64_t number, const std::string& name) {
    const fs::path path = path_ / name;
    if (!is_there(path)) return;
    if (is_there(path / run_files::kModel)) {
      models.push_back({kind, number, name, path});
    } else {
      problems_.push_back((path / run_files::kModel).string() + ": missing");
    }
  };
  add(ModelEntry::Kind::kInit, 0, run_files::kInit);
  for (const auto& [folder, kind] : {std::pair(run_files::kSnapshots, ModelEntry::Kind::kSnapshot),
                                     std::pair(run_files::kCheckpoints, ModelEntry::Kind::kCheckpoint)}) {
    std::vector<CheckpointEntry> entries = list_checkpoints(path_ / folder);
    std::reverse(entries.begin(), entries.end());
    for (const CheckpointEntry& e : entries) add(kind, e.step, std::string(folder) + "/" + e.path.filename().string());
  }
  add(ModelEntry::Kind::kFinal, 0, run_files::kFinal);
}

const std::vector<ModelEntry>& RunReader::models() const {
  if (!models_) {
    models_.emplace();
    attempt([&] { list_models(*models_); });
  }
  return *models_;
}

const ModelEntry* RunReader::find_model(std::string_view name) const {
  const std::vector<ModelEntry>& all = models();
  const auto it = std::find_if(all.begin(), all.end(), [&](const ModelEntry& m) { return m.name == name; });
  return it == all.end() ? nullptr : &*it;
}

const ModelEntry* RunReader::best_model() const {
  const ModelEntry* final_model = find_model(run_files::kFinal);
  const std::vector<ModelEntry>& all = models();
  const auto checkpoint =
      std::find_if(all.rbegin(), all.rend(), [](const ModelEntry& m) { return m.kind == ModelEntry::Kind::kCheckpoint; });
  const bool has_checkpoint = checkpoint != all.rend();
  // An end is told of last. Without one, final is that of an earlier end or equal to the newest checkpoint.
  const bool ended = summary() && summary()->is_complete();
  if (final_model != nullptr && (ended || !has_checkpoint)) return final_model;
  return has_checkpoint ? &*checkpoint : find_model(run_files::kInit);
}

const ModelState& RunReader::model_state() const {
  if (model_state_) return *model_state_;
  ModelState& state = model_state_.emplace();
  state.config_hash = config_hash();
  state.data_hash = data_hash();
  const ModelEntry* const model = best_model();
  if (model == nullptr) return state;
  state.model = model->name;
  if (model->kind == ModelEntry::Kind::kCheckpoint) state.step = model->number;
  if (model->kind == ModelEntry::Kind::kFinal && summary()) state.step = summary()->steps;
  std::error_code code;
  const fs::path file = model->path / run_files::kModel;
  if (fs::is_regular_file(file, code)) state.sha256 = file_sha256(file);
  return state;
}

std::optional<TokenInfo> RunReader::tokens() const {
  const fs::path file = path_ / run_files::kDataset;
  if (!is_there(file)) return std::nullopt;
  return read_dataset_info(file);
}

std::optional<LiveState> RunReader::live() const { return read_live_state(path_); }

RunState RunReader::state() const {
  RunState out;
  const std::size_t problems_before = problems_.size();
  if (const std::optional<Summary>& s = summary()) {
    out.status = kRunStatusNames[static_cast<std::size_t>(s->status)];
    out.reason = s->reason;
    out.epochs = s->epochs;
    out.steps = s->steps;
    out.seconds = s->seconds;
    out.verified = s->verified;
    out.measures = {s->values.begin(), s->values.end()};
    if (out.complete()) return out;
  } else if (problems_.size() > problems_before || is_there(path_ / run_files::kSummary)) {
    out.status = "damaged";
    out.reason = problems_.size() > problems_before ? problems_.back() : "the summary cannot be read";
  }
  out.live = live();
  if (out.live) {
    out.status = "training";
    out.reason = out.live->pid > 0 ? fmt::format("pid {} on {}", out.live->pid, out.live->host) : "a process trains it now";
    out.epochs = std::max(out.epochs, out.live->epoch);
    out.steps = std::max(out.steps, out.live->step);
    out.seconds = std::max(out.seconds, out.live->seconds);
  } else if (out.status.empty()) {
    out.status = "unfinished";
    out.reason = "the run broke off";
  }
  if (out.status != "damaged") take_evaluation(out, last_evaluation());
  return out;
}

void RunReader::read_all() const {
  manifest();
  config();
  metrics();
  summary();
  models();
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
