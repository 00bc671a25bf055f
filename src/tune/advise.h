// Advice on sigma before any training: a fixed rule over the data and the untrained model. The rule and its reasons stand in
// docs/decisions/0009-advice-on-sigma.md, written before it was tested.
#pragma once

#include <string>
#include <vector>

#include "data/examples.h"
#include "tune/search.h"

namespace locus {

// The untrained model with one sigma, means over its layers.
struct SigmaFacts {
  double sigma = 0;
  double to_content = 0;       // rms of the positions over that of the content
  double position_spread = 0;  // sd of the logits' parts that positions are in, over keys
  double content_spread = 0;   // of the part of content alone
  double entropy = 0;          // of attention, as a part of that of equal weights
  double first_step = 0;       // the largest change of an entry in one step of the optimiser, over sigma
};

struct SigmaAdvice {
  double sigma = 0;  // to begin with
  double lo = 0, hi = 0;
  double content_rms = 0;
  std::string low_reason, high_reason;
  std::vector<SigmaFacts> facts;  // at lo, sigma and hi
};

// About a second. ConfigError where sigma decides nothing, DataError where the logits have no parts (pre-norm, relative
// encodings).
SigmaAdvice advise_sigma(const RunConfig& config, const Dataset& dataset);

}  // namespace locus
