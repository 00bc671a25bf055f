// Writes run folders as docs/run_directory.md describes them, with numbers a test chose, for tests of what reads them.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "config/load.h"
#include "core/json.h"
#include "core/matrix.h"
#include "core/rng.h"
#include "io/safetensors.h"

namespace locus::testing_support {

namespace fs = std::filesystem;

// Removed with everything in it at the end of the test.
class TempFolder {
 public:
  explicit TempFolder(const std::string& name) {
    path_ = fs::temp_directory_path() / fmt::format("locus_{}_{}", name, ::getpid());
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~TempFolder() {
    std::error_code code;
    fs::remove_all(path_, code);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const fs::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

inline void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct FakeRun {
  RunConfig config;
  int epochs = 20;
  double final_accuracy = 0.9;  // accuracy of held-out puzzles, or the test MSE
  std::string status = "finished";
  std::string command = "locus train --config lst.toml";
  std::string host = "node1";
  std::map<std::string, double> extra;  // further metrics of the last evaluation

  // Where tables are wanted: one (T, C) table per block before and after training, and what is known of the tokens.
  std::vector<MatrixD> initial, learned;
  MatrixD coordinates;
  std::vector<std::int32_t> labels;
  std::vector<std::string> token_names, label_names;
  std::map<std::string, MatrixD> truths;
};

inline Json fake_number(double v) { return std::isnan(v) ? Json("nan") : Json(v); }

inline Json fake_metrics(const FakeRun& run, int epoch) {
  const double w = run.epochs <= 1 ? 1 : static_cast<double>(epoch) / run.epochs;
  const double rise = 1 / (1 + std::exp(-10 * (w - 0.5))) / (1 / (1 + std::exp(-5.0)));
  Json line;
  line["epoch"] = epoch;
  line["step"] = epoch * 64;
  line["seconds"] = epoch * 1.5;
  line["lr"] = 1e-4;
  line["train.loss"] = std::exp(-4 * w) + 1e-3;
  if (run.config.study == "lst") {
    line["train.accuracy"] = 0.25 + 0.75 * std::min(1.0, 1.6 * w);
    line["heldout.accuracy"] = fake_number(0.25 + (run.final_accuracy - 0.25) * rise);
    int k = 0;
    for (const char* condition : {"binary", "ternary", "quaternary"}) {
      const double end = std::min(1.0, run.final_accuracy + 0.04 * (1 - k++));
      line[fmt::format("heldout.accuracy.{}", condition)] = fake_number(0.25 + (end - 0.25) * rise);
    }
  } else {
    line["test.mse"] = fake_number(1 + (run.final_accuracy - 1) * rise);
  }
  if (epoch == run.epochs) {
    for (const auto& [key, value] : run.extra) line[key] = fake_number(value);
  }
  return line;
}

inline void write_model(const fs::path& path, const std::vector<MatrixD>& tables) {
  fs::create_directories(path.parent_path());
  std::vector<std::vector<float>> values;
  for (const MatrixD& t : tables) values.emplace_back(t.values().begin(), t.values().end());
  std::vector<TensorView> views;
  for (std::size_t l = 0; l < tables.size(); ++l) {
    views.push_back(
        tensor_view<float>(fmt::format("blocks.{}.pe.table", l), {tables[l].rows(), tables[l].cols()}, values[l]));
  }
  write_safetensors(path, views);
}

inline void write_dataset(const fs::path& path, const FakeRun& run) {
  std::vector<TensorView> views;
  if (run.coordinates.rows() > 0) {
    views.push_back(tensor_view<double>("coordinates", {run.coordinates.rows(), run.coordinates.cols()},
                                        std::span<const double>(run.coordinates.values())));
  }
  if (!run.labels.empty()) {
    views.push_back(tensor_view<std::int32_t>("labels", {static_cast<std::int64_t>(run.labels.size())}, run.labels));
  }
  for (const auto& [name, m] : run.truths) {
    views.push_back(tensor_view<double>("truth." + name, {m.rows(), m.cols()}, std::span<const double>(m.values())));
  }
  TensorMetadata metadata;
  metadata["token_names"] = Json(run.token_names).dump();
  metadata["label_names"] = Json(run.label_names).dump();
  write_safetensors(path, views, metadata);
}

inline void write_fake_run(const fs::path& dir, const FakeRun& run) {
  fs::create_directories(dir);
  write_text(dir / "config.toml", to_toml(run.config));
  Json manifest = {{"format", 1},
                   {"config_hash", "c0ffee"},
                   {"data_hash", "da7a"},
                   {"version", "0.1.0"},
                   {"commit", "abc123"},
                   {"compiler", "GNU-12.2"},
                   {"isa", "avx2"},
                   {"host", run.host},
                   {"cpu", "some cpu"},
                   {"threads", 1},
                   {"study", "lst"},
                   {"command", run.command},
                   {"data", {{"train", 8100}, {"heldout", 108}}}};
  write_text(dir / "manifest.json", manifest.dump(2));
  std::string lines;
  for (int e = 0; e <= run.epochs; ++e) lines += fake_metrics(run, e).dump() + "\n";
  write_text(dir / "metrics.jsonl", lines);
  Json summary = fake_metrics(run, run.epochs);
  for (const char* key : {"epoch", "step", "lr"}) summary.erase(key);
  summary["status"] = run.status;
  summary["reason"] = "epochs";
  summary["epochs"] = run.epochs;
  summary["steps"] = run.epochs * 64;
  write_text(dir / "summary.json", summary.dump(2));
  if (!run.initial.empty()) write_model(dir / "init" / "model.safetensors", run.initial);
  if (!run.learned.empty()) write_model(dir / "final" / "model.safetensors", run.learned);
  if (run.coordinates.rows() > 0 || !run.labels.empty() || !run.truths.empty())
    write_dataset(dir / "dataset.safetensors", run);
}

}  // namespace locus::testing_support
