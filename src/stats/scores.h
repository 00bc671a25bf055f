// How good predictions are, on plain numbers: classes with their probabilities, and numbers with several outputs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/matrix.h"
#include "stats/bootstrap.h"

namespace locus::stats {

// Of one class: how many samples are of it, are said to be, and are both.
struct ClassScore {
  std::int64_t samples = 0, predicted = 0, right = 0;

  double recall() const;     // right / samples; NaN without samples
  double precision() const;  // right / predicted; NaN when never predicted
  double f1() const;         // 2 right / (samples + predicted); NaN without either
};

struct ClassScores {
  std::int64_t samples = 0;
  double accuracy = 0;
  double balanced_accuracy = 0;  // mean recall of the classes that have samples
  double log_loss = 0;           // mean -log p of the true class; NaN without probabilities
  std::vector<ClassScore> classes;
  Matrix<double> confusion;  // (true, predicted) counts
};

// labels and predicted (n) in 0..classes-1; probabilities (n, classes) may be empty.
struct ClassPredictions {
  std::span<const std::int32_t> labels;
  std::span<const std::int32_t> predicted;
  ConstMatD probabilities = {};
  std::int64_t classes = 0;
};
ClassScores class_scores(const ClassPredictions& p);

// The most likely class of each row.
std::vector<std::int32_t> most_likely(ConstMatD probabilities);

struct NumberScore {
  double mse = 0;
  double r2 = 0;  // 1 - squared errors / squares about the mean of `truth`; NaN where that is constant
};
// One a column of truth and predicted (n, outputs).
std::vector<NumberScore> number_scores(ConstMatD truth, ConstMatD predicted);

// Intervals over samples (whole clusters where `clusters` are given).
struct ScoreInterval {
  std::string name;  // "accuracy", "balanced_accuracy", "log_loss"
  double value = 0;
  Interval interval;
};
std::vector<ScoreInterval> class_score_intervals(const ClassPredictions& p, std::span<const int> clusters = {},
                                                 const BootstrapOptions& options = {});
// "mse" and "r2" over all outputs together: the mean over outputs.
std::vector<ScoreInterval> number_score_intervals(ConstMatD truth, ConstMatD predicted, std::span<const int> clusters = {},
                                                  const BootstrapOptions& options = {});

}  // namespace locus::stats
