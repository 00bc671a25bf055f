#include "report/runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "analyze/results/registry.h"
#include "core/error.h"
#include "core/nan.h"
#include "core/parallel.h"
#include "core/text.h"
#include "report/markup.h"
#include "run/analysis_files.h"
#include "run/layout.h"

namespace locus::report {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxCurvePoints = 160;

void append_row(Curves& curves, const MetricRow& row) {
  const std::size_t before = curves.epochs.size();
  const auto add = [&](const std::string& name, double value) {
    auto& series = curves.series[name];
    series.resize(before, kNan);
    series.push_back(value);
  };
  add("lr", row.lr);
  add("grad_norm", row.grad_norm);
  for (const auto& [name, value] : row.values) add(name, value);
  curves.epochs.push_back(static_cast<double>(row.epoch));
  for (auto& [name, series] : curves.series) series.resize(before + 1, kNan);
}

Curves curves_of(const MetricsTable& table) {
  Curves curves;
  curves.evaluations = table.evaluations;
  for (const MetricRow& row : table.rows) append_row(curves, row);
  return curves;
}

// An error becomes a problem that names the file.
template <class Step>
void guarded(Run& run, const fs::path& file, const Step& step) {
  const auto tell = [&](const std::string& text) {
    const bool named = text.find(file.string()) != std::string::npos;
    run.problems.push_back(named ? text : file.string() + ": " + text);
  };
  try {
    step();
  } catch (const Error& error) {
    tell(one_line(error));
  } catch (const std::exception& error) {
    tell(error.what());
  }
}

void load_analyses(Run& run, const RunReader& reader) {
  std::map<std::string, std::vector<std::string>> unverified;  // names by note: one sentence for all
  for (const Analysis& analysis : all_analyses()) {
    const std::string& name = analysis.name;
    if (analysis.on_group()) continue;
    guarded(run, analysis_file(run.path, name), [&] {
      std::optional<StoredAnalysis> stored = stored_analysis(reader, name);
      if (!stored) return;
      if (stored->check.age == AnalysisAge::kUnverified) unverified[stored->check.note].push_back(name);
      if (!stored->check.usable()) {
        run.stale.insert(name);
        run.problems.push_back(fmt::format("{} {}", analysis_file(run.path, name).string(), stored->check.note));
        return;
      }
      stored->json.sort_keys();
      std::any result = analysis.result.read(stored->json);
      analysis.result.keep_ends(result);  // rows about snapshots are many and no figure shows them
      run.analyses[name] = std::move(result);
    });
  }
  for (const auto& [note, names] : unverified)
    run.problems.push_back(fmt::format("analyses {}: {}", join(names, ", "), note));
}

// The reader names files by their whole path; below the name of its run the rest is enough.
void shorten_paths(const std::string& path, std::vector<std::string>& problems) {
  const std::string prefix = (fs::path(path) / "").string();
  for (std::string& text : problems) {
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
      text.erase(at, prefix.size());
  }
}

Run load_run(const std::string& path) {
  Run run;
  run.path = path;
  run.status = "damaged";
  guarded(run, path, [&] {
    const RunReader reader(path);
    run.config = reader.config();
    run.manifest = reader.manifest();
    run.curves = curves_of(reader.thinned_metrics(kMaxCurvePoints));
    static_cast<RunState&>(run) = reader.state();
    run.problems = reader.problems();
    load_analyses(run, reader);
  });
  shorten_paths(path, run.problems);
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

Results load_group_analyses(std::span<const std::string> dirs, std::vector<Warning>& warnings) {
  Results found;
  for (const std::string& dir : dirs) {
    for (const Analysis& analysis : all_analyses()) {
      if (!analysis.on_group()) continue;
      const fs::path path = analysis_file(dir, analysis.name);
      std::error_code code;
      if (!fs::exists(path, code)) continue;
      try {
        Json json = read_analysis_file(path);
        json.sort_keys();
        const AnalysisCheck check = check_analysis_in(dir, json);
        if (!check.note.empty()) warnings.push_back({-1, path.string() + " " + check.note});
        if (check.usable()) found.emplace(analysis.name, analysis.result.read(json));
      } catch (const Error& error) {
        warnings.push_back({-1, path.string() + ": " + one_line(error)});
      }
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
