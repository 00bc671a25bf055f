// Data that a user names on the command line of fit and check: which reader they are for, and their configuration.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"
#include "config/run_config.h"

namespace locus::cli {

struct OwnData {
  std::vector<std::string> files;
  std::vector<std::string> settings;  // key=value
  bool is_table = false;              // a table or pictures; else a recording, or several
};

// Words of a command line: what is no file and has the form of a setting is one. ConfigError without a file, and where
// options and files do not go together.
OwnData own_data(const DataOptions& options, const std::string& command);

bool is_setting(const std::string& word);

// A complete configuration, checked.
RunConfig own_config(const OwnData& data, const DataOptions& options);

}  // namespace locus::cli
