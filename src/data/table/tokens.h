// Which columns are tokens, and of what kind: numbers, vectors or categories. What is none is left out by name.
#pragma once

#include <string>
#include <vector>

#include "core/token_info.h"
#include "data/table/audit.h"
#include "data/table/raw_samples.h"

namespace locus {

struct RawToken {
  std::string name;
  std::vector<double> numbers;     // (samples, features); NaN: missing
  std::vector<std::string> texts;  // (samples) of a category; "": missing

  bool is_category() const { return !texts.empty(); }
};

struct RawTokens {
  std::string source;
  std::int64_t samples = 0;
  std::int64_t features = 1;  // of tokens that are numbers
  std::vector<RawToken> tokens;
  TokenInfo places;                       // what is known of where the tokens are: coordinates of pixels; may be empty
  std::vector<std::string> sample_names;  // "line 7", for messages

  bool is_missing(std::int64_t sample, std::size_t token) const;
};

// Columns without those of target, groups and split. Doubts: what looks like an index, a clock or a name, people without
// groups. DataError for texts among numbers.
RawTokens pick_tokens(const RawTable& table, const TableConfig& config, DataAudit& audit);

}  // namespace locus
