#include "report/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "config/load.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/text.h"
#include "io/file.h"
#include "report/markup.h"
#include "run/analysis_files.h"
#include "run/files.h"
#include "run/layout.h"
#include "run/run_record.h"
#include "run/run_summary.h"

namespace locus::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kMaxTextBytes = std::uint64_t{256} << 20;
constexpr std::size_t kMaxCurvePoints = 160;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (!line.empty()) lines.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

void append_line(Curves& curves, const json& line) {
  const std::size_t before = curves.epochs.size();
  double epoch = static_cast<double>(before);
  for (const auto& [key, value] : line.items()) {
    const std::optional<double> number = number_of_json(value);
    if (!number) continue;
    if (key == "epoch") {
      epoch = *number;
    } else {
      auto& series = curves.series[key];
      series.resize(before, kNan);
      series.push_back(*number);
    }
  }
  curves.epochs.push_back(epoch);
  for (auto& [key, series] : curves.series) series.resize(before + 1, kNan);
}

void load_metrics(Run& run) {
  const fs::path path = fs::path(run.path) / "metrics.jsonl";
  std::error_code code;
  if (!fs::exists(path, code)) {
    run.problems.push_back("metrics.jsonl is missing");
    return;
  }
  const std::string text = read_text_file(path, kMaxTextBytes);
  const std::vector<std::string_view> lines = lines_of(text);
  run.curves.evaluations = lines.size();
  std::size_t stride = 1;
  while (lines.size() / stride > kMaxCurvePoints) stride *= 2;
  std::size_t bad = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i % stride != 0 && i + 1 != lines.size()) continue;
    const json line = json::parse(lines[i], nullptr, false);
    if (line.is_object()) {
      append_line(run.curves, line);
    } else {
      ++bad;
    }
  }
  if (bad != 0) run.problems.push_back(fmt::format("{} of the lines read of metrics.jsonl are not JSON objects", bad));
}

void load_config(Run& run) {
  const fs::path path = fs::path(run.path) / "config.toml";
  std::error_code code;
  if (!fs::exists(path, code)) {
    run.problems.push_back("config.toml is missing");
    return;
  }
  RunConfig config;
  load_toml_text(config, read_text_file(path, kMaxTextBytes), run_files::kConfig);
  run.config = config;
}

void load_summary(Run& run) {
  const fs::path path = fs::path(run.path) / run_files::kSummary;
  std::error_code code;
  if (!fs::exists(path, code)) {
    const bool training = is_locked(fs::path(run.path) / run_files::kLock);
    run.status = training ? "training" : "unfinished";
    run.reason = training ? "a process is training it now" : "no summary.json: the run broke off";
    return;
  }
  run.status = "broken";
  const Summary summary = read_run_summary(run.path);
  run.verified = summary.verified;
  if (const std::string problem = metrics_problem(run.path, summary); !problem.empty()) run.problems.push_back(problem);
  run.status = std::string(kRunStatusNames[static_cast<std::size_t>(summary.status)]);
  run.reason = summary.reason;
  run.epochs = static_cast<double>(summary.epochs);
  run.steps = static_cast<double>(summary.steps);
  run.seconds = summary.seconds;
  for (const auto& [name, value] : summary.values) run.metrics[name] = value;
}

// Where a run has no summary, its last evaluation stands for it.
void fill_from_curves(Run& run) {
  if (run.curves.epochs.empty()) return;
  if (run.metrics.empty()) {
    for (const auto& [key, series] : run.curves.series) {
      if (key.find('.') != std::string::npos) run.metrics[key] = series.back();
    }
  }
  if (run.epochs == 0) run.epochs = run.curves.epochs.back();
  const auto last = [&](const char* key) {
    const auto it = run.curves.series.find(key);
    return it == run.curves.series.end() || !std::isfinite(it->second.back()) ? 0 : it->second.back();
  };
  if (run.steps == 0) run.steps = last("step");
  if (run.seconds == 0) run.seconds = last("seconds");
}

// Rows about snapshots are many and no figure shows them.
void drop_snapshots(json& analysis) {
  for (auto& [key, list] : analysis.items()) {
    if (!list.is_array()) continue;
    json kept = json::array();
    for (json& row : list) {
      const bool is_row = row.is_object() && row.contains("model") && row["model"].is_string();
      if (!is_row || row["model"] == "init" || row["model"] == "final") kept.push_back(std::move(row));
    }
    list = std::move(kept);
  }
}

void load_analyses(Run& run) {
  std::optional<ModelState> now;
  std::map<std::string, std::vector<std::string>> unverified;  // names by note: one sentence for all
  for (const char* name : kAnalyses) {
    const fs::path path = analysis_file(run.path, name);
    std::error_code code;
    if (!fs::exists(path, code)) continue;
    std::string problem;
    json analysis = load_json(path.string(), problem);
    if (analysis.is_object()) {
      if (!now) now = model_state(fs::path(run.path));
      const AnalysisCheck check = check_analysis(analysis, *now);
      if (check.age == AnalysisAge::kUnverified) unverified[check.note].push_back(name);
      if (!check.usable()) {
        run.stale.insert(name);
        run.problems.push_back(fmt::format("analysis/{}.json {}", name, check.note));
        continue;
      }
    }
    if (analysis.is_object() && analysis.contains("result") && analysis["result"].is_object())
      analysis = json(analysis["result"]);
    if (!analysis.is_object()) {
      run.problems.push_back("analysis/" + (problem.empty() ? std::string(name) + ".json is no object" : problem));
      continue;
    }
    drop_snapshots(analysis);
    run.analyses[name] = std::move(analysis);
  }
  for (const auto& [note, names] : unverified)
    run.problems.push_back(fmt::format("analyses {}: {}", join(names, ", "), note));
}

template <class Step>
void guarded(Run& run, const char* what, const Step& step) {
  try {
    step();
  } catch (const std::exception& error) {
    run.problems.push_back(fmt::format("{}: {}", what, error.what()));
  }
}

Run load_run(const std::string& path) {
  Run run;
  run.path = path;
  run.manifest = json::object();
  guarded(run, "config.toml", [&] { load_config(run); });
  guarded(run, "manifest.json", [&] {
    std::string problem;
    json manifest = load_json(path + "/manifest.json", problem);
    if (manifest.is_object()) {
      run.manifest = std::move(manifest);
    } else {
      run.problems.push_back(problem);
    }
  });
  guarded(run, "metrics.jsonl", [&] { load_metrics(run); });
  guarded(run, "summary.json", [&] { load_summary(run); });
  guarded(run, "metrics", [&] { fill_from_curves(run); });
  guarded(run, "analysis", [&] { load_analyses(run); });
  if (run.status.empty()) run.status = "broken";
  return run;
}

// The path below the deepest folder that all runs share; a single run keeps its own folder's name.
void name_runs(std::vector<Run>& runs) {
  std::vector<std::vector<std::string>> parts;
  for (const Run& run : runs) {
    std::vector<std::string> own;
    for (const fs::path& p : fs::path(run.path)) {
      if (!p.empty() && p != ".") own.push_back(p.string());
    }
    parts.push_back(std::move(own));
  }
  std::size_t shared = 0;
  for (bool same = !parts.empty(); same; shared += same ? 1 : 0) {
    for (const auto& own : parts) same = same && shared + 1 < own.size() && own[shared] == parts[0][shared];
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    fs::path name;
    for (std::size_t k = shared; k < parts[i].size(); ++k) name /= parts[i][k];
    runs[i].name = clean_utf8(name.string());
    if (runs[i].name.empty()) runs[i].name = "run";
  }
}

}  // namespace

json load_json(const std::string& path, std::string& problem) {
  const std::string name = fs::path(path).filename().string();
  std::error_code code;
  if (!fs::exists(path, code)) {
    problem = name + " is missing";
    return nullptr;
  }
  try {
    json value = json::parse(read_text_file(path, kMaxTextBytes), nullptr, false);
    if (!value.is_discarded()) return value;
    problem = name + " is not valid JSON";
  } catch (const std::exception& error) {
    problem = name + ": " + error.what();
  }
  return nullptr;
}

std::map<std::string, json> load_group_analyses(std::span<const std::string> dirs, std::vector<Warning>& warnings) {
  std::map<std::string, json> found;
  for (const std::string& dir : dirs) {
    for (const char* name : {"identifiability", "relations"}) {
      std::string problem;
      const fs::path path = analysis_file(dir, name);
      json analysis = load_json(path.string(), problem);
      if (!analysis.is_object()) continue;
      const AnalysisCheck check = check_analysis_in(dir, analysis);
      if (!check.note.empty()) warnings.push_back({-1, path.string() + " " + check.note});
      if (check.usable()) found.emplace(name, std::move(analysis));
    }
  }
  return found;
}

std::string analysis_arrays(const Run& run, const std::string& analysis) {
  fs::path path = analysis_file(run.path, analysis);
  path.replace_extension(".npz");
  std::error_code code;
  return run.stale.count(analysis) != 0 || !fs::exists(path, code) ? "" : path.string();
}

std::vector<std::string> find_run_paths(std::span<const std::string> dirs) {
  const std::vector<fs::path> folders(dirs.begin(), dirs.end());
  std::vector<std::string> out;
  for (const fs::path& path : find_runs(folders)) out.push_back(path.string());
  return out;
}

std::vector<Run> load_runs(std::span<const std::string> paths) {
  std::vector<Run> runs(paths.size());
  ThreadPool pool(std::max(1, std::min(usable_cores(), 8)));
  pool.run(static_cast<int>(paths.size()),
           [&](int task, int) { runs[static_cast<std::size_t>(task)] = load_run(paths[static_cast<std::size_t>(task)]); });
  name_runs(runs);
  return runs;
}

}  // namespace locus::report
