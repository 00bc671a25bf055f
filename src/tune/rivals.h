// What a search compares with: the same encoder with an encoding that does not learn.
#pragma once

#include <vector>

#include "data/examples.h"
#include "tune/search.h"

namespace locus {

// Fixed encodings that fit the task (by coordinates where the data have them, then by index), the frozen one at the
// configuration's sigma, and none at all; most telling first. Empty where sigma decides nothing.
std::vector<TuneRival> tune_rivals(const RunConfig& base, const Dataset& dataset);

}  // namespace locus
