// From raw samples to what a model reads, and back: scales and vocabularies, fitted to training samples alone and stored
// with the model, so that raw data can be given to it later.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/table_config.h"
#include "core/json.h"
#include "data/table/targets.h"
#include "data/table/tokens.h"

namespace locus {

struct TokenCode {
  std::string name = {};
  std::vector<double> mean = {}, sd = {};    // (features) of numbers
  std::vector<std::string> vocabulary = {};  // of a category, sorted; another text is unknown: the all-zero token
  std::int64_t channel = 0;                  // of the vocabulary's first word

  bool is_category() const { return !vocabulary.empty(); }
};

// Samples as numbers: ids or values, and where the data have none.
struct CodedTokens {
  std::vector<std::int16_t> ids;      // (n, T); -1: unknown
  std::vector<float> values;          // (n, T, features)
  std::vector<std::uint8_t> missing;  // (n, T) 1 = missing; empty: nothing is
};

struct TableCoder {
  std::vector<TokenCode> tokens;
  std::int64_t value_features = 1;  // channels of numbers; the vocabularies' follow
  std::int64_t features = 1;        // all channels
  bool ids = false;                 // every token is a category: one id each instead of values
  std::vector<std::string> classes;
  std::vector<std::string> outputs;            // names of numbers to predict
  std::vector<double> target_mean, target_sd;  // (outputs)

  Json to_json() const;
  static TableCoder from_json(const Json& json);  // IoError

  // Tokens of the samples, in this order. DataError when a token of training is not there.
  CodedTokens encode(const RawTokens& raw, std::span<const std::int64_t> samples) const;
};

struct CoderInput {
  const RawTokens& raw;
  const RawTarget& target;
  std::span<const std::int64_t> train;
};

// Leaves out constant tokens (config.constant) with a note that names them. DataError when a value is missing and
// config.missing says so, when one is infinite, and when no token is left.
TableCoder fit_coder(const CoderInput& input, const TableConfig& config, DataAudit& audit);

}  // namespace locus
