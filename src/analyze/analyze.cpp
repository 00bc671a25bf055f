#include "analyze/analyze.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "analyze/chosen_examples.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "io/file.h"
#include "io/system.h"
#include "run/layout.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

enum class Scope { kRun, kGroup };

std::vector<const Analysis*> choose(Scope scope, const std::vector<std::string>& names) {
  std::vector<const Analysis*> entries;
  std::vector<std::string> known;
  for (const Analysis& a : all_analyses()) {
    if (a.on_group() != (scope == Scope::kGroup)) continue;
    entries.push_back(&a);
    known.push_back(a.name);
  }
  const bool all = std::find(names.begin(), names.end(), "all") != names.end();
  for (const std::string& name : names) {
    if (name == "all" || std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = nearest_name(name, known);
    throw ConfigError({.what = "unknown analysis",
                       .got = name,
                       .expected = join(known, ", "),
                       .hint = near.empty() ? "locus analyze --list shows them" : "did you mean " + near + "?"});
  }
  std::vector<const Analysis*> out;
  for (const Analysis* a : entries) {
    const bool named = std::find(names.begin(), names.end(), a->name) != names.end();
    if (all || named || (names.empty() && a->by_default)) out.push_back(a);
  }
  return out;
}

std::string settings_text(AnalyzeSettings settings, const std::vector<std::string>& keys) {
  const FieldList list = describe(settings);
  std::string text;
  for (const std::string& key : keys) {
    const Json value = std::visit([](const auto& v) { return Json(v); }, list.find(key, "settings").value());
    text += key + "=" + value.dump() + "\n";
  }
  return text;
}

std::string files_text(const std::vector<fs::path>& files) {
  std::string text;
  std::error_code code;
  for (const fs::path& file : files) {
    if (fs::is_regular_file(file, code)) text += file_sha256(file) + "\n";
  }
  return text;
}

std::string run_text(const fs::path& path, bool snapshots) {
  const RunReader run(path);
  std::vector<fs::path> files = model_files(run, {.snapshots = snapshots});
  files.push_back(path / run_files::kDataset);
  std::string text = run.config_hash() + "\n" + run.data_hash() + "\n";
  for (const ModelEntry& m : run.models()) text += m.name + "\n";
  return text + files_text(files);
}

std::string hash_of(const Analysis& entry, const AnalyzeOptions& options) {
  const auto uses = [&](const char* key) {
    return std::find(entry.keys.begin(), entry.keys.end(), key) != entry.keys.end();
  };
  std::string text = fmt::format("{} {}\n", entry.name, entry.version) + settings_text(options.settings, entry.keys);
  if (options.settings.array_mb != AnalyzeSettings().array_mb) text += settings_text(options.settings, {"array_mb"});
  text += run_text(options.run, uses("snapshots") && options.settings.snapshots);
  if (uses("references")) {
    for (const std::string& path : options.settings.references) text += run_text(path, false);
  }
  if (uses("others")) {
    for (const std::string& path : options.settings.others) text += run_text(path, false);
  }
  if (uses("matrices")) {
    std::vector<fs::path> files;
    for (const std::string& matrix : options.settings.matrices) files.push_back(truth_file(matrix));
    text += files_text(files);
  }
  return sha256_hex(text);
}

Json made_of(const Analysis& entry, const AnalyzeOptions& options, const ModelState& state) {
  Json json = to_json(state);
  const auto add = [&](const char* key, const std::vector<std::string>& runs) {
    if (std::find(entry.keys.begin(), entry.keys.end(), key) == entry.keys.end()) return;
    for (const std::string& run : runs) json[kMadeWith].push_back(to_json(RunReader(run).model_state(), run));
  };
  add("references", options.settings.references);
  add("others", options.settings.others);
  return json;
}

std::string reason_of(const Error& e) {
  const ErrorParts& p = e.parts();
  std::string text = p.what;
  if (!p.got.empty()) text += " (" + p.got + ")";
  if (!p.expected.empty()) text += "; expected " + p.expected;
  if (!p.hint.empty()) text += "; " + p.hint;
  return text;
}

// Arrays of all pairs of many tokens are large, and models give them again at any time: what no report shows is kept as far
// as there is room, smallest first.
void keep_small(AnalysisOutput& output, double megabytes) {
  const auto bytes = [](const ResultArray& a) { return static_cast<double>(a.values.size() * sizeof(float)); };
  std::vector<const ResultArray*> by_size;
  for (const ResultArray& a : output.arrays) {
    if (!a.shown) by_size.push_back(&a);
  }
  std::stable_sort(by_size.begin(), by_size.end(), [&](const auto* a, const auto* b) { return bytes(*a) < bytes(*b); });
  std::set<std::string> kept, left;
  double room = 1e6 * megabytes;
  for (const ResultArray* a : by_size) {
    room -= bytes(*a);
    (room >= 0 ? kept : left).insert(a->name);
  }
  if (left.empty()) return;
  std::erase_if(output.arrays, [&](const ResultArray& a) { return left.contains(a.name); });
  output.json["arrays_left_out"] = std::vector<std::string>(left.begin(), left.end());
}

// Runs `compute` unless its result is there; what cannot be had becomes an outcome.
AnalysisOutcome perform(const fs::path& folder, const AnalysisStamp& stamp, bool force, double array_mb,
                        const std::function<AnalysisOutput()>& compute) {
  AnalysisOutcome outcome;
  outcome.name = stamp.name;
  outcome.file = analysis_file(folder, stamp.name);
  if (!force && is_cached(folder, stamp)) {
    outcome.state = AnalysisState::kCached;
    return outcome;
  }
  const auto start = std::chrono::steady_clock::now();
  std::optional<AnalysisOutput> output;
  try {
    output = compute();
  } catch (const Error& e) {
    outcome.state = AnalysisState::kUnavailable;
    outcome.message = reason_of(e);
    write_unavailable(folder, stamp, e);
  }
  if (output) {
    keep_small(*output, array_mb);
    write_analysis(folder, stamp, *output);
  }
  outcome.seconds = seconds_since(start);
  return outcome;
}

}  // namespace

std::vector<AnalysisOutcome> analyze_run(const AnalyzeOptions& options) {
  const std::vector<const Analysis*> chosen = choose(Scope::kRun, options.names);
  std::optional<AnalysisRun> run;
  std::optional<Dataset> dataset;
  bool lacks_data = false;
  const std::function<const Dataset&()> get_dataset = [&]() -> const Dataset& {
    if (!dataset) {
      if (!options.dataset) {
        throw DataError({.what = "the examples the run was trained on are not at hand",
                         .where = options.run.string(),
                         .hint = "give the data set; locus analyze makes it from the run's configuration"});
      }
      lacks_data = true;
      dataset = options.dataset();
      lacks_data = false;
    }
    require_same_data(*run, *dataset);
    return *dataset;
  };
  const ModelState state = RunReader(options.run).model_state();
  std::vector<AnalysisOutcome> outcomes;
  for (const Analysis* entry : chosen) {
    const AnalysisStamp stamp{entry->name, hash_of(*entry, options), made_of(*entry, options, state)};
    const auto compute = [&] { return entry->of_run({*run, get_dataset, options.settings, options.progress}); };
    if (!run && (options.force || !is_cached(options.run, stamp))) {
      run = load_analysis_run(options.run, nullptr, {.snapshots = options.settings.snapshots});
      add_truths(*run, options.settings.matrices);
    }
    lacks_data = false;
    outcomes.push_back(perform(options.run, stamp, options.force, options.settings.array_mb, compute));
    outcomes.back().lacks_data = lacks_data;
  }
  return outcomes;
}

std::vector<AnalysisOutcome> analyze_group(const AnalyzeGroupOptions& options) {
  make_folders(options.out);
  const std::vector<const Analysis*> chosen = choose(Scope::kGroup, options.names);
  Json states = Json::array();
  for (const fs::path& path : options.runs) states.push_back(to_json(RunReader(path).model_state(), path));
  std::vector<AnalysisOutcome> outcomes;
  for (const Analysis* entry : chosen) {
    std::string text = fmt::format("{} {}\n", entry->name, entry->version) + settings_text(options.settings, entry->keys);
    for (const fs::path& path : options.runs) {
      text += path.string() + "\n" + run_text(path, options.settings.snapshots);
      if (!entry->reads_results) continue;
      std::vector<fs::path> results;
      for (const Analysis* of_run : choose(Scope::kRun, {"all"})) results.push_back(analysis_file(path, of_run->name));
      results.push_back(path / run_files::kSummary);
      text += files_text(results);
    }
    const AnalysisStamp stamp{entry->name, sha256_hex(text), states};
    const auto compute = [&] { return entry->of_group({options.runs, options.settings, options.progress}); };
    outcomes.push_back(perform(options.out, stamp, options.force, options.settings.array_mb, compute));
  }
  return outcomes;
}

}  // namespace locus
