// Are positions grouped as the tokens' modules or networks are? docs/analyses/networks.md
#pragma once

#include "analyze/analysis_run.h"
#include "analyze/results/networks.h"
#include "analyze/settings.h"

namespace locus {

// DataError when tokens have no labels, or fewer than two different ones, or the encoding adds no table.
NetworkResult analyze_networks(const AnalysisRun& run, const AnalyzeSettings& settings,
                               const AnalyzeProgress& progress = {});

}  // namespace locus
