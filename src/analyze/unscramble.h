// Can the tokens of a grid be put back into their places by what was learned of them? docs/analyses/unscramble.md
#pragma once

#include "analyze/analysis_run.h"
#include "analyze/results/unscramble.h"
#include "analyze/settings.h"

namespace locus {

// Needs tokens on a grid of two axes and an encoding that adds a table. The same procedure places tokens by the learned
// table, by its change, by an untrained table, and by the correlations of the training samples. DataError without a grid.
// DataError where tokens have no places on a grid; needs no examples.
void require_grid(const AnalysisRun& run);

UnscrambleResult analyze_unscramble(const AnalysisRun& run, const Dataset& dataset, const AnalyzeSettings& settings,
                                    const AnalyzeProgress& progress);

}  // namespace locus
