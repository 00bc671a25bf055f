// Kept results of a folder, chosen by their settings and read by the names of their values.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "results/keep.h"

namespace locus {

// The kept runs of a folder by the names of their files; a folder that is not there holds none. IoError or ConfigError.
std::vector<KeptRun> read_kept_runs(const std::filesystem::path& folder);

// Whether a condition "key=value" holds for a run. ConfigError for a key or value that cannot be.
bool matches(const RunConfig& config, const std::string& condition);
bool matches_all(const RunConfig& config, const std::vector<std::string>& conditions);

// A value of the run by its name, "a / b" for the ratio of two; nothing where it has none.
std::optional<double> kept_value(const KeptRun& run, const std::string& key);

}  // namespace locus
