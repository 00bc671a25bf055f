// What the recovery of positions found: per model, layer and truth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/results/result.h"

namespace locus {

// How the token-by-token matrix of a code goes with a truth.
struct TruthRow {
  std::string model;        // "init", "snapshots/10", "final"
  std::int64_t epoch = -1;  // of a snapshot; -1: init or final
  std::int64_t layer = 0;
  std::string code;                // "raw", "centred" (mean of the rows removed) or "change"
                                   // (since init, centred)
  std::string similarity;          // "cosine" or "distance"
  std::string truth;               // "sinusoid", "grid_distance", "distance", "W", ...
  double pearson = kNotAvailable;  // over off-diagonal entries
  double spearman = kNotAvailable;
  double ceiling = kNotAvailable;   // pearson of the initial code plus a perfect change of the
                                    // same size: the most that this row could show
  double partial = kNotAvailable;   // Pearson, given the distance of coordinates; NaN where
                                    // there are none or the truth is that distance
  double mantel_p = kNotAvailable;  // two-sided; init and final only

  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("epoch", r.epoch, Role::kAside);
    visit("layer", r.layer, Role::kPlace);
    visit("code", r.code);
    visit("similarity", r.similarity);
    visit("truth", r.truth);
    visit("pearson", r.pearson);
    visit("spearman", r.spearman, Role::kAside);
    visit("ceiling", r.ceiling);
    visit("partial", r.partial);
    visit("mantel_p", r.mantel_p);
  }
};

// One code as a whole.
struct RecoveryRow {
  std::string model;        // "init", "snapshots/10", "final"
  std::int64_t epoch = -1;  // of a snapshot; -1: init or final
  std::int64_t layer = 0;
  double norm = kNotAvailable;                 // Frobenius
  double movement = kNotAvailable;             // Frobenius norm of the change since init
  double effective_dimension = kNotAvailable;  // participation ratio of the centred code
  double procrustes = kNotAvailable;           // Frobenius distance to the sinusoid of
                                               // the grid after the best rotation
  double procrustes_matched = kNotAvailable;   // both scaled to norm 1: 0 equal, sqrt 2 unrelated
  double procrustes_change = kNotAvailable;    // procrustes minus that at init
  double procrustes_matched_change = kNotAvailable;
  double procrustes_null = kNotAvailable;  // mean of procrustes_matched over permuted positions
  double procrustes_null_sd = kNotAvailable;
  double procrustes_p = kNotAvailable;  // one-sided: nearer than permuted
  double readout_r2 = kNotAvailable;    // cross-validated ridge read-out of all coordinates
  std::vector<double> readout_r2_axes;
  double readout_p = kNotAvailable;
  double neighbour_r2 = kNotAvailable;    // coordinates of the nearest other token
  double label_accuracy = kNotAvailable;  // label of the nearest other token
  double label_chance = kNotAvailable;    // mean of the null with shuffled labels
  double label_p = kNotAvailable;
  double homotopic = kNotAvailable;        // mean cosine of homologous pairs across hemispheres
  double homotopic_other = kNotAvailable;  // of other pairs across hemispheres
  double homotopic_p = kNotAvailable;      // one-sided
  double map_mds_r2 = kNotAvailable;       // share of the truth's scatter explained
                                           // by the aligned two-dimensional map
  double map_pca_r2 = kNotAvailable;

  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("epoch", r.epoch, Role::kAside);
    visit("layer", r.layer, Role::kPlace);
    visit("norm", r.norm);
    visit("movement", r.movement);
    visit("effective_dimension", r.effective_dimension);
    visit("procrustes", r.procrustes);
    visit("procrustes_matched", r.procrustes_matched);
    visit("procrustes_change", r.procrustes_change);
    visit("procrustes_matched_change", r.procrustes_matched_change);
    visit("procrustes_null", r.procrustes_null);
    visit("procrustes_null_sd", r.procrustes_null_sd);
    visit("procrustes_p", r.procrustes_p);
    visit("readout_r2", r.readout_r2);
    visit("readout_r2_axes", r.readout_r2_axes);
    visit("readout_p", r.readout_p);
    visit("neighbour_r2", r.neighbour_r2);
    visit("label_accuracy", r.label_accuracy);
    visit("label_chance", r.label_chance);
    visit("label_p", r.label_p);
    visit("homotopic", r.homotopic);
    visit("homotopic_other", r.homotopic_other);
    visit("homotopic_p", r.homotopic_p);
    visit("map_mds_r2", r.map_mds_r2);
    visit("map_pca_r2", r.map_pca_r2);
  }
};

// Arrays: cosine.<model>.<layer>, cosine_centred..., cosine_change..., distance...
// (T, T); mds..., mds_change... and pca... (T, 2), aligned to the truth; truth.<name> (T, T); truth_map (T,
// 2).
struct RecoveryResult {
  static constexpr const char* kName = "recovery";
  std::vector<TruthRow> truths;
  std::vector<RecoveryRow> layers;
  std::vector<RecoveryRow> changes;  // the same of what was learned: code minus its start, centred
  std::vector<std::string> notes;    // what could not be had, and why
  std::vector<ResultArray> arrays;   // in the NPZ file

  static void tables(auto& r, auto&& visit) {
    visit("truths", "truths", r.truths);
    visit("layers", "", r.layers);
    visit("changes", "changes", r.changes);
  }
};

}  // namespace locus
