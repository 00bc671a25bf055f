// Multinomial logistic regression with a ridge penalty, by L-BFGS.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix.h"

namespace locus::stats {

struct LogisticOptions {
  double penalty = 1.0;  // minimises the sum of cross-entropies + penalty / 2 * ||weights||^2; scikit-learn's 1 / C
  int max_iterations = 1000;
  double tolerance = 1e-5;  // of the largest entry of the gradient of the mean loss
};

struct LinearClassifier {
  MatrixD weights;                // (d, classes)
  std::vector<double> intercept;  // (classes), not penalised, mean 0
  int iterations = 0;
  bool converged = false;

  MatrixD probabilities(ConstMatD x) const;  // (n, classes)
};

// x (n, d), labels (n) in 0..classes-1.
LinearClassifier fit_logistic(ConstMatD x, std::span<const std::int32_t> labels, std::int64_t classes,
                              const LogisticOptions& options = {});

}  // namespace locus::stats
