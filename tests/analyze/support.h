// Small runs with positions, labels and data that a test chose, in memory and on disk.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "analyze/analysis_run.h"
#include "analyze/analyze.h"
#include "config/load.h"
#include "core/json.h"
#include "core/rng.h"
#include "data/latin/dataset.h"
#include "run/run_directory.h"
#include "stats/matrix_correlation.h"
#include "stats/permutation.h"

namespace locus::testing_support {

namespace fs = std::filesystem;

inline RunConfig config_of(const std::vector<std::string>& overrides) {
  RunConfig config;
  for (const std::string& o : overrides) apply_override(config, o);
  return config;
}

inline Examples examples_of(const LatinSet& set) {
  Examples e;
  e.count = static_cast<std::int64_t>(set.puzzles.size());
  for (std::size_t i = 0; i < set.puzzles.size(); ++i) {
    const Puzzle& p = set.puzzles[i];
    for (const std::uint8_t cell : p.cells) e.ids.push_back(static_cast<std::int16_t>(cell - 1));
    e.labels.push_back(p.answer - 1);
    e.condition.push_back(static_cast<std::int32_t>(p.difficulty));
    e.cluster.push_back(set.base_item[i]);
    e.read_token.push_back(p.target);
  }
  return e;
}

// A few 4x4 puzzles of every kind.
inline Dataset small_lst() {
  static const Dataset dataset = [] {
    LatinOptions o;
    o.per_difficulty = 30;
    o.heldout_items = 2;
    o.validation_items = 2;
    o.min_distance = 0.2;
    o.test_fraction = 0.3;
    const LatinData data = make_latin_data(o);
    Dataset d;
    d.name = "lst";
    d.tokens = 16;
    d.features = 5;
    d.outputs = 4;
    d.conditions = {"binary", "ternary", "quaternary"};
    d.splits = {{"train", examples_of(data.train)},
                {"test", examples_of(data.test)},
                {"validation", examples_of(data.validation)},
                {"heldout", examples_of(data.heldout)}};
    d.tokens_info.coordinates = MatrixD(16, 2);
    for (std::int64_t t = 0; t < 16; ++t) {
      d.tokens_info.coordinates(t, 0) = static_cast<double>(t / 4);
      d.tokens_info.coordinates(t, 1) = static_cast<double>(t % 4);
    }
    d.tokens_info.coordinates_are_grid = true;
    d.hash = latin_data_hash(data);
    return d;
  }();
  return dataset;
}

// Values of `tokens` tokens in modules: a shared signal per module and noise, half of the tokens hidden.
inline Dataset small_masked(std::int64_t tokens = 20, std::int64_t modules = 4) {
  Dataset d;
  d.name = "masked";
  d.task = "masked";
  d.tokens = tokens;
  d.features = 1;
  d.outputs = 1;
  for (std::int64_t t = 0; t < tokens; ++t) d.tokens_info.labels.push_back(static_cast<std::int32_t>(t % modules));
  Rng rng(5, "test/masked");
  for (const char* name : {"train", "validation", "test"}) {
    Examples e;
    e.count = 40;
    for (std::int64_t i = 0; i < e.count; ++i) {
      std::vector<double> signal(static_cast<std::size_t>(modules));
      for (double& s : signal) s = rng.normal();
      for (std::int64_t t = 0; t < tokens; ++t) {
        e.values.push_back(static_cast<float>(signal[static_cast<std::size_t>(t % modules)] + 0.5 * rng.normal()));
        e.masks.push_back((t / modules + i) % 2 == 0 ? 1 : 0);
      }
    }
    d.splits.emplace_back(name, std::move(e));
  }
  d.hash = "masked" + std::to_string(tokens);
  return d;
}

inline std::vector<float> initial_params(const AnalysisRun& run, std::int64_t seed) {
  std::vector<float> p(static_cast<std::size_t>(run.structure->layout.floats()));
  initialize_parameters(*run.structure, seed, p.data());
  return p;
}

// Small parameters away from the start: as if trained.
inline std::vector<float> moved_params(std::vector<float> p, double amount, std::uint64_t seed) {
  Rng rng(seed, "test/moved");
  for (float& v : p) v += static_cast<float>(amount * rng.normal());
  return p;
}

inline void set_code(const AnalysisRun& run, std::int64_t layer, const MatrixD& code, std::vector<float>& params) {
  const TensorSlot& slot = run.structure->layout[run.structure->blocks[static_cast<std::size_t>(layer)].pe.front()];
  for (std::size_t i = 0; i < code.values().size(); ++i) {
    params[static_cast<std::size_t>(slot.offset) + i] = static_cast<float>(code.values()[i]);
  }
}

inline const std::vector<std::string>& tiny_lst_options() {
  static const std::vector<std::string> options = {"model.layers=2", "model.width=16", "model.mlp_width=32"};
  return options;
}

inline RunConfig tiny_lst_config(const std::vector<std::string>& more = {}) {
  std::vector<std::string> all = tiny_lst_options();
  all.insert(all.end(), more.begin(), more.end());
  return config_of(all);
}

inline RunConfig tiny_masked_config(const std::vector<std::string>& more = {}) {
  std::vector<std::string> all = {"study=masked", "model.layers=2", "model.width=16", "model.mlp_width=32",
                                  "model.readout=masked"};
  all.insert(all.end(), more.begin(), more.end());
  return config_of(all);
}

// A run in memory with init and final.
inline AnalysisRun memory_run(const RunConfig& config, const Dataset& dataset, double moved = 0.02) {
  AnalysisRun run = make_analysis_run(config, dataset);
  const std::vector<float> start = initial_params(run, config.seed);
  add_model(run, "init", start);
  add_model(run, "final", moved_params(start, moved, 1 + static_cast<std::uint64_t>(config.seed)));
  return run;
}

class TempRuns {
 public:
  TempRuns() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = fs::temp_directory_path() / ("locus-analyze-" + std::to_string(::getpid()) + "-" + info->name());
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~TempRuns() {
    std::error_code code;
    fs::remove_all(path_, code);
  }
  const fs::path& path() const { return path_; }

  // Writes `run` as training would.
  fs::path write(const std::string& name, const AnalysisRun& run, const Dataset& dataset, double outcome = 0.5) const {
    RunIdentity identity;
    identity.config = run.config;
    identity.data_hash = dataset.hash;
    identity.hashes = config_identity(run.config, dataset.hash);
    identity.signature = {"s", ""};
    RunDirectory folder = RunDirectory::open_for_training(path_ / name, identity);
    folder.write_dataset(dataset.tokens_info);
    Json json = to_json(run.config);
    json["shape"] = {{"tokens", dataset.tokens},
                     {"features", dataset.features},
                     {"outputs", dataset.outputs},
                     {"task", dataset.task == "masked" ? "regression" : "classification"}};
    for (const AnalysisModel& m : run.models) {
      ModelFiles files;
      files.config_json = json.dump();
      for (const TensorSlot& slot : run.structure->layout.slots()) {
        files.tensors.push_back(
            tensor_view<float>(slot.name, slot.shape,
                               std::span<const float>(m.params.data() + slot.offset, static_cast<std::size_t>(slot.size))));
      }
      folder.save_model(m.name, files);
    }
    Summary summary;
    summary.values = {{dataset.task == "masked" ? "test.mse" : "heldout.accuracy", outcome}};
    folder.write_summary(summary);
    return path_ / name;
  }

 private:
  fs::path path_;
};

inline std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The message of the error that `action` throws, "" when it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

inline AnalyzeSettings quick_settings() {
  AnalyzeSettings s;
  s.permutations = 99;
  s.surrogates = 19;
  s.community_starts = 10;
  s.examples = 24;
  s.probe = 12;
  s.repeats = 2;
  return s;
}

}  // namespace locus::testing_support
