// The order of examples and the masks of training: functions of seed and step alone, so resuming needs no generator's state.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/run_config.h"
#include "core/rng.h"
#include "data/examples.h"
#include "data/masking.h"
#include "model/microbatch.h"
#include "model/structure.h"

namespace locus {

// A batch gathered from a split; micro-batches are slices of it.
struct BatchData {
  std::int64_t count = 0;
  std::vector<std::int16_t> ids;
  std::vector<float> values;
  std::vector<std::uint8_t> masked;
  std::vector<std::int32_t> read_token;
  std::vector<std::int32_t> labels;

  Microbatch slice(const ModelShape& shape, std::int64_t first, std::int64_t n) const;
};

// Copies examples `indices` of a split; `masks` (count, T) for regression, else null.
void gather_batch(const Examples& examples, const ModelShape& shape, const std::vector<std::int64_t>& indices,
                  BatchData& out);

// Draws a permutation of the classes for each example and applies it to the ids that stand for classes and to the label.
void relabel_classes(Rng& rng, const ModelShape& shape, BatchData& batch);

class TrainingBatches {
 public:
  TrainingBatches(const Dataset& dataset, const RunConfig& config, const ModelShape& shape);

  std::int64_t steps_per_pass() const { return steps_per_pass_; }
  void fill(std::int64_t step, BatchData& out);

 private:
  const Examples& examples_;
  ModelShape shape_;
  std::uint64_t seed_;
  std::int64_t batch_;
  std::int64_t steps_per_pass_;
  std::int64_t pass_ = -1;
  std::vector<std::int64_t> order_;
  std::vector<std::int64_t> indices_;
  std::optional<Masker> masker_;
  bool relabel_;
};

ModelShape model_shape(const Dataset& dataset);
PeData pe_data(const Dataset& dataset);

}  // namespace locus
