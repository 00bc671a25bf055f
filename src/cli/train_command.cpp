// locus train, eval.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cli/progress_line.h"
#include "cli/ranks.h"
#include "cli/terminal.h"
#include "config/load.h"
#include "config/sections.h"
#include "config/tasks.h"
#include "core/error.h"
#include "core/isa.h"
#include "core/json.h"
#include "core/text.h"
#include "data/datasets.h"
#include "data/table/dataset.h"
#include "infer/evaluate.h"
#include "io/codec.h"
#include "io/table.h"
#include "run/data_folder.h"
#include "run/layout.h"
#include "run/manifest.h"
#include "run/run_reader.h"
#include "train/trainer.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;

void print_summary(const Summary& s, const std::string& out, bool json) {
  if (json) {
    Json j;
    j["status"] = kRunStatusNames[static_cast<std::size_t>(s.status)];
    j["reason"] = s.reason;
    j["epochs"] = s.epochs;
    j["steps"] = s.steps;
    j["seconds"] = json_value(s.seconds);
    j["out"] = out;
    for (const auto& [name, value] : s.values) j[name] = json_value(value);
    return print_line(j.dump(1));
  }
  print_line(fmt::format("{} after {} epochs, {} steps, {}: {}", kRunStatusNames[static_cast<std::size_t>(s.status)],
                         s.epochs, s.steps, human_seconds(s.seconds), s.reason));
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : s.values) {
    const MeasureRow* measure = measure_of(name);
    const bool percent = measure != nullptr && measure->is_fraction;
    rows.push_back({name, percent ? fmt::format("{:.1f} %", 100 * value) : fmt::format("{:.4f}", value)});
  }
  if (!rows.empty()) print_line(text_table({"measure", "value"}, rows));
  print_line("written to " + out);
}

// Other data must have the tokens the model was trained on: weights mean nothing for others, and only encodings with a
// table would notice by its shape.
void check_same_tokens(const RunReader& run, const std::vector<std::string>& given) {
  const std::vector<std::string> trained = run.tokens().value_or(TokenInfo()).names;
  if (trained.empty() || given.empty() || trained == given) return;
  const auto differs = std::mismatch(trained.begin(), trained.end(), given.begin(), given.end()).first - trained.begin();
  const auto tell = [place = static_cast<std::size_t>(differs)](const std::vector<std::string>& names) {
    return fmt::format("{} tokens, number {} is {}", names.size(), place + 1,
                       place < names.size() ? names[place] : "not there");
  };
  throw DataError({.what = "these are other tokens than the run was trained on",
                   .where = run.path().string(),
                   .got = tell(given),
                   .expected = tell(trained),
                   .hint =
                       "where a further file lacks a region: leave the file out, or train anew with series.coverage=drop "
                       "and the file among series.test_files"});
}

// Keys of the model belong to its weights: with others they would mean something else, mostly without a word.
void check_same_model(const RunConfig& trained, const RunConfig& asked) {
  for (const std::string& difference : identity_differences(asked, trained)) {
    if (!difference.starts_with("model.") && !difference.starts_with("pe.") && !difference.starts_with("study") &&
        !difference.starts_with("task"))
      continue;
    throw ConfigError({.what = "the model was trained with another value of this key",
                       .where = "locus eval",
                       .got = difference,
                       .expected = "keys of data, mask or eval",
                       .hint = "train a run with it"});
  }
}

RunConfig config_of(const RunReader& run, const std::vector<std::string>& overrides) {
  if (!run.config())
    throw IoError({.what = "no readable run here", .where = run.path().string(), .got = join(run.problems(), "; ")});
  RunConfig config = *run.config();
  find_data_from_here(config, run.path(), run.manifest());
  for (const std::string& o : overrides) apply_override(config, o);
  check_same_model(*run.config(), config);
  validate(config);
  return config;
}

// Whether a setting may ask for other data than the run's own.
bool is_of_data(const std::string& setting) {
  const std::string key = setting.substr(0, setting.find('='));
  const std::string section = key.substr(0, key.find('.'));
  if (section == key || section == "mask") return true;
  const std::vector<const ConfigSection*> sections = data_sections();
  return std::any_of(sections.begin(), sections.end(), [&](const ConfigSection* s) { return s->name == section; });
}

// The model that was asked for; else the one that the run stands for, with a note where it is not at its end.
fs::path model_folder(const RunReader& run, const std::string& asked) {
  const ModelEntry* const best = run.best_model();
  if (!asked.empty() || best == nullptr) return run.path() / (asked.empty() ? run_files::kFinal : asked);
  if (best->kind != ModelEntry::Kind::kFinal) message_line("note: the run is not at its end: this is " + best->name);
  return best->path;
}

// The layout of the authors' result files: one row per puzzle; a last column names the split where there are several.
class PredictionExport {
 public:
  explicit PredictionExport(bool several_splits) : several_(several_splits) {}

  void add(const Dataset& dataset, const std::string& split, const Evaluation& e) {
    const Examples& examples = dataset.split(split);
    for (std::size_t i = 0; i < e.predicted.size(); ++i) {
      const auto k = static_cast<std::size_t>(e.indices[i]);
      const std::string condition =
          examples.condition.empty() ? "" : dataset.conditions[static_cast<std::size_t>(examples.condition[k])];
      rows_.push_back({std::to_string(e.indices[i]), condition, std::to_string(examples.labels[k] + 1),
                       std::to_string(e.predicted[i] + 1), e.predicted[i] == examples.labels[k] ? "1" : "0"});
      if (several_) rows_.back().push_back(split);
    }
  }

  void write(const std::string& path) const {
    if (rows_.empty()) {
      throw ConfigError({.what = "there is nothing to export",
                         .where = "--export",
                         .expected = "a run that answers puzzles",
                         .hint = "masked studies have errors, no answers: --json prints them"});
    }
    std::vector<std::string> header = {"ID", "condition", "solution", "prediction", "accuracy"};
    if (several_) header.emplace_back("split");
    write_csv(path, header, rows_);
  }

 private:
  bool several_;
  std::vector<std::vector<std::string>> rows_;
};

// What the readers understood, doubted and left out: whoever trains on it should know before, not from the manifest.
void print_data_warnings(const Dataset& dataset) {
  for (const auto& [key, label] :
       {std::pair{"notes", "note"}, std::pair{"warnings", "warning"}, std::pair{"dropped", "left out"}}) {
    const auto found = dataset.description.find(key);
    if (found != dataset.description.end()) message_line(fmt::format("{}: {}", label, found->second));
  }
  if (const auto audit = dataset.description.find(kAuditKey); audit != dataset.description.end()) {
    for (const std::string& line : DataAudit::from_json(Json::parse(audit->second)).lines()) message_line(line);
  }
}

}  // namespace

int train_in(const RunConfig& config, Dataset& dataset, const TrainOptions& options, const std::string& command_line,
             Ranks* ranks) {
  if (!options.quiet) print_data_warnings(dataset);
  const int threads = thread_count(options);
  if (!options.no_baselines) {
    ThreadPool pool(threads);
    add_baselines(dataset, pool);
  }
  TrainSetup setup;
  setup.config = config;
  setup.dataset = &dataset;
  setup.out = options.out;
  setup.command = command_line;
  setup.threads = threads;
  setup.ranks = ranks;
  ProgressLine line(options.quiet, "");
  TrainHooks hooks;
  hooks.stop_signal = &install_stop_signals();
  hooks.progress = [&](const Progress& p) { line.update(p); };
  hooks.message = [&](const std::string& text) {
    line.finish();
    if (!options.quiet) message_line(text);
  };
  const TrainOutcome outcome = train(setup, hooks);
  line.finish();
  if (ranks != nullptr && ranks->rank() != 0) return kExitDone;
  print_summary(outcome.summary, options.out, options.json);
  if (outcome.summary.status != RunStatus::kInterrupted) return kExitDone;
  message_line("stopped; the same command goes on from here");
  return kExitAgain;
}

RunConfig train_config(const TrainOptions& options) {
  RunConfig config;
  const std::string file = config_file(options.config);
  if (!file.empty()) {
    load_toml_file(config, file);
    find_data_from_here(config, file);
  }
  for (const std::string& o : options.overrides) apply_override(config, o);
  validate(config);
  return config;
}

int run_train(const TrainOptions& options, const std::string& command_line) {
  if (!options.isa.empty()) use_isa(parse_isa(options.isa, "--isa"));
  if (!options.no_mpi) {
    if (const std::unique_ptr<MpiRanks> ranks = MpiRanks::start()) return train_in_ranks(options, command_line, *ranks);
  }
  const RunConfig config = train_config(options);
  RunDirectory::probe(options.out, config);
  Dataset dataset = make_dataset(config, cache_folder());
  const int code = train_in(config, dataset, options, command_line);
  if (code == kExitDone && !options.json && !options.quiet) print_line(next_steps(options.out));
  return code;
}

int run_eval(const EvalCommandOptions& options) {
  const RunReader run(options.dir);
  const RunConfig config = config_of(run, options.overrides);
  Dataset dataset = make_dataset(config, cache_folder());
  if (std::none_of(options.overrides.begin(), options.overrides.end(), is_of_data))
    require_data_of_run(run.path(), run.data_hash(), dataset.hash);
  check_same_tokens(run, dataset.tokens_info.names);
  const ModelStructure structure = structure_for(config, dataset);
  AlignedBuffer<float> params(static_cast<std::size_t>(structure.layout.floats()));
  load_parameters(structure, load_model_file(model_folder(run, options.model)).tensors, params.data());
  ThreadPool pool(thread_count(options));
  if (!options.no_baselines) add_baselines(dataset, pool);
  Prepared prepared(structure);
  prepared.update(params.data(), {}, &pool);
  EvalOptions eval;
  eval.noise_sd = options.noise;
  Json json;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> splits = options.splits;
  if (splits.empty()) {
    for (const auto& [name, examples] : dataset.splits) splits.push_back(name);
  }
  PredictionExport predictions(splits.size() > 1);
  for (const std::string& split : splits) {
    if (!dataset.has_split(split)) {
      std::vector<std::string> names;
      for (const auto& [name, examples] : dataset.splits) names.push_back(name);
      throw ConfigError({.what = "no such split", .where = "--split", .got = split, .expected = join(names, ", ")});
    }
    const Evaluation e = evaluate(structure, prepared, dataset, split, eval, pool);
    auto measures = evaluation_metrics(dataset, split, e);
    for (auto& baseline : dataset.baseline_measures(split)) measures.push_back(std::move(baseline));
    for (const auto& [name, value] : measures) {
      json[name] = value;
      const MeasureRow* measure = measure_of(name);
      const bool percent = measure != nullptr && measure->is_fraction;
      rows.push_back({name, percent ? fmt::format("{:.1f} %", 100 * value) : fmt::format("{:.4f}", value)});
    }
    predictions.add(dataset, split, e);
  }
  if (!options.export_csv.empty()) predictions.write(options.export_csv);
  print_line(options.json ? json.dump(1) : text_table({"measure", "value"}, rows));
  return kExitDone;
}

}  // namespace locus::cli
