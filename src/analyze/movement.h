// How far did parameters move from initialisation? docs/analyses/movement.md
#pragma once

#include "analyze/analysis_run.h"
#include "analyze/results/movement.h"
#include "analyze/settings.h"

namespace locus {

// DataError without an initial and a later model.
MovementResult analyze_movement(const AnalysisRun& run, const AnalyzeSettings& settings,
                                const AnalyzeProgress& progress = {});

// Whether a tensor belongs to an encoding: "blocks.0.pe.table", "pe.table".
bool is_position_tensor(const std::string& name);
// "pe", "embed", "attention", "mlp", "norm", "head" or "token" (mask and CLS vectors).
std::string tensor_group(const std::string& name);

}  // namespace locus
