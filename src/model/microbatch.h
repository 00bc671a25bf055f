// What goes into one pass of the encoder: a few sequences, and what the step decides.
#pragma once

#include <cstdint>
#include <vector>

#include "core/token_state.h"

namespace locus {

struct Microbatch {
  std::int64_t sequences = 0;
  const std::int16_t* ids = nullptr;         // (B, tokens); -1 is the all-zero token
  const float* values = nullptr;             // (B, tokens, F), where there are no ids
  const std::uint8_t* masked = nullptr;      // (B, tokens) kShown, kHidden or kMissing; may be null
  const std::int32_t* read_token = nullptr;  // (B), readout = given
  const std::int32_t* labels = nullptr;      // (B), classification
  const float* targets = nullptr;            // regression: (B, tokens, O), or (B, O) for one output an example
  std::int64_t first = 0;                    // index of the first sequence in its batch; seeds dropout
};

struct StepContext {
  bool training = false;
  std::uint64_t seed = 0;  // of this step: dropout, signs
  double loss_weight = 1;  // one over the number of terms in the batch's mean
  float noise_sd = 0;      // Gaussian noise on each block's input
  std::uint64_t noise_seed = 0;
};

// Which tokens of each sequence are read; `position` lists them sequence by sequence.
struct RowSet {
  std::vector<std::int32_t> position;  // (R)
  std::vector<std::int64_t> offset;    // (B + 1) where each sequence's rows start
  bool all = false;                    // every token of every sequence, in order

  std::int64_t rows() const { return static_cast<std::int64_t>(position.size()); }
  std::int64_t count(std::int64_t sequence) const {
    return offset[static_cast<std::size_t>(sequence + 1)] - offset[static_cast<std::size_t>(sequence)];
  }
};

}  // namespace locus
