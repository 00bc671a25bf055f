// Which examples an analysis looks at, and whether they are those that the run was trained on.
#pragma once

#include <string>
#include <vector>

#include "analyze/analysis_run.h"
#include "data/examples.h"

namespace locus {

// At most `count`: all in order when they fit, else a seeded sample in rising order.
std::vector<std::int64_t> sample_indices(std::int64_t available, std::int64_t count, std::uint64_t seed);
Examples sample_examples(const Dataset& dataset, const Examples& from, std::int64_t count, std::uint64_t seed);

// `wanted`, or heldout, test, validation, train in this order when it is empty. DataError for an unknown one.
std::string choose_split(const Dataset& dataset, const std::string& wanted);

// DataError when the data set has other tokens, features or outputs than the run, or another content hash.
void require_same_data(const AnalysisRun& run, const Dataset& dataset);

}  // namespace locus
