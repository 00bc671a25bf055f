// The optimisers: one row each. Arrays that an optimiser keeps between steps are counted, allocated and stored by their
// number, so a new one needs a row and nothing in the training loop.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"

namespace locus {

// What the update of one stretch of parameters gets.
struct OptimizerStep {
  std::int64_t step = 0;     // 0, 1, ...
  float lr = 0;              // of this step and tensor
  float weight_decay = 0;    // of this tensor
  float gradient_scale = 1;  // from clipping
};
struct OptimizerArrays {
  float* param = nullptr;
  const float* gradient = nullptr;
  std::span<float* const> states;  // as many as the row says
  std::int64_t size = 0;
};

struct OptimizerRow {
  OptimizerKind kind;
  std::string_view help;
  std::string_view fields;  // keys of section optim that only some optimisers use
  int (*states)(const OptimConfig& config);
  void (*update)(const OptimConfig& config, const OptimizerStep& step, const OptimizerArrays& arrays);
  void (*exercise)(OptimConfig& config);  // settings that reach all of its arithmetic, for the behaviour signature
};

const std::vector<OptimizerRow>& optimizer_rows();  // one for each of kOptimizerNames, in that order
const OptimizerRow& optimizer_row(OptimizerKind kind);

// Name of a state in a checkpoint: "moment1", "moment2", ...
std::string optimizer_state_name(std::size_t state);

}  // namespace locus
