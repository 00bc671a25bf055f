#include "report/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "config/load.h"
#include "core/error.h"
#include "core/parallel.h"
#include "io/file.h"
#include "report/markup.h"

namespace locus::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kMaxTextBytes = std::uint64_t{256} << 20;
constexpr std::size_t kMaxCurvePoints = 160;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool is_run(const fs::path& dir) {
  std::error_code code;
  for (const char* file : {"config.toml", "manifest.json", "summary.json", "metrics.jsonl"}) {
    if (fs::is_regular_file(dir / file, code)) return true;
  }
  return false;
}

void collect_runs(const fs::path& dir, int depth, std::set<std::string>& out) {
  if (is_run(dir)) {
    out.insert(dir.lexically_normal().string());
    return;
  }
  if (depth == 0) return;
  std::error_code code;
  for (fs::directory_iterator it(dir, fs::directory_options::skip_permission_denied, code), end; !code && it != end;
       it.increment(code)) {
    std::error_code inner;
    if (it->is_directory(inner) && !it->is_symlink(inner)) collect_runs(it->path(), depth - 1, out);
  }
}

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
    const std::optional<double> number = json_number(value);
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
  load_toml_text(config, read_text_file(path, kMaxTextBytes), "config.toml");
  run.config = config;
}

void load_summary(Run& run) {
  std::string problem;
  const json summary = load_json(run.path + "/summary.json", problem);
  if (!summary.is_object()) {
    std::error_code code;
    const bool exists = fs::exists(fs::path(run.path) / "summary.json", code);
    run.status = exists ? "broken" : "unfinished";
    run.reason = exists ? problem : "no summary.json: the run has not ended, or was killed";
    return;
  }
  run.status = summary.contains("status") && summary["status"].is_string() ? summary["status"].get<std::string>() : "broken";
  if (summary.contains("reason") && summary["reason"].is_string()) run.reason = summary["reason"].get<std::string>();
  for (const auto& [key, value] : summary.items()) {
    const std::optional<double> number = json_number(value);
    if (number && key.find('.') != std::string::npos) run.metrics[key] = *number;
    if (number && key == "epochs") run.epochs = *number;
    if (number && key == "steps") run.steps = *number;
    if (number && key == "seconds") run.seconds = *number;
  }
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

std::optional<double> json_number(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  if (text == "nan" || text == "NaN") return kNan;
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

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

std::vector<std::string> find_runs(std::span<const std::string> dirs) {
  std::set<std::string> out;
  for (const std::string& dir : dirs) {
    std::error_code code;
    if (!fs::is_directory(dir, code)) {
      throw IoError({.what = "no such folder",
                     .where = "",
                     .got = dir,
                     .expected = "a run directory or a folder of them",
                     .hint = "give the --out folder of locus train or locus sweep"});
    }
    collect_runs(dir, 4, out);
  }
  return {out.begin(), out.end()};
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
