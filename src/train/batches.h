// The order of examples and the masks of training: functions of seed and step alone, so resuming needs no generator's state.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/run_config.h"
#include "core/rng.h"
#include "data/examples.h"
#include "data/masking.h"
#include "model/structure.h"

namespace locus {

// Draws a permutation of the classes for each example and applies it to the ids that stand for classes and to the label.
void relabel_classes(Rng& rng, const ModelShape& shape, Examples& batch);

class TrainingBatches {
 public:
  TrainingBatches(const Dataset& dataset, const RunConfig& config, const ModelShape& shape);

  std::int64_t steps_per_pass() const { return steps_per_pass_; }
  // A batch: examples with the masks of this step.
  void fill(std::int64_t step, Examples& out);

 private:
  const Examples& examples_;
  ModelShape shape_;
  std::uint64_t seed_;
  std::int64_t batch_;
  std::int64_t steps_per_pass_;
  std::int64_t pass_ = -1;
  std::vector<std::int64_t> order_;
  std::optional<Masker> masker_;
  bool relabel_;
};

}  // namespace locus
