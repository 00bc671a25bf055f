// Do other people give the same encoding? docs/analyses/reliability.md
#pragma once

#include <filesystem>
#include <vector>

#include "analyze/results/reliability.h"
#include "analyze/settings.h"

namespace locus {

// DataError when no two runs that are otherwise alike were trained on different people.
ReliabilityResult analyze_reliability(const std::vector<std::filesystem::path>& runs, const AnalyzeSettings& settings,
                                      const AnalyzeProgress& progress = {});

}  // namespace locus
