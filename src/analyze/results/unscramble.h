// Tokens of a grid put back into their places by their positions alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/results/result.h"

namespace locus {

struct UnscrambleRow {
  std::string model;                      // "init", "final", or "data": the correlations of the training samples
  std::int64_t layer = -1;                // -1: the mean of all layers' likenesses
  std::string code;                       // "raw", "change" (since init, centred), "correlation"
  double neighbours = kNotAvailable;      // share of true neighbours that are side by side again
  double neighbours_low = kNotAvailable;  // 95 % bootstrap interval over tokens
  double neighbours_high = kNotAvailable;
  double chance = kNotAvailable;        // the same of random places, mean of 200
  double most_similar = kNotAvailable;  // share of true neighbours among as many most similar tokens, without places
  double most_similar_low = kNotAvailable;
  double most_similar_high = kNotAvailable;
  double distance_correlation = kNotAvailable;  // true and found distances of all pairs, Pearson's r
  double in_place = kNotAvailable;              // share of tokens in their own cell, at the best symmetry of the grid

  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("layer", r.layer, Role::kPlace);
    visit("code", r.code);
    visit("neighbours", r.neighbours);
    visit("neighbours_low", r.neighbours_low);
    visit("neighbours_high", r.neighbours_high);
    visit("chance", r.chance);
    visit("most_similar", r.most_similar);
    visit("most_similar_low", r.most_similar_low);
    visit("most_similar_high", r.most_similar_high);
    visit("distance_correlation", r.distance_correlation);
    visit("in_place", r.in_place);
  }
};

// Arrays: truth (T) cell of each token, row by row; placed.<model>.<code> (T) cells found, turned to the truth; pictures
// (K, T, F) values of some samples as the data have them.
struct UnscrambleResult {
  static constexpr const char* kName = "unscramble";
  std::int64_t rows = 0;  // of the grid
  std::int64_t columns = 0;
  std::int64_t patch = 1;  // pixels of a token's side
  std::vector<UnscrambleRow> placements;
  std::vector<std::string> notes;
  std::vector<ResultArray> arrays;

  static void fields(auto& r, auto&& visit) {
    visit("rows", r.rows);
    visit("columns", r.columns);
    visit("patch", r.patch);
  }
  static void tables(auto& r, auto&& visit) { visit("placements", "", r.placements); }
};

}  // namespace locus
