// Runs a model over examples: outputs, accuracy or error, attention maps. Never trains.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analyze/analysis_run.h"
#include "data/examples.h"
#include "model/encoder.h"

namespace locus {

struct ModelEvaluation {
  std::int64_t examples = 0;
  double accuracy = 0;                  // NaN for regression
  double mse = 0;                       // over hidden tokens; NaN for classification
  double loss = 0;                      // the task's own
  MatrixF outputs;                      // (examples or rows read, O)
  std::vector<std::int32_t> row_token;  // regression: the token of each row of outputs
};

// Holds the buffers of a structure, so that many parameter settings can be tried in turn.
class Evaluator {
 public:
  explicit Evaluator(std::shared_ptr<const ModelStructure> structure);
  ModelEvaluation run(const float* params, const Examples& examples);

  // One call for each example, layer, head and block of query rows: (rows, T).
  using PatternSink =
      std::function<void(std::int64_t example, std::int64_t layer, std::int64_t head, std::int64_t first_query, Mat rows)>;
  void patterns(const float* params, const Examples& examples, const PatternSink& sink);

 private:
  void add_batch(const PassResult& result, const Microbatch& batch, ModelEvaluation& sum, double& squares,
                 std::int64_t& correct);
  std::shared_ptr<const ModelStructure> structure_;
  Prepared prepared_;
  EncoderPass pass_;
};

Microbatch microbatch_of(const ModelShape& shape, const Examples& examples, std::int64_t first, std::int64_t count);

// The named examples, in that order.
Examples take_examples(const Dataset& dataset, const Examples& from, const std::vector<std::int64_t>& indices);
// At most `count`: all in order when they fit, else a seeded sample in rising order.
std::vector<std::int64_t> sample_indices(std::int64_t available, std::int64_t count, std::uint64_t seed);

// `wanted`, or heldout, test, validation, train in this order when it is empty. DataError for an unknown one.
std::string choose_split(const Dataset& dataset, const std::string& wanted);

// DataError when the data set has other tokens, features or outputs than the run, or another content hash.
void require_same_data(const AnalysisRun& run, const Dataset& dataset);

}  // namespace locus
