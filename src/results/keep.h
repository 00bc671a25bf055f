// Results kept in the repository: a small file for each finished run.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "config/run_config.h"

namespace locus {

// What a reader calls a run's encoding: "learned sigma 0.2", "sinusoidal 2-D", "none, causal".
std::string encoding_label(const RunConfig& config);

// A kept file as it is read again.
struct KeptRun {
  std::string file;  // its name
  RunConfig config;
  std::string data_hash;
  std::map<std::string, double> values;  // of the summary and the analyses
};
KeptRun read_kept_run(const std::filesystem::path& file);  // IoError or ConfigError

// Keys in which two results differ, of those that matter to a result; not the folders of data.
std::vector<std::string> differing_keys(const RunConfig& a, const RunConfig& b);

// Writes <to>/<label>-seed<k>-<hash>.json (configuration and summary, no weights) for each finished run below `dirs`. The
// hash is that of all keys that matter to the result and of the data; keeping a run again replaces its own file.
// Returns the files written; unfinished runs are named in `skipped`.
struct KeptResults {
  std::vector<std::string> written;
  std::vector<std::string> skipped;
  std::vector<std::string> notes;  // about analyses that were left out or cannot be checked
};
KeptResults keep_results(const std::vector<std::string>& dirs, const std::string& to);

}  // namespace locus
