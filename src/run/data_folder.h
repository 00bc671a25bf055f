// Where the data of a run are looked for by a process that works in another folder than the one it was trained in.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "config/run_config.h"
#include "core/json.h"

namespace locus {

// Keys whose values are paths of files or folders.
inline constexpr std::array<std::string_view, 13> kPathKeys = {
    "lst.dir",      "series.files", "series.test_files", "series.manifest",    "series.atlas", "pe.file",   "table.file",
    "table.labels", "table.target", "table.groups",      "table.split_column", "images.files", "train.init"};

// For the manifest: the folder of the process, and the same as seen from the run's folder, which stays true when both are
// moved.
Json working_folder(const std::filesystem::path& run);

// Relative paths of the configuration of the run in `run`, changed to name the same files from here: looked for in the
// folder it was trained in, then beside the run as that folder was. A path that is found in neither stays as it is.
void find_data_from_here(RunConfig& config, const std::filesystem::path& run, const Json& manifest);

// The same where the configuration was read from a file: only that of a run, which lies beside its manifest, is changed.
void find_data_from_here(RunConfig& config, const std::filesystem::path& file);

// DataError when data of another hash than the one a run was trained on are taken for its own; empty hashes tell nothing.
void require_data_of_run(const std::filesystem::path& run, const std::string& trained_on, const std::string& given);

}  // namespace locus
