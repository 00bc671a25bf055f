// Configurations as text: TOML files with a base, command-line overrides, printing, JSON and the identity hash.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"
#include "core/json.h"

namespace locus {

// Reads a TOML file over `config`. A top-level `base = "other.toml"` (relative to the file) is read first.
void load_toml_file(RunConfig& config, const std::string& path);
void load_toml_text(RunConfig& config, std::string_view text, const std::string& where);

// One "key=value" as typed on a command line.
void apply_override(RunConfig& config, std::string_view assignment);

// File (may be empty), then overrides, then validate().
RunConfig load_run_config(const std::string& path, std::span<const std::string> overrides);

std::string to_toml(const RunConfig& config);  // complete; reads back to the same configuration
Json to_json(const RunConfig& config);         // nested: {"pe": {"sigma": 0.2, ...}, ...}
RunConfig run_config_from_json(const Json& json, const std::string& where);

// SHA-256 of the identity fields and the data's own hash: equal hash, equal result.
std::string config_hash(const RunConfig& config, std::string_view data_hash);

}  // namespace locus
