// Where does attention go, does it agree with a reference, does it follow the task? docs/analyses/attention.md
#pragma once

#include "analyze/analysis_run.h"
#include "analyze/results/attention.h"
#include "analyze/settings.h"
#include "data/examples.h"

namespace locus {

// Reference runs come from settings.references; without them there is no agreement, and a note says so. DataError when
// a reference has other tokens, or the split does not exist.
AttentionResult analyze_attention(const AnalysisRun& run, const Dataset& dataset, const AnalyzeSettings& settings,
                                  const AnalyzeProgress& progress = {});

}  // namespace locus
