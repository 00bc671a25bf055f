// Results kept in the repository: a small file for each finished run, and the tables of documents made from them.
#pragma once

#include <string>
#include <vector>

#include "config/run_config.h"

namespace locus {

// What a reader calls a run's encoding: "learned sigma 0.2", "sinusoidal 2-D", "none, causal".
std::string encoding_label(const RunConfig& config);

// Writes <to>/<label>-seed<k>-<hash>.json (configuration and summary, no weights) for each finished run below `dirs`.
// Returns the files written; unfinished runs are named in `skipped`.
struct KeptResults {
  std::vector<std::string> written;
  std::vector<std::string> skipped;
};
KeptResults keep_results(const std::vector<std::string>& dirs, const std::string& to);

// Fills every <!-- table NAME --> ... <!-- end --> of a document from the table of that name in the TOML file beside it
// (<stem>.tables.toml). Returns the new text; DataError names what is missing.
std::string fill_tables(const std::string& document_path);

}  // namespace locus
