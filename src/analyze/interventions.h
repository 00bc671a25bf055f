// Do the positions cause the generalisation? Changes the positions of a trained model and evaluates it, without
// retraining. docs/analyses/interventions.md
#pragma once

#include "analyze/analysis_run.h"
#include "analyze/results/interventions.h"
#include "analyze/settings.h"
#include "data/examples.h"

namespace locus {

// DataError when the encoding has no table that could be replaced (learned and sinusoidal have one).
InterventionResult analyze_interventions(const AnalysisRun& run, const Dataset& dataset, const AnalyzeSettings& settings,
                                         const AnalyzeProgress& progress = {});

// `source` turned and scaled to lie as near to `code` as a code of its own geometry can: centred, rotated by orthogonal
// Procrustes, given the norm and mean of `code`. Both (T, C).
MatrixD align_code(const MatrixD& code, const MatrixD& source);

}  // namespace locus
