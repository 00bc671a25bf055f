// Runs of frames x tokens on their way to examples: statistics and scaling per token, detrending, windows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/matrix.h"
#include "data/examples.h"

namespace locus {

struct TokenStats {
  std::vector<double> mean;  // (T)
  std::vector<double> sd;    // (T), divided by the count
};

TokenStats token_stats(const MatrixD& frames);
// Over several runs, as if they stood one after another.
TokenStats token_stats(const std::vector<const MatrixD*>& runs);

// The token that cannot be scaled: constant (but for rounding), or too large for its deviation to be a number.
std::optional<std::size_t> token_without_signal(const TokenStats& stats);

// (x - mean) / sd; a token with sd 0 becomes 0.
void scale_tokens(MatrixD& frames, const TokenStats& stats);

// Subtracts each token's least-squares line over the frames.
void remove_linear_trend(MatrixD& frames);

// Appends the run as windows of `window` frames that do not overlap; a remainder at the end is left out. Returns the
// number of samples added. Each gets `cluster` as its cluster.
std::int64_t append_windows(Examples& examples, const MatrixD& frames, std::int64_t window, std::int32_t cluster);

// SHA-256 over names, shapes, values and token information of all splits.
std::string content_hash(const Dataset& dataset);

}  // namespace locus
