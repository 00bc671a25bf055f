// A user's own table or pictures that are named on a command line, and a complete configuration for training on them.
#pragma once

#include <string>
#include <vector>

#include "config/run_config.h"

namespace locus {

struct OwnTableOptions {
  std::string path;    // a table, an array, an IDX file or a folder of PNG files
  std::string labels;  // CSV of tokens; may be empty
  std::string dataset;
  std::vector<std::string> target;    // columns, an array or a file; empty: hidden tokens are predicted
  std::string task;                   // empty: told from the target
  std::string groups;                 // column or file
  std::string missing;                // "mask" or "error"
  bool images = false;                // an array of three axes holds pictures
  bool random_split = false;          // without a target: rows drawn for testing; else the end of the table
  std::vector<std::string> settings;  // key=value over all of it
};

bool has_three_axes(const std::string& path);  // an array that is no matrix: pictures, or vectors

// A folder that holds PNG files, or an IDX file: pictures without a word.
bool are_pictures(const std::string& path);

// ConfigError or DataError in the user's words; the task is told from the target and written into the configuration.
RunConfig own_table_config(const OwnTableOptions& options);

}  // namespace locus
