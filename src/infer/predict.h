// Outputs and inner values of a model for inputs that somebody else owns: nothing is copied, nothing is kept between calls,
// so any number of threads may ask one model at once.
#pragma once

#include <cstdint>

#include "core/matrix.h"
#include "core/parallel.h"
#include "model/encoder.h"
#include "model/observer.h"

namespace locus {

struct InputView {
  std::int64_t count = 0;
  const std::int16_t* ids = nullptr;         // (count, T), where the model reads ids
  const float* values = nullptr;             // (count, T, F), else
  const std::uint8_t* masked = nullptr;      // (count, T) core/token_state.h; needed by readout = masked
  const std::int32_t* read_token = nullptr;  // (count), needed by readout = given
};

// DataError when an id or a token to read does not exist, a number is not finite, or what the read-out needs is missing.
void check_inputs(const ModelStructure& structure, const InputView& inputs);

// (rows read, O): one row an example, or one a token that is read. The same numbers as Evaluator gives.
MatrixF predict(const ModelStructure& structure, const Prepared& prepared, const InputView& inputs, ThreadPool& pool);

// Every named activation (model/observer.h) of the inputs, in order.
void observe(const ModelStructure& structure, const float* params, const InputView& inputs, Observer& observer);

}  // namespace locus
