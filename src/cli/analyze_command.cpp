// locus analyze: finished runs to numbers.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "analyze/analyze.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/text.h"
#include "run/run_record.h"
#include "study/datasets.h"

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
    for (const AnalysisInfo& info : analysis_list()) {
      if (info.name == name && info.on_group == on_group) chosen.push_back(name);
      known = known || info.name == name;
    }
    if (name == "all" && !on_group) chosen.push_back(name);
    if (name == "all") any = true;
    if (!known) {
      std::vector<std::string> all;
      for (const AnalysisInfo& info : analysis_list()) all.push_back(info.name);
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

class Teller {
 public:
  explicit Teller(const AnalyzeCommandOptions& options) : options_(options) {}
  void tell(const std::string& run, const std::vector<AnalysisOutcome>& outcomes) {
    for (const AnalysisOutcome& o : outcomes) {
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
  void finish() {
    if (options_.json) print_line(json_.dump(1));
  }

 private:
  const AnalyzeCommandOptions& options_;
  nlohmann::ordered_json json_ = nlohmann::ordered_json::array();
};

}  // namespace

int run_analyze(const AnalyzeCommandOptions& options) {
  if (options.list) {
    for (const AnalysisInfo& a : analysis_list()) {
      print_line(fmt::format("{:<16} {}\n{:<16} needs {}{}", a.name, a.question, "", a.needs,
                             a.by_default ? "" : "; only when named"));
    }
    return kExitDone;
  }
  std::vector<fs::path> folders(options.dirs.begin(), options.dirs.end());
  const std::vector<fs::path> runs = find_runs(folders);
  if (runs.empty()) throw IoError({.what = "no run directory found", .where = join(options.dirs, ", ")});
  AnalyzeSettings settings;
  for (const std::string& r : options.references) settings.references.emplace_back(r);
  for (const std::string& s : options.settings) apply_setting(settings, s);
  Teller teller(options);
  bool any_single = false;
  bool any_group = false;
  const std::vector<std::string> single = names_of(options, false, any_single);
  const std::vector<std::string> group = names_of(options, true, any_group);
  const auto progress = [&](const std::string& text, double) {
    if (!options.quiet && stderr_is_terminal()) std::fprintf(stderr, "\r\033[K%s", text.c_str());
  };
  for (const fs::path& run : runs) {
    if (!any_single) break;
    AnalyzeOptions o;
    o.run = run;
    o.names = single;
    o.settings = settings;
    o.progress = progress;
    o.force = options.force;
    o.dataset = [&] {
      const RunRecord record = read_run(run);
      if (!record.config) throw IoError({.what = "no readable configuration", .where = run.string()});
      return make_dataset(*record.config, cache_folder());
    };
    teller.tell(run.string(), analyze_run(o));
  }
  if (any_group && runs.size() > 1) {
    AnalyzeGroupOptions g;
    g.runs = runs;
    g.out = options.out.empty() ? fs::path(options.dirs.front()) : fs::path(options.out);
    g.names = group;
    g.settings = settings;
    g.progress = progress;
    g.force = options.force;
    teller.tell("all runs", analyze_group(g));
  }
  teller.finish();
  return kExitDone;
}

}  // namespace locus::cli
