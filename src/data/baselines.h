// What can be had without a transformer, on the very masks that evaluation uses: predicting zero, the mean of the
// visible tokens, ridge regression from the visible tokens, and the mean of the nearest visible tokens in space.
// Errors are mean squares over hidden tokens only. Everything fitted comes from split "train".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "data/examples.h"

namespace locus {

struct BaselineOptions {
  // Ridge solves one system per mask. With more samples than this, a random subset (fixed per split) stands for all;
  // 0: as many as 5e10 operations allow (all 7,170 of 360 tokens; 1,200 of 1,000 tokens), 500 at least.
  std::int64_t max_samples = 0;
  // Candidates, as multiples of the mean variance of a token.
  std::vector<double> penalties = {1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0};
  std::vector<std::int64_t> neighbours = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
  std::int64_t folds = 5;          // of the cross-validation; clusters (subjects) stay whole, else blocks of time
  std::int64_t fold_samples = 40;  // samples predicted in each
};

struct BaselineResult {
  std::string name;                   // "zero", "mean_visible", "ridge", "nearest"
  double error = 0;                   // over all hidden values of `samples`
  std::vector<std::int64_t> samples;  // indices into the split, ascending
  std::vector<double> sample_errors;  // one for each of `samples`
};

struct SplitBaselines {
  std::string split;
  std::vector<BaselineResult> results;
};

struct Baselines {
  double penalty = 0;           // of the ridge, as a multiple of the mean variance
  std::int64_t neighbours = 0;  // 0: the tokens have no coordinates
  std::vector<std::string> notes;
  std::vector<SplitBaselines> splits;  // every split but "train"

  const BaselineResult* find(const std::string& split, const std::string& name) const;  // nullptr when absent
};

// Needs masks in every split. Cost: a Cholesky decomposition of the visible variables for every different mask.
Baselines compute_baselines(const Dataset& dataset, const BaselineOptions& options, ThreadPool& pool);

// Puts the errors into Dataset::baselines and what was chosen into its description.
void record_baselines(Dataset& dataset, const Baselines& baselines);

}  // namespace locus
