// Sweep plans, analyses, reports and figures.
#include <filesystem>

#include "analyze/analyze.h"
#include "cli/environment.h"
#include "convert.h"
#include "core/error.h"
#include "core/text.h"
#include "data/datasets.h"
#include "module.h"
#include "report/report.h"
#include "run/run_reader.h"
#include "sweep/plan.h"

namespace locus::python {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStateNames[] = {"computed", "cached", "not available"};

void add_outcomes(const std::string& run, const std::vector<AnalysisOutcome>& outcomes, py::list& out) {
  for (const AnalysisOutcome& o : outcomes) {
    py::dict row;
    row["run"] = run;
    row["analysis"] = o.name;
    row["state"] = kStateNames[static_cast<std::size_t>(o.state)];
    row["seconds"] = o.seconds;
    row["message"] = o.message;
    row["file"] = o.file.string();
    out.append(row);
  }
}

// Names kept to those of single runs or of groups; `any` says whether there is something to do.
std::vector<std::string> names_for(const std::vector<std::string>& names, bool on_group, bool& any) {
  std::vector<std::string> chosen;
  for (const Analysis& a : all_analyses()) {
    if (a.on_group() == on_group && std::count(names.begin(), names.end(), a.name) > 0) chosen.push_back(a.name);
  }
  any = names.empty() || !chosen.empty();
  return chosen;
}

void require_known(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const Analysis& a : all_analyses()) all.push_back(a.name);
  for (const std::string& name : names) {
    if (std::count(all.begin(), all.end(), name) > 0) continue;
    const std::string nearest = nearest_name(name, all);
    throw ConfigError({.what = "no such analysis",
                       .where = "only",
                       .got = name,
                       .expected = join(all, ", "),
                       .hint = nearest.empty() ? "" : "did you mean " + nearest + "?"});
  }
}

py::list analyze_runs(const std::vector<std::string>& dirs, const std::vector<std::string>& only,
                      const std::vector<std::string>& given, bool force, int threads) {
  require_known(only);
  AnalyzeSettings settings;
  settings.threads = cli::thread_count(threads);
  for (const std::string& s : given) apply_setting(settings, s);
  const std::vector<fs::path> runs = find_runs(std::vector<fs::path>(dirs.begin(), dirs.end()));
  if (runs.empty()) throw IoError({.what = "no run directory found", .where = join(dirs, ", ")});
  // Python's Ctrl-C ends an analysis where it reports how far it is.
  const AnalyzeProgress progress = [](const std::string&, double) {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  };
  py::list out;
  bool any_single = false;
  bool any_group = false;
  const std::vector<std::string> single = names_for(only, false, any_single);
  const std::vector<std::string> group = names_for(only, true, any_group);
  for (const fs::path& run : any_single ? runs : std::vector<fs::path>{}) {
    AnalyzeOptions options;
    options.run = run;
    options.names = single;
    options.settings = settings;
    options.progress = progress;
    options.force = force;
    options.dataset = [&] {
      const RunReader reader(run);
      if (!reader.config()) throw IoError({.what = "no readable configuration", .where = run.string()});
      return make_dataset(*reader.config(), cli::cache_folder());
    };
    std::vector<AnalysisOutcome> outcomes;
    {
      const py::gil_scoped_release free;
      outcomes = analyze_run(options);
    }
    add_outcomes(run.string(), outcomes, out);
  }
  if (any_group && runs.size() > 1) {
    AnalyzeGroupOptions all;
    all.runs = runs;
    all.out = dirs.front();
    all.names = group;
    all.settings = settings;
    all.progress = progress;
    all.force = force;
    std::vector<AnalysisOutcome> outcomes;
    {
      const py::gil_scoped_release free;
      outcomes = analyze_group(all);
    }
    add_outcomes("all runs", outcomes, out);
  }
  return out;
}

py::dict write_page(const std::vector<std::string>& dirs, const std::string& page, const std::string& title) {
  report::ReportOptions options;
  options.dirs = dirs;
  options.out = page;
  options.title = title;
  report::ReportResult result;
  {
    const py::gil_scoped_release free;
    result = report::write_report(options);
  }
  py::dict out;
  out["page"] = result.page;
  out["folder"] = result.folder;
  out["figures"] = result.figures;
  out["missing"] = result.missing;
  out["warnings"] = result.warnings;
  return out;
}

py::list sweep_cells(const std::string& file, const std::vector<std::string>& overrides,
                     const std::vector<std::string>& when) {
  SweepPlan plan;
  {
    const py::gil_scoped_release free;
    plan = make_plan(load_sweep({file, overrides, when}));
  }
  py::list out;
  for (const SweepCell& cell : plan.cells) {
    py::dict row;
    row["cell"] = cell.hash;
    row["name"] = plan.name(cell);
    row["seed"] = cell.seed;
    out.append(row);
  }
  return out;
}

}  // namespace

void add_tools(py::module_& m) {
  m.def("analyze", analyze_runs, py::arg("dirs"), py::arg("only"), py::arg("settings"), py::arg("force"),
        py::arg("threads"));
  m.def("analyses", [] {
    py::list out;
    for (const Analysis& a : all_analyses()) out.append(py::make_tuple(a.name, a.question, a.needs));
    return out;
  });
  m.def("report", write_page, py::arg("dirs"), py::arg("out"), py::arg("title"));
  m.def("plot", [](const std::string& name, const std::vector<std::string>& dirs, const std::vector<std::string>& choices) {
    const py::gil_scoped_release free;
    report::PlotOptions options;
    options.choices = choices;
    return report::plot_figure(name, dirs, options);
  });
  m.def("figures", [] {
    py::list out;
    for (const report::FigureInfo& f : report::figure_list()) out.append(py::make_tuple(f.name, f.title, f.needs));
    return out;
  });
  m.def("sweep_cells", sweep_cells, py::arg("file"), py::arg("overrides"), py::arg("when"));
}

}  // namespace locus::python
