// How far do attention logits spread, and through which of their parts? docs/analyses/logits.md
#pragma once

#include <memory>

#include "analyze/analysis_run.h"
#include "analyze/results/logits.h"
#include "analyze/settings.h"
#include "data/examples.h"

namespace locus {

// A row for each layer, then their mean; `params` may be an untrained model's. DataError where an encoding acts elsewhere
// than in a sum with the input, or a norm comes between that sum and the logits.
std::vector<LogitRow> logit_rows(const ModelStructure& structure, const float* params, const Examples& examples);

LogitResult analyze_logits(const AnalysisRun& run, const Dataset& dataset, const AnalyzeSettings& settings,
                           const AnalyzeProgress& progress = {});

}  // namespace locus
