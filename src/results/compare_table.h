// Many runs as one table: configuration, status and last measures of each; read from small files only.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/run_reader.h"

namespace locus {

// Beside the words of RunState, its status may be how a sweep saw it fail.
struct RunRow : RunState {
  std::filesystem::path path;
  std::string label;                                               // of its case in a sweep
  std::shared_ptr<const std::map<std::string, std::string>> base;  // configuration, shared by the cells of a sweep
  std::map<std::string, std::string> own;                          // over it; "" where a condition makes a key meaningless
  std::string data_hash;                                           // of what it was trained on; "" until it has a summary

  std::string key(const std::string& name) const;  // of the configuration; "" when it has none
  // A key, a measure, or one of case, run, status, epochs, steps, seconds, left (of training, in seconds); "" when the run
  // has none.
  std::string text(const std::string& name) const;
};

struct RunTable {
  std::vector<RunRow> rows;
  std::vector<std::string> warnings;  // of what could not be read, beside rows with the status "damaged"

  std::vector<std::string> varied() const;    // keys with more than one value, in the order of the configuration
  std::vector<std::string> measures() const;  // in byte order
  // ConfigError with the nearest name unless it is a key, a measure or one of the words above.
  void require_name(const std::string& name, const std::string& where) const;
};

// Run directories at or below the folders, and cells of sweeps there that failed before they had one.
RunTable read_run_table(std::span<const std::string> folders);

// "pe.sigma=0.1", "status!=finished", "heldout.accuracy>=0.9": keeps the rows for which all hold.
void filter_rows(RunTable& table, std::span<const std::string> filters);

}  // namespace locus
