// The four splits of the Latin-square study, generated from a seed or made of the published files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/latin/puzzle.h"

namespace locus {

struct LatinSet {
  int n = 0;
  std::vector<Puzzle> puzzles = {};
  std::vector<int> base_item = {};  // puzzles that are rotations of one item share a number: the clusters for statistics
};

struct LatinData {
  LatinSet train, test, validation, heldout;
  std::string note = {};  // what is guaranteed about distances, in one sentence, for reports
};

struct LatinOptions {
  int n = 4;
  std::uint64_t seed = 0;        // of the data; training seeds do not touch it
  int per_difficulty = 3000;     // pool: train and test together
  double test_fraction = 0.1;    // of each difficulty
  int heldout_items = 12;        // per difficulty
  int validation_items = 12;     // per difficulty
  int rotations = 3;             // of each held-out and validation item
  double min_distance = 0.8;     // Jaccard: pool to held-out, pool to validation, validation to held-out
  std::string authors_dir = {};  // folder of the published files; empty = generate
};

// Deterministic from the options. With authors_dir the pool and the held-out set are the published ones, split into train
// and test the same way for every seed; validation is generated, at min_distance from the held-out set, and no puzzle of it
// is in the pool (see docs/puzzles.md for why more cannot be had). Throws ConfigError, DataError or IoError.
LatinData make_latin_data(const LatinOptions& options);

// SHA-256 over puzzles, answers, kinds, base items and splits.
std::string latin_data_hash(const LatinData& data);

// Counts and mean filled cells (target included) by difficulty, and the smallest distance between two sets.
struct LatinSetSummary {
  std::size_t count[3] = {0, 0, 0};
  double mean_filled[3] = {0, 0, 0};
};
LatinSetSummary summarize(const LatinSet& set);
double smallest_distance(const LatinSet& a, const LatinSet& b);

}  // namespace locus
