// How alike the codes of several runs are: across seeds, across layers and over
// training time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/results/result.h"

namespace locus {

// Two codes; runs by their number in `runs`.
struct CodePairRow {
  std::string comparison;  // "seeds" (same setting), "settings", "layers" or "time"
  std::int64_t run_a = 0;
  std::int64_t run_b = 0;
  std::string model_a;
  std::string model_b;
  std::int64_t layer_a = 0;
  std::int64_t layer_b = 0;
  double cosine_pearson = kNotAvailable;  // of the two cosine matrices, off-diagonal
  double cosine_spearman = kNotAvailable;
  double centred_pearson = kNotAvailable;  // of the cosine matrices of centred codes
  double distance_pearson = kNotAvailable;
  double procrustes_matched = kNotAvailable;  // 0 equal up to rotation and scale, sqrt 2 unrelated
  double cka = kNotAvailable;                 // linear centred kernel alignment

  static void fields(auto& r, auto&& visit) {
    visit("comparison", r.comparison);
    visit("run_a", r.run_a);
    visit("run_b", r.run_b);
    visit("model_a", r.model_a);
    visit("model_b", r.model_b);
    visit("layer_a", r.layer_a);
    visit("layer_b", r.layer_b);
    visit("cosine_pearson", r.cosine_pearson);
    visit("cosine_spearman", r.cosine_spearman);
    visit("centred_pearson", r.centred_pearson);
    visit("distance_pearson", r.distance_pearson);
    visit("procrustes_matched", r.procrustes_matched);
    visit("cka", r.cka);
  }
};

// Means over pairs.
struct PairSummaryRow {
  std::string comparison;
  std::string setting;
  std::string model;
  std::int64_t layer = 0;
  std::int64_t pairs = 0;
  double cosine_pearson = kNotAvailable;
  double centred_pearson = kNotAvailable;
  double procrustes_matched = kNotAvailable;
  double cka = kNotAvailable;

  static void fields(auto& r, auto&& visit) {
    visit("comparison", r.comparison);
    visit("setting", r.setting);
    visit("model", r.model);
    visit("layer", r.layer, Role::kPlace);
    visit("pairs", r.pairs);
    visit("cosine_pearson", r.cosine_pearson);
    visit("centred_pearson", r.centred_pearson);
    visit("procrustes_matched", r.procrustes_matched);
    visit("cka", r.cka);
  }
};

struct IdentifiabilityResult {
  static constexpr const char* kName = "identifiability";
  std::vector<std::string> runs;      // folders
  std::vector<std::string> settings;  // one a run: equal text, equal setting but for the seed
  std::vector<CodePairRow> pairs;
  std::vector<PairSummaryRow> summary;
  std::vector<std::string> notes;  // what could not be had, and why

  static void fields(auto& r, auto&& visit) {
    visit("runs", r.runs);
    visit("settings", r.settings);
  }
  static void tables(auto& r, auto&& visit) {
    visit("pairs", "", r.pairs);
    visit("summary", "summary", r.summary);
  }
};

}  // namespace locus
