// How good are the predictions, beside those of simple predictors on the same samples? docs/analyses/scores.md
#pragma once

#include "analyze/analysis_run.h"
#include "analyze/results/scores.h"
#include "analyze/settings.h"

namespace locus {

// Of the split "test". DataError where whole examples have no class that a user names, and no numbers to predict.
// DataError where tokens are predicted and nothing else; needs no examples.
void require_answers(const AnalysisRun& run);

ScoreResult analyze_scores(const AnalysisRun& run, const Dataset& dataset, const AnalyzeSettings& settings,
                           const AnalyzeProgress& progress);

}  // namespace locus
