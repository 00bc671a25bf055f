// Samples as a file has them, before anything is fitted: tokens of numbers, vectors or categories, and what else the
// file says of each sample. Words of this folder: a token is a column (or a pixel), a sample is a row (or a picture).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/table_config.h"
#include "core/token_info.h"

namespace locus {

// A value a sample: numbers (NaN: missing) or texts ("" missing), never both.
struct RawColumn {
  std::string name;
  std::vector<double> numbers;
  std::vector<std::string> texts;

  bool is_text() const { return !texts.empty(); }
  std::int64_t size() const { return static_cast<std::int64_t>(is_text() ? texts.size() : numbers.size()); }
  bool is_missing(std::int64_t sample) const;
  // As the user would write it: 3 and not 3.000000.
  std::string text(std::int64_t sample) const;
};

struct RawTable {
  std::string source;  // the file, for messages
  std::string format;  // "CSV", "NPZ", ...
  std::int64_t samples = 0;
  std::vector<RawColumn> columns;   // text files and matrices
  std::vector<std::int64_t> lines;  // of each sample in a text file
  bool has_header = false;          // columns have names of their own, else numbers from 1
  std::string sample_column;        // that names the samples where their order is not the user's: files of a folder
  std::int64_t features = 1;        // of a vector token
  std::vector<double> vectors;      // (samples, tokens, features) where features > 1
  std::vector<std::string> vector_names;

  // "line 7" or "sample 7".
  std::string place(std::int64_t sample) const;
};

// The table of `config.file`: text, or an array samples x tokens (x features). Ragged rows, several arrays that fit and
// arrays of other ranks are errors.
RawTable read_raw_table(const TableConfig& config);

// The place of a column by its name, or its number from 1; -1 when there is none.
std::int64_t find_column(const RawTable& table, const std::string& name);
// The same; ConfigError naming `key` and the nearest title when there is none.
std::int64_t require_column(const RawTable& table, const std::string& name, const std::string& key);

// Columns that stand outside of the tokens: a column of the table, an array of its file, or another file with a row for each
// sample (in_order_of_samples).
// A file of several columns gives several. ConfigError or DataError in the user's words.
std::vector<RawColumn> outside_columns(const RawTable& table, const std::string& name, const std::string& key);

}  // namespace locus
