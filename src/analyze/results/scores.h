// How good predictions of classes or numbers are, with intervals, beside simple predictors on the same samples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/results/result.h"

namespace locus {

struct ScoreRow {
  std::string split;
  std::string predictor;  // "model", "majority", "logistic", "knn", "mlp"; "mean", "ridge" for numbers
  std::string measure;    // "accuracy", "balanced_accuracy", "log_loss"; "mse", "r2" over all outputs
  double value = kNotAvailable;
  double low = kNotAvailable;  // 95 % bootstrap interval over samples, over whole groups where there are any
  double high = kNotAvailable;
  std::int64_t samples = 0;

  static void fields(auto& r, auto&& visit) {
    visit("split", r.split);
    visit("predictor", r.predictor);
    visit("measure", r.measure);
    visit("value", r.value);
    visit("low", r.low);
    visit("high", r.high);
    visit("samples", r.samples, Role::kAside);
  }
};

// Of the model.
struct ClassRow {
  std::string name;
  std::int64_t samples = 0, predicted = 0, right = 0;
  double recall = kNotAvailable;     // right / samples
  double precision = kNotAvailable;  // right / predicted
  double f1 = kNotAvailable;

  static void fields(auto& r, auto&& visit) {
    visit("class", r.name);
    visit("samples", r.samples, Role::kAside);
    visit("predicted", r.predicted, Role::kAside);
    visit("right", r.right, Role::kAside);
    visit("recall", r.recall);
    visit("precision", r.precision);
    visit("f1", r.f1);
  }
};

struct ConfusionRow {
  std::string truth, predicted;
  std::int64_t samples = 0;

  bool is_main() const { return false; }
  static void fields(auto& r, auto&& visit) {
    visit("truth", r.truth);
    visit("predicted", r.predicted);
    visit("samples", r.samples, Role::kAside);
  }
};

// One output of numbers, in the units of the data.
struct OutputRow {
  std::string predictor, output;
  double mse = kNotAvailable;
  double r2 = kNotAvailable;
  double r2_low = kNotAvailable;  // 95 % bootstrap interval over samples
  double r2_high = kNotAvailable;

  static void fields(auto& r, auto&& visit) {
    visit("predictor", r.predictor);
    visit("output", r.output);
    visit("mse", r.mse);
    visit("r2", r.r2);
    visit("r2_low", r.r2_low);
    visit("r2_high", r.r2_high);
  }
};

// The model against the best of the others, sample by sample.
struct DifferenceRow {
  std::string predictor;              // that the model is compared with
  std::string measure;                // "accuracy" or "mse"
  double difference = kNotAvailable;  // model minus predictor
  double low = kNotAvailable;
  double high = kNotAvailable;

  static void fields(auto& r, auto&& visit) {
    visit("predictor", r.predictor);
    visit("measure", r.measure);
    visit("difference", r.difference);
    visit("low", r.low);
    visit("high", r.high);
  }
};

struct ScoreResult {
  static constexpr const char* kName = "scores";
  std::vector<ScoreRow> scores;
  std::vector<ClassRow> classes;
  std::vector<ConfusionRow> confusion;
  std::vector<OutputRow> outputs;
  std::vector<DifferenceRow> differences;
  std::vector<std::string> notes;

  static void tables(auto& r, auto&& visit) {
    visit("scores", "", r.scores);
    visit("classes", "classes", r.classes);
    visit("confusion", "confusion", r.confusion);
    visit("outputs", "outputs", r.outputs);
    visit("differences", "differences", r.differences);
  }
};

}  // namespace locus
