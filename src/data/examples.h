// What a study hands to training: examples of T tokens in named splits, with what is known about the tokens.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/matrix.h"

namespace locus {

enum class Task { kClassification, kRegression };

// Examples of one split. Tokens are ids (one channel each) or values (F features each), never both.
struct Examples {
  std::int64_t count = 0;
  std::vector<std::int16_t> ids;          // (count, T); -1 is the all-zero token
  std::vector<float> values;              // (count, T, F)
  std::vector<std::int32_t> labels;       // (count) classes; empty for regression, whose targets are the values
  std::vector<std::int32_t> read_token;   // (count) for readout = given; may be empty
  std::vector<std::int32_t> condition;    // (count) index into Dataset::conditions; may be empty
  std::vector<std::int32_t> cluster;      // (count) items that belong together (rotations of one puzzle); may be empty
  std::vector<std::uint8_t> fixed_masks;  // (count, T) masks of evaluation, 1 = hidden; empty for classification
};

// What the data knows of its tokens; every part may be empty.
struct TokenInfo {
  std::vector<std::string> names;    // (T)
  std::vector<std::int32_t> labels;  // (T) module or network of each token
  std::vector<std::string> label_names;
  std::vector<std::int32_t> hemispheres;  // (T)
  MatrixD coordinates;                    // (T, X): grid rows and columns, or x y z
  bool coordinates_are_grid = false;
  MatrixD graph;  // (T, T) symmetric, non-negative; for Laplacian eigenvectors; from training data only
  std::map<std::string, MatrixD> truths;  // (T, T) by name: "W", "correlation", "connectivity"
};

struct Dataset {
  std::string name;  // "lst", "nmar", "fmri"
  Task task = Task::kClassification;
  std::int64_t tokens = 0;
  std::int64_t features = 0;
  std::int64_t outputs = 0;
  std::vector<std::string> conditions;
  std::vector<std::pair<std::string, Examples>> splits;  // "train" first
  TokenInfo tokens_info;
  std::map<std::string, std::string> description;                  // for the manifest
  std::map<std::string, std::map<std::string, double>> baselines;  // split -> name -> error or accuracy
  std::string hash;                                                // content hash of all of it

  const Examples& split(const std::string& split_name) const;  // LOCUS_CHECKs that it exists
  bool has_split(const std::string& split_name) const;
  // Of the split's baselines, named like the model's own: "test.mse_ridge".
  std::vector<std::pair<std::string, double>> baseline_measures(const std::string& split_name) const;
};

}  // namespace locus
