// manifest.json and config.toml of a run directory: making, reading, comparing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/json.h"

namespace locus {

struct RunIdentity;

Json make_manifest(const RunIdentity& identity);

// Adds an entry to the list `resumed`.
void note_resume(Json& manifest, const RunIdentity& identity);

void write_manifest(const std::filesystem::path& file, const Json& manifest);
Json read_manifest(const std::filesystem::path& file);             // IoError
std::string manifest_text(const Json& manifest, const char* key);  // "" when absent or no text

RunConfig read_config_file(const std::filesystem::path& file);  // IoError or ConfigError

// "pe.sigma = 0.4 (there: 0.2)" for each identity field in which `asked` differs from `there`.
std::vector<std::string> identity_differences(const RunConfig& asked, const RunConfig& there);

}  // namespace locus
