// locus train, eval.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "config/load.h"
#include "core/error.h"
#include "core/text.h"
#include "io/table.h"
#include "run/dataset_info.h"
#include "run/layout.h"
#include "run/run_record.h"
#include "study/datasets.h"
#include "train/trainer.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;

void print_summary(const Summary& s, const std::string& out, bool json) {
  if (json) {
    nlohmann::ordered_json j;
    j["status"] = kRunStatusNames[static_cast<std::size_t>(s.status)];
    j["reason"] = s.reason;
    j["epochs"] = s.epochs;
    j["steps"] = s.steps;
    j["seconds"] = s.seconds;
    j["out"] = out;
    for (const auto& [name, value] : s.values) {
      if (std::isfinite(value)) {
        j[name] = value;
      } else {
        j[name] = "nan";
      }
    }
    return print_line(j.dump(1));
  }
  print_line(fmt::format("{} after {} epochs, {} steps, {}: {}", kRunStatusNames[static_cast<std::size_t>(s.status)],
                         s.epochs, s.steps, human_seconds(s.seconds), s.reason));
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : s.values) {
    const bool percent = name.find("accuracy") != std::string::npos;
    rows.push_back({name, percent ? fmt::format("{:.1f} %", 100 * value) : fmt::format("{:.4f}", value)});
  }
  if (!rows.empty()) print_line(text_table({"measure", "value"}, rows));
  print_line("written to " + out);
}

// The model of a finished run on its data, perhaps with other data keys.
struct LoadedRun {
  RunConfig config;
  Dataset dataset;
  ModelStructure structure;
  AlignedBuffer<float> params;
};

// Other data must have the tokens the model was trained on: weights mean nothing for others, and only encodings with a
// table would notice by its shape.
void check_same_tokens(const std::string& dir, const std::vector<std::string>& given) {
  const fs::path file = fs::path(dir) / run_files::kDataset;
  if (!fs::exists(file)) return;
  const std::vector<std::string> trained = read_dataset_info(file).token_names;
  if (trained.empty() || given.empty() || trained == given) return;
  const auto differs = std::mismatch(trained.begin(), trained.end(), given.begin(), given.end()).first - trained.begin();
  const auto tell = [place = static_cast<std::size_t>(differs)](const std::vector<std::string>& names) {
    return fmt::format("{} tokens, number {} is {}", names.size(), place + 1,
                       place < names.size() ? names[place] : "not there");
  };
  throw DataError({.what = "these are other tokens than the run was trained on",
                   .where = dir,
                   .got = tell(given),
                   .expected = tell(trained),
                   .hint =
                       "where a further file lacks a region: leave the file out, or train anew with series.coverage=drop "
                       "and the file among series.test_files"});
}

LoadedRun load_run(const EvalCommandOptions& options) {
  RunRecord record = read_run(options.dir);
  if (!record.config)
    throw IoError({.what = "no readable run here", .where = options.dir, .got = join(record.problems, "; ")});
  LoadedRun run;
  run.config = *record.config;
  for (const std::string& o : options.overrides) apply_override(run.config, o);
  validate(run.config);
  run.dataset = make_dataset(run.config, cache_folder());
  check_same_tokens(options.dir, run.dataset.tokens_info.names);
  run.structure = structure_for(run.config, run.dataset);
  run.params = AlignedBuffer<float>(static_cast<std::size_t>(run.structure.layout.floats()));
  const fs::path folder = fs::path(options.dir) / options.model;
  load_parameters(run.structure, load_model_file(folder).tensors, run.params.data());
  return run;
}

// The layout of the authors' result files: one row a puzzle; a last column names the split where there are several.
class PredictionExport {
 public:
  explicit PredictionExport(bool several_splits) : several_(several_splits) {}

  void add(const LoadedRun& run, const std::string& split, const Evaluation& e) {
    const Examples& examples = run.dataset.split(split);
    for (std::size_t i = 0; i < e.predicted.size(); ++i) {
      const auto k = static_cast<std::size_t>(e.indices[i]);
      rows_.push_back({std::to_string(e.indices[i]), run.dataset.conditions[static_cast<std::size_t>(examples.condition[k])],
                       std::to_string(examples.labels[k] + 1), std::to_string(e.predicted[i] + 1),
                       e.predicted[i] == examples.labels[k] ? "1" : "0"});
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
}

}  // namespace

int train_in(const RunConfig& config, Dataset& dataset, const TrainOptions& options, const std::string& command_line) {
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
  print_summary(outcome.summary, options.out, options.json);
  return outcome.summary.status == RunStatus::kInterrupted ? kExitAgain : kExitDone;
}

int run_train(const TrainOptions& options, const std::string& command_line) {
  const RunConfig config = load_run_config(options.config, options.overrides);
  RunDirectory::probe(options.out, config);
  Dataset dataset = make_dataset(config, cache_folder());
  return train_in(config, dataset, options, command_line);
}

int run_eval(const EvalCommandOptions& options) {
  LoadedRun run = load_run(options);
  ThreadPool pool(thread_count(options));
  if (!options.no_baselines) add_baselines(run.dataset, pool);
  Prepared prepared(run.structure);
  prepared.update(run.params.data(), {}, &pool);
  EvalOptions eval;
  eval.noise_sd = options.noise;
  nlohmann::ordered_json json;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> splits = options.splits;
  if (splits.empty()) {
    for (const auto& [name, examples] : run.dataset.splits) splits.push_back(name);
  }
  PredictionExport predictions(splits.size() > 1);
  for (const std::string& split : splits) {
    if (!run.dataset.has_split(split)) {
      std::vector<std::string> names;
      for (const auto& [name, examples] : run.dataset.splits) names.push_back(name);
      throw ConfigError({.what = "no such split", .where = "--split", .got = split, .expected = join(names, ", ")});
    }
    const Evaluation e = evaluate(run.structure, prepared, run.dataset, split, eval, pool);
    auto measures = evaluation_metrics(run.dataset, split, e);
    for (auto& baseline : run.dataset.baseline_measures(split)) measures.push_back(std::move(baseline));
    for (const auto& [name, value] : measures) {
      json[name] = value;
      const bool percent = name.find("accuracy") != std::string::npos;
      rows.push_back({name, percent ? fmt::format("{:.1f} %", 100 * value) : fmt::format("{:.4f}", value)});
    }
    predictions.add(run, split, e);
  }
  if (!options.export_csv.empty()) predictions.write(options.export_csv);
  print_line(options.json ? json.dump(1) : text_table({"measure", "value"}, rows));
  return kExitDone;
}

}  // namespace locus::cli
