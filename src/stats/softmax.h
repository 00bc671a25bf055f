// Scores to probabilities, in place, and the cross-entropy of a class.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace locus::stats {

// Returns -log of the probability of `label`.
inline double softmax_row(std::span<double> scores, std::ptrdiff_t label) {
  const double top = *std::max_element(scores.begin(), scores.end());
  const double asked = scores[static_cast<std::size_t>(label)];
  double sum = 0;
  for (double& s : scores) sum += s = std::exp(s - top);
  for (double& s : scores) s /= sum;
  return top + std::log(sum) - asked;
}

}  // namespace locus::stats
