// A model on a split: loss, accuracy or error, by condition, and every prediction.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "data/examples.h"
#include "model/encoder.h"

namespace locus {

struct EvalOptions {
  std::int64_t limit = 0;  // most examples, evenly spaced (0: all)
  double noise_sd = 0;
  std::uint64_t noise_seed = 0;
  std::uint64_t seed = 0;  // for encodings whose dropout stays on
};

struct Evaluation {
  std::int64_t count = 0;                  // examples
  double loss = 0;                         // mean cross-entropy, or mean squared error
  double accuracy = 0;                     // classification
  std::vector<double> condition_accuracy;  // by condition; NaN where it has no example
  std::vector<std::int64_t> indices;       // (count) into the split
  std::vector<std::int32_t> predicted;     // (count), classification
  std::vector<double> example_loss;        // (count)
  std::vector<double> token_error;         // (T) mean squared error of each token, regression
};

Evaluation evaluate(const ModelStructure& structure, const Prepared& prepared, const Dataset& dataset,
                    const std::string& split, const EvalOptions& options, ThreadPool& pool);

// Metric names and values of an evaluation: "<split>.loss", "<split>.accuracy.<condition>", ...
std::vector<std::pair<std::string, double>> evaluation_metrics(const Dataset& dataset, const std::string& split,
                                                               const Evaluation& e);

}  // namespace locus
