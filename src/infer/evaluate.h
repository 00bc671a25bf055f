// Runs a model over examples without training it: loss, accuracy or error, every prediction, attention patterns.
#pragma once

#include <functional>
#include <memory>
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
  bool keep_outputs = false;
};

struct Evaluation {
  std::int64_t count = 0;                  // examples
  double loss = 0;                         // mean cross-entropy, or mean squared error of the tokens read
  double accuracy = 0;                     // NaN for regression
  double mse = 0;                          // over hidden tokens, all where nothing is hidden; NaN for classification
  std::vector<double> condition_accuracy;  // by condition; NaN where it has no example
  std::vector<std::int64_t> indices;       // (count) into the examples
  std::vector<std::int32_t> predicted;     // (count), classification
  std::vector<double> example_loss;        // (count)
  std::vector<double> output_error;        // (O) mean squared error of each number of an example
  std::vector<double> token_error;         // (T) mean squared error of each token, regression
  MatrixF outputs;                         // (examples or rows read, O) where asked for
};

// Holds the buffers of a structure, so that many parameter settings can be tried in turn.
class Evaluator {
 public:
  // With a pool its threads share the examples; the result is the same.
  explicit Evaluator(const ModelStructure& structure, ThreadPool* pool = nullptr);
  Evaluation run(const Prepared& prepared, const Examples& examples, const EvalOptions& options = {});
  Evaluation run(const float* params, const Examples& examples, const EvalOptions& options = {});

  // One call for each example, layer, head and block of query rows: (rows, T).
  using PatternSink =
      std::function<void(std::int64_t example, std::int64_t layer, std::int64_t head, std::int64_t first_query, Mat rows)>;
  void patterns(const float* params, const Examples& examples, const PatternSink& sink);

 private:
  const ModelStructure& s_;
  ThreadPool* pool_;
  std::int64_t chunk_;
  Prepared prepared_;
  std::vector<std::unique_ptr<EncoderPass>> passes_;  // one a worker
};

// A split of a data set, with the accuracy of each condition.
Evaluation evaluate(const ModelStructure& structure, const Prepared& prepared, const Dataset& dataset,
                    const std::string& split, const EvalOptions& options, ThreadPool& pool);

// Metric names and values of an evaluation: "<split>.loss", "<split>.accuracy.<condition>", ...
std::vector<std::pair<std::string, double>> evaluation_metrics(const Dataset& dataset, const std::string& split,
                                                               const Evaluation& e);

// Sequences `first`, `first + 1`, ... of the examples as input of a pass.
Microbatch microbatch_of(const ModelShape& shape, const Examples& examples, std::int64_t first, std::int64_t count);

// Sequences a pass takes at once: a function of the configuration alone.
std::int64_t microbatch_sequences(const RunConfig& config, std::int64_t tokens);

// Index of the largest number of a row.
std::int64_t argmax(const float* row, std::int64_t n);

}  // namespace locus
