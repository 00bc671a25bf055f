#include "analyze/analyze.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "analyze/attention.h"
#include "analyze/evaluate.h"
#include "analyze/identifiability.h"
#include "analyze/interventions.h"
#include "analyze/kernel.h"
#include "analyze/logits.h"
#include "analyze/movement.h"
#include "analyze/networks.h"
#include "analyze/recovery.h"
#include "analyze/relations.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "io/file.h"
#include "run/layout.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

// What an analysis of one run works on; the data set is made when first asked for.
struct Job {
  const AnalysisRun& run;
  const std::function<const Dataset&()>& dataset;
  const AnalyzeSettings& settings;
  const AnalyzeProgress& progress;
};

struct RunEntry {
  AnalysisInfo info;
  int version;                    // raised when the same inputs give other results
  std::vector<std::string> keys;  // of the settings that matter
  AnalysisOutput (*function)(const Job&);
};

template <class Result>
AnalysisOutput output_of(Result result, std::vector<std::pair<std::string, std::string>> tables) {
  AnalysisOutput out;
  out.json = to_json(result);
  out.tables = std::move(tables);
  if constexpr (requires { result.arrays; }) out.arrays = std::move(result.arrays);
  return out;
}

AnalysisOutput run_recovery(const Job& job) {
  RecoveryResult r = analyze_recovery(job.run, job.settings, job.progress);
  std::vector<std::pair<std::string, std::string>> tables = {{"", rows_to_csv(r.layers)}, {"truths", rows_to_csv(r.truths)}};
  return output_of(std::move(r), std::move(tables));
}

AnalysisOutput run_networks(const Job& job) {
  NetworkResult r = analyze_networks(job.run, job.settings, job.progress);
  std::string rows = rows_to_csv(r.rows);
  return output_of(std::move(r), {{"", std::move(rows)}});
}

AnalysisOutput run_movement(const Job& job) {
  MovementResult r = analyze_movement(job.run, job.settings, job.progress);
  std::string rows = rows_to_csv(r.rows);
  return output_of(std::move(r), {{"", std::move(rows)}});
}

AnalysisOutput run_attention(const Job& job) {
  AttentionResult r = analyze_attention(job.run, job.dataset(), job.settings, job.progress);
  std::vector<std::pair<std::string, std::string>> tables = {{"", rows_to_csv(r.agreement)},
                                                             {"entropy", rows_to_csv(r.entropy)},
                                                             {"dependencies", rows_to_csv(r.dependencies)},
                                                             {"truths", rows_to_csv(r.truths)}};
  return output_of(std::move(r), std::move(tables));
}

AnalysisOutput run_logits(const Job& job) {
  LogitResult r = analyze_logits(job.run, job.dataset(), job.settings, job.progress);
  std::string rows = rows_to_csv(r.rows);
  return output_of(std::move(r), {{"", std::move(rows)}});
}

AnalysisOutput run_interventions(const Job& job) {
  InterventionResult r = analyze_interventions(job.run, job.dataset(), job.settings, job.progress);
  std::string rows = rows_to_csv(r.rows);
  return output_of(std::move(r), {{"", std::move(rows)}});
}

AnalysisOutput run_kernel(const Job& job) {
  KernelResult r = analyze_kernel(job.run, job.dataset(), job.settings, job.progress);
  std::vector<std::pair<std::string, std::string>> tables = {{"", rows_to_csv(r.kernels)},
                                                             {"taylor", rows_to_csv(r.taylor)}};
  return output_of(std::move(r), std::move(tables));
}

const std::vector<RunEntry>& run_entries() {
  static const std::vector<RunEntry> entries = {
      {{"recovery", "Did the positions recover the true arrangement of the tokens?", "a PE that adds a table"},
       1,
       {"seed", "permutations", "snapshots", "matrices"},
       run_recovery},
      {{"networks", "Are positions grouped as modules or networks are?", "a PE that adds a table, labels of the tokens"},
       3,
       {"seed", "permutations", "surrogates", "community_starts", "resolution", "snapshots", "matrices"},
       run_networks},
      {{"movement", "How far did parameters move, positions and the rest apart?", "the model at initialisation"},
       1,
       {"snapshots"},
       run_movement},
      {{"logits", "How far do attention logits spread, by parts of positions and content?",
        "examples; a PE that adds a table, norm = post", false, true},
       1,
       {"seed", "snapshots", "split", "examples"},
       run_logits},
      {{"attention", "Where does attention go, and does it agree with a reference and with the task?",
        "examples; reference runs for agreement", false, true},
       1,
       {"seed", "permutations", "snapshots", "split", "examples", "kept_examples", "references"},
       run_attention},
      {{"interventions", "Do the positions cause the generalisation? (changed in a trained model, nothing retrained)",
        "examples; a PE table that can be replaced", false, true},
       1,
       {"seed", "examples", "others", "alphas", "scales", "repeats", "most_lesions"},
       run_interventions},
      {{"kernel", "Lazy or rich: does the neural tangent kernel change during training?",
        "examples, the model at initialisation; about a minute a checkpoint", false, true, false},
       1,
       {"seed", "snapshots", "split", "probe", "probe_outputs"},
       run_kernel},
  };
  return entries;
}

struct GroupJob {
  const std::vector<fs::path>& runs;
  const AnalyzeSettings& settings;
  const AnalyzeProgress& progress;
};

struct GroupEntry {
  AnalysisInfo info;
  int version;
  std::vector<std::string> keys;
  AnalysisOutput (*function)(const GroupJob&);
};

AnalysisOutput run_identifiability(const GroupJob& job) {
  IdentifiabilityResult r = analyze_identifiability(job.runs, job.settings, job.progress);
  std::vector<std::pair<std::string, std::string>> tables = {{"", rows_to_csv(r.pairs)},
                                                             {"summary", rows_to_csv(r.summary)}};
  return output_of(std::move(r), std::move(tables));
}

AnalysisOutput run_relations(const GroupJob& job) {
  RelationResult r = analyze_relations(job.runs, job.settings);
  std::vector<std::pair<std::string, std::string>> tables = {{"", rows_to_csv(r.relations)},
                                                             {"points", rows_to_csv(r.points)}};
  return output_of(std::move(r), std::move(tables));
}

const std::vector<GroupEntry>& group_entries() {
  static const std::vector<GroupEntry> entries = {
      {{"identifiability", "Do other seeds, layers and times give the same positions?",
        "at least two runs of the same number of tokens", true},
       1,
       {"snapshots"},
       run_identifiability},
      {{"relations", "Which measures of a run go with its generalisation?", "at least three analysed runs", true},
       1,
       {"seed"},
       run_relations},
  };
  return entries;
}

template <class Entry>
std::vector<const Entry*> choose(const std::vector<Entry>& entries, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const Entry& e : entries) known.push_back(e.info.name);
  const bool all = std::find(names.begin(), names.end(), "all") != names.end();
  for (const std::string& name : names) {
    if (name == "all" || std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = nearest_name(name, known);
    throw ConfigError({.what = "unknown analysis",
                       .got = name,
                       .expected = join(known, ", "),
                       .hint = near.empty() ? "locus analyze --list shows them" : "did you mean " + near + "?"});
  }
  std::vector<const Entry*> out;
  for (const Entry& e : entries) {
    const bool named = std::find(names.begin(), names.end(), e.info.name) != names.end();
    if (all || named || (names.empty() && e.info.by_default)) out.push_back(&e);
  }
  return out;
}

std::string settings_text(const AnalyzeSettings& settings, const std::vector<std::string>& keys) {
  const auto json = row_to_json(settings);
  std::string text;
  for (const std::string& key : keys) text += key + "=" + json.at(key).dump() + "\n";
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
  const RunRecord record = read_run(path);
  std::vector<fs::path> files = model_files(record, {.snapshots = snapshots});
  files.push_back(path / run_files::kDataset);
  std::string text = record.config_hash + "\n" + record.data_hash + "\n";
  for (const ModelEntry& m : record.models) text += m.name + "\n";
  return text + files_text(files);
}

std::string hash_of(const RunEntry& entry, const AnalyzeOptions& options) {
  const auto uses = [&](const char* key) {
    return std::find(entry.keys.begin(), entry.keys.end(), key) != entry.keys.end();
  };
  std::string text = fmt::format("{} {}\n", entry.info.name, entry.version) + settings_text(options.settings, entry.keys);
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

nlohmann::ordered_json made_of(const RunEntry& entry, const AnalyzeOptions& options, const ModelState& state) {
  nlohmann::ordered_json json = to_json(state);
  const auto add = [&](const char* key, const std::vector<std::string>& runs) {
    if (std::find(entry.keys.begin(), entry.keys.end(), key) == entry.keys.end()) return;
    for (const std::string& run : runs) json[kMadeWith].push_back(to_json(model_state(fs::path(run)), run));
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

// Runs `compute` unless its result is there; what cannot be had becomes an outcome.
AnalysisOutcome perform(const fs::path& folder, const AnalysisStamp& stamp, bool force,
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
  if (output) write_analysis(folder, stamp, *output);
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

}  // namespace

std::vector<AnalysisInfo> analysis_list() {
  std::vector<AnalysisInfo> out;
  for (const RunEntry& e : run_entries()) out.push_back(e.info);
  for (const GroupEntry& e : group_entries()) out.push_back(e.info);
  return out;
}

std::vector<AnalysisOutcome> analyze_run(const AnalyzeOptions& options) {
  const std::vector<const RunEntry*> chosen = choose(run_entries(), options.names);
  std::optional<AnalysisRun> run;
  std::optional<Dataset> dataset;
  const std::function<const Dataset&()> get_dataset = [&]() -> const Dataset& {
    if (!dataset) {
      if (!options.dataset) {
        throw DataError({.what = "the examples the run was trained on are not at hand",
                         .where = options.run.string(),
                         .hint = "give the data set; locus analyze makes it from the run's config.toml"});
      }
      dataset = options.dataset();
    }
    require_same_data(*run, *dataset);
    return *dataset;
  };
  const ModelState state = model_state(options.run);
  std::vector<AnalysisOutcome> outcomes;
  for (const RunEntry* entry : chosen) {
    const AnalysisStamp stamp{entry->info.name, hash_of(*entry, options), made_of(*entry, options, state)};
    const auto compute = [&] { return entry->function({*run, get_dataset, options.settings, options.progress}); };
    if (!run && (options.force || !is_cached(options.run, stamp))) {
      run = load_analysis_run(options.run, nullptr, {.snapshots = options.settings.snapshots});
      add_truths(*run, options.settings.matrices);
    }
    outcomes.push_back(perform(options.run, stamp, options.force, compute));
  }
  return outcomes;
}

std::vector<AnalysisOutcome> analyze_group(const AnalyzeGroupOptions& options) {
  const std::vector<const GroupEntry*> chosen = choose(group_entries(), options.names);
  nlohmann::ordered_json states = nlohmann::ordered_json::array();
  for (const fs::path& path : options.runs) states.push_back(to_json(model_state(path), path));
  std::vector<AnalysisOutcome> outcomes;
  for (const GroupEntry* entry : chosen) {
    std::string text =
        fmt::format("{} {}\n", entry->info.name, entry->version) + settings_text(options.settings, entry->keys);
    for (const fs::path& path : options.runs) {
      text += path.string() + "\n" + run_text(path, options.settings.snapshots);
      std::vector<fs::path> results;
      for (const RunEntry& e : run_entries()) results.push_back(analysis_file(path, e.info.name));
      results.push_back(path / run_files::kSummary);
      if (entry->info.name == "relations") text += files_text(results);
    }
    const AnalysisStamp stamp{entry->info.name, sha256_hex(text), states};
    const auto compute = [&] { return entry->function({options.runs, options.settings, options.progress}); };
    outcomes.push_back(perform(options.out, stamp, options.force, compute));
  }
  return outcomes;
}

}  // namespace locus
