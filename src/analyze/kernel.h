// Lazy or rich, measured: the empirical neural tangent kernel at initialisation and through training, and the
// first-order model around the start. docs/analyses/kernel.md
#pragma once

#include "analyze/analysis_run.h"
#include "analyze/gradient_kernel.h"
#include "analyze/results/kernel.h"
#include "analyze/settings.h"
#include "data/examples.h"

namespace locus {

// DataError without an initial and a later model.
KernelResult analyze_kernel(const AnalysisRun& run, const Dataset& dataset, const AnalyzeSettings& settings,
                            const AnalyzeProgress& progress = {});

// Examples and outputs the kernel is measured on. In masked prediction all probes carry the first one's mask, so that an
// output means the same token in each.
struct Probe {
  std::string split;
  std::vector<std::int64_t> indices;
  Examples examples;
  std::vector<OutputPlace> places;
  MatrixD targets;  // (n, outputs): one-hot classes, or the values to predict
};
Probe make_probe(const AnalysisRun& run, const Dataset& dataset, const AnalyzeSettings& settings);

}  // namespace locus
