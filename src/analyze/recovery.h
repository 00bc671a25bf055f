// Did the positions recover the true arrangement of the tokens? docs/analyses/recovery.md
#pragma once

#include "analyze/analysis_run.h"
#include "analyze/results/recovery.h"
#include "analyze/settings.h"

namespace locus {

// DataError when the run's encoding adds no table.
RecoveryResult analyze_recovery(const AnalysisRun& run, const AnalyzeSettings& settings,
                                const AnalyzeProgress& progress = {});

}  // namespace locus
