// The analyses of a run as one flat list of numbers, small enough to keep in the repository.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "run/run_reader.h"

namespace locus {

// {"recovery.truths.final.layer0.raw.cosine.sinusoid.pearson": 0.41, ...} from the JSON files below run/analysis: the rows
// of the initial and the final model, named by what identifies them. Rows that differ in repeat or source are averaged;
// single positions, tensors or conditions and interventions in a single layer stay in the run folder.
// An analysis of another state of the model is left out; that, and what cannot be checked, is said in `notes`.
Json flat_analyses(const RunReader& run, std::vector<std::string>& notes);

}  // namespace locus
