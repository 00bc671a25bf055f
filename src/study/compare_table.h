// Many runs as one table: configuration, status and last measures of each; read from small files only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace locus {

struct RunRow {
  std::filesystem::path path;
  std::string label;                                               // of its case in a sweep
  std::shared_ptr<const std::map<std::string, std::string>> base;  // configuration, shared by the cells of a sweep
  std::map<std::string, std::string> own;                          // over it; "" where a condition makes a key meaningless
  std::string status;  // of summary.json, "training", "unfinished", or how a sweep saw it fail
  std::string reason;
  std::int64_t epochs = 0;
  std::int64_t steps = 0;
  double seconds = 0;
  std::map<std::string, double> measures;
  bool verified = false;  // the summary is this run's for certain; those of earlier versions are not

  bool complete() const { return status == "finished" || status == "converged"; }
  std::string key(const std::string& name) const;  // of the configuration; "" when it has none
  // A key, a measure, or one of case, run, status, epochs, steps, seconds; "" when the run has none.
  std::string text(const std::string& name) const;
};

struct RunTable {
  std::vector<RunRow> rows;

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
