// locus analyze: finished runs to numbers.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "analyze/analysis_run.h"
#include "analyze/analyze.h"
#include "cli/analysis_line.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "data/datasets.h"
#include "run/data_folder.h"
#include "run/run_reader.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;

const char* state_name(AnalysisState state) {
  switch (state) {
    case AnalysisState::kComputed:
      return "computed";
    case AnalysisState::kCached:
      return "cached";
    case AnalysisState::kUnavailable:
      return "not available";
  }
  return "";
}

// Names asked for, kept to those of single runs or of groups; empty stays empty (all by default).
std::vector<std::string> names_of(const AnalyzeCommandOptions& options, bool on_group, bool& any) {
  std::vector<std::string> chosen;
  any = options.names.empty();
  for (const std::string& name : options.names) {
    bool known = name == "all";
    for (const Analysis& info : all_analyses()) {
      if (info.name == name && info.on_group() == on_group) chosen.push_back(name);
      known = known || info.name == name;
    }
    if (name == "all" && !on_group) chosen.push_back(name);
    if (name == "all") any = true;
    if (!known) {
      std::vector<std::string> all;
      for (const Analysis& info : all_analyses()) all.push_back(info.name);
      const std::string nearest = nearest_name(name, all);
      throw ConfigError({.what = "no such analysis",
                         .where = "--only",
                         .got = name,
                         .expected = join(all, ", "),
                         .hint = nearest.empty() ? "" : "did you mean " + nearest + "?"});
    }
  }
  any = any || !chosen.empty();
  return chosen;
}

bool can_be_read(const fs::path& run) {
  try {
    load_analysis_run(run);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

class OutcomePrinter {
 public:
  explicit OutcomePrinter(const AnalyzeCommandOptions& options) : options_(options) {}
  void print(const std::string& run, const std::vector<AnalysisOutcome>& outcomes) {
    for (const AnalysisOutcome& o : outcomes) {
      if (o.lacks_data) ++without_data_;
      json_.push_back({{"run", run},
                       {"analysis", o.name},
                       {"state", state_name(o.state)},
                       {"seconds", o.seconds},
                       {"file", o.file.string()},
                       {"message", o.message}});
      if (options_.json) continue;
      print_line(fmt::format("{:<28} {:<16} {:<13} {:>7.1f} s{}", fs::path(run).filename().string(), o.name,
                             state_name(o.state), o.seconds, o.message.empty() ? "" : "  " + o.message));
    }
  }
  // Analyses that the data would have allowed are missed, and a script shall notice.
  int finish() {
    if (options_.json) print_line(json_.dump(1));
    if (without_data_ == 0) return kExitDone;
    message_line(
        fmt::format("error: the data of the runs were not found: {} analyses are missing\n"
                    "  hint:     call it from the folder the runs were trained in, or bring the data back there",
                    without_data_));
    return kExitFailed;
  }

 private:
  const AnalyzeCommandOptions& options_;
  Json json_ = Json::array();
  int without_data_ = 0;
};

AnalyzeSettings settings_of(const AnalyzeCommandOptions& options) {
  AnalyzeSettings settings;
  settings.threads = thread_count(options);
  for (const std::string& r : options.references) settings.references.emplace_back(r);
  for (const std::string& s : options.settings) apply_setting(settings, s);
  return settings;
}

void print_analyses() {
  for (const Analysis& a : all_analyses()) {
    print_line(fmt::format("{:<16} {}\n{:<16} needs {}{}", a.name, a.question, "", a.needs,
                           a.by_default ? "" : "; only when named"));
    if (!a.keys.empty()) print_line(fmt::format("{:<16} settings: {}", "", join(a.keys, ", ")));
  }
}

// The analyses of each run alone. Returns the runs that can be read; the others are named in a warning.
std::vector<fs::path> analyze_each(const std::vector<fs::path>& runs, AnalyzeOptions options, OutcomePrinter& printer,
                                   AnalysisLine& line) {
  std::vector<fs::path> readable;
  for (const fs::path& run : runs) {
    options.run = run;
    options.dataset = [&] {
      const RunReader reader(run);
      if (!reader.config()) throw IoError({.what = "no readable configuration", .where = run.string()});
      RunConfig config = *reader.config();
      find_data_from_here(config, run, reader.manifest());
      return make_dataset(config, cache_folder());
    };
    line.begin(run.filename().string());
    try {
      const std::vector<AnalysisOutcome> outcomes = analyze_run(options);
      line.clear();
      printer.print(run.string(), outcomes);
      readable.push_back(run);
    } catch (const std::exception& e) {
      line.clear();
      // One run that cannot be read does not end the list; a disk that is full does.
      if (runs.size() == 1 || can_be_read(run)) throw;
      message_line(fmt::format("warning: {} is left out: {}", run.string(), e.what()));
    }
  }
  return readable;
}

std::vector<fs::path> readable_of(const std::vector<fs::path>& runs) {
  std::vector<fs::path> readable;
  for (const fs::path& run : runs) {
    if (can_be_read(run)) {
      readable.push_back(run);
    } else {
      message_line(fmt::format("warning: {} is left out: it cannot be read", run.string()));
    }
  }
  return readable;
}

}  // namespace

int run_analyze(const AnalyzeCommandOptions& options) {
  if (options.list) {
    print_analyses();
    return kExitDone;
  }
  const std::vector<fs::path> runs = find_runs(std::vector<fs::path>(options.dirs.begin(), options.dirs.end()));
  if (runs.empty()) throw IoError({.what = "no run directory found", .where = join(options.dirs, ", ")});
  OutcomePrinter printer(options);
  bool any_single = false;
  bool any_group = false;
  AnalyzeOptions each;
  each.names = names_of(options, false, any_single);
  each.settings = settings_of(options);
  stop_at_once(kStoppedAnalysing);
  AnalysisLine line(options.quiet, runs.size());
  each.progress = line.hook();
  each.force = options.force;
  AnalyzeGroupOptions all;
  all.names = names_of(options, true, any_group);
  all.runs = any_single ? analyze_each(runs, each, printer, line) : readable_of(runs);
  if (all.runs.empty()) throw IoError({.what = "none of the runs can be read", .where = join(options.dirs, ", ")});
  if (any_group && runs.size() > 1) {
    all.out = options.out.empty() ? fs::path(options.dirs.front()) : fs::path(options.out);
    all.settings = each.settings;
    all.progress = each.progress;
    all.force = options.force;
    const std::vector<AnalysisOutcome> outcomes = analyze_group(all);
    line.clear();
    printer.print("all runs", outcomes);
  }
  return printer.finish();
}

}  // namespace locus::cli
