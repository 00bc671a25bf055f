// What a source hands to training: examples of T tokens in named splits, with what is known about the tokens.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/token_info.h"
#include "core/token_state.h"

namespace locus {

// Examples of one split. Tokens are ids (one channel each) or values (F features each), never both.
struct Examples {
  std::int64_t count = 0;
  std::vector<std::int16_t> ids;         // (count, T); -1 is the all-zero token
  std::vector<float> values;             // (count, T, F)
  std::vector<std::int32_t> labels;      // (count) classes; empty for regression
  std::vector<float> targets;            // (count, O) regression of whole examples; empty where the values are predicted
  std::vector<std::int32_t> read_token;  // (count) for readout = given; may be empty
  std::vector<std::int32_t> condition;   // (count) index into Dataset::conditions; may be empty
  std::vector<std::int32_t> cluster;     // (count) items that belong together (rotations of one puzzle); may be empty
  std::vector<std::uint8_t> masks;       // (count, T) kShown, kHidden or kMissing; may be empty; for training drawn anew
  std::vector<std::uint8_t> missing;     // (count, T) 1 = the data have no value here; empty: they have all
};

struct Dataset {
  std::string name;               // "lst", "nmar", "fmri"
  std::string task = "classify";  // what is predicted: a row of config/tasks.h
  std::int64_t tokens = 0;
  std::int64_t features = 0;
  std::int64_t outputs = 0;
  std::vector<std::string> conditions;
  std::vector<std::string> class_names = {};             // (outputs) of classes that a user names; may be empty
  std::vector<std::string> output_names = {};            // (outputs) of numbers; may be empty
  std::vector<std::pair<std::string, Examples>> splits;  // "train" first
  TokenInfo tokens_info;
  bool relabel =
      false;  // classes may take each other's places: training renames them at random, ids that stand for them too
  std::map<std::string, std::string> description;                               // for the manifest
  std::map<std::string, std::map<std::string, double>> baselines;               // split -> name -> error or accuracy
  std::map<std::string, std::map<std::string, MatrixD>> baseline_outputs = {};  // the same: what they say; may be empty
  std::string hash;                                                             // content hash of all of it

  const Examples& split(const std::string& split_name) const;  // LOCUS_CHECKs that it exists
  bool has_split(const std::string& split_name) const;
  // Of the split's baselines, named like the model's own: "test.mse_ridge".
  std::vector<std::pair<std::string, double>> baseline_measures(const std::string& split_name) const;
};

// Which tokens of an example decide its answer.
struct AnswerTokens {
  std::int64_t target = -1;  // the token asked for
  std::vector<bool> used;    // (T) these force the answer
  std::vector<bool> filled;  // (T) these say anything, the target not among them
};

// Examples `indices` of `from`, in that order; `out` keeps its memory.
struct ExampleSize {
  std::int64_t tokens, features;
};
void take_examples(const ExampleSize& size, const Examples& from, std::span<const std::int64_t> indices, Examples& out);
Examples take_examples(const ExampleSize& size, const Examples& from, std::span<const std::int64_t> indices);

}  // namespace locus
