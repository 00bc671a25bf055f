// A perceptron with one hidden layer of rectified units, trained by Adam: classes by cross-entropy, numbers by squared
// error. The same loss, gradients and updates as scikit-learn's MLPClassifier (of 3 classes or more) and MLPRegressor.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/matrix.h"

namespace locus::stats {

struct MlpWeights {
  MatrixD first;                    // (d, hidden)
  std::vector<double> first_bias;   // (hidden)
  MatrixD second;                   // (hidden, outputs)
  std::vector<double> second_bias;  // (outputs)
};

struct MlpOptions {
  std::int64_t hidden = 100;
  double penalty = 1e-4;  // scikit-learn's alpha
  double rate = 1e-3;
  std::int64_t batch = 200;
  int epochs = 200;
  int patience = 10;        // epochs without a better validation loss (training loss without validation samples)
  double tolerance = 1e-4;  // what counts as better
  bool shuffle = true;
  bool keep_last = false;  // the weights of the last epoch instead of the best
  std::uint64_t seed = 0;
};

// Samples and what is to be learned: probabilities of classes (one 1 a row) or numbers.
struct MlpData {
  ConstMatD x;  // (n, d)
  ConstMatD y;  // (n, outputs)
};

enum class MlpLoss { kClasses, kNumbers };

MlpWeights initial_mlp(std::int64_t inputs, std::int64_t outputs, const MlpOptions& options);

// From `start`; the weights of the best epoch. `validation` may be empty (no rows).
MlpWeights train_mlp(MlpWeights start, const MlpData& train, const MlpData& validation, MlpLoss loss,
                     const MlpOptions& options);

// (n, outputs): probabilities or numbers.
MatrixD mlp_outputs(const MlpWeights& weights, ConstMatD x, MlpLoss loss);

}  // namespace locus::stats
