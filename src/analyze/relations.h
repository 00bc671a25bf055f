// Which measures of a run go with its generalisation? Reads the analyses of runs. docs/analyses/relations.md
#pragma once

#include <filesystem>
#include <vector>

#include "analyze/results/relations.h"
#include "analyze/settings.h"

namespace locus {

// Runs with learned positions; DataError for fewer than three of them with an outcome.
RelationResult analyze_relations(const std::vector<std::filesystem::path>& runs, const AnalyzeSettings& settings);

}  // namespace locus
