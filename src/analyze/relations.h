// Which measures of a run go with its generalisation? Reads the analyses of runs. docs/analyses/relations.md
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analyze/results/relations.h"
#include "analyze/settings.h"

namespace locus {

// Runs with learned positions; DataError for fewer than three of them with an outcome.
RelationResult analyze_relations(const std::vector<std::filesystem::path>& runs, const AnalyzeSettings& settings);

// The measures of one run's analyses that are worth relating, by name: "attention.agreement", "kernel.change", ...
// Analyses of another state of the model are left out and said in `notes`.
std::map<std::string, double> run_measures(const std::filesystem::path& run, std::vector<std::string>& notes);

}  // namespace locus
