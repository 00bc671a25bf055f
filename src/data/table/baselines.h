// What simple predictors reach on the same split: the commonest answer, a linear model, the nearest samples, a small
// perceptron. Their settings are chosen on validation samples (a part of training where there are none).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/matrix.h"
#include "core/parallel.h"

namespace locus {

// Samples of one split as rows of plain numbers, and their answers.
struct PlainSplit {
  std::string name;
  MatrixD x;                         // (n, d)
  std::vector<std::int32_t> labels;  // (n) classes, or
  MatrixD y;                         // (n, outputs) numbers
};

struct PlainData {
  std::int64_t classes = 0;  // 0: numbers
  PlainSplit train;
  PlainSplit validation;  // may have no rows
  std::vector<PlainSplit> others;
};

struct PlainPrediction {
  std::string split;
  MatrixD outputs;  // (n, classes) probabilities, or (n, outputs) numbers
};

struct PlainBaseline {
  std::string name;                          // "majority" or "mean", "logistic" or "ridge", "knn", "mlp"
  std::string chosen;                        // "penalty 1"; empty where nothing is chosen
  std::vector<PlainPrediction> predictions;  // of every split but training
};

// Deterministic for any number of threads.
std::vector<PlainBaseline> plain_baselines(const PlainData& data, ThreadPool& pool);

}  // namespace locus
