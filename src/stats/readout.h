// Cross-validated read-out of coordinates or labels from a code: how much of the truth can a simple reader get?
// Features x are n x p (one row per token), targets n x q or n labels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "stats/permutation.h"

namespace locus::stats {

struct RidgeReadoutOptions {
  double lambda = 0.1;  // penalty relative to the mean eigenvalue of x's scatter, so the scale of x does not matter
  int folds = 0;        // 0: leave one out; otherwise this many seeded folds of nearly equal size
  std::uint64_t seed = 0;
  int permutations = 0;  // of the target rows, for the null; 0: none
};

struct RidgeReadout {
  double r2 = 0;                      // 1 - squared error / scatter about the overall mean, summed over targets; may be < 0
  std::vector<double> r2_per_target;  // NaN for a constant target
  MatrixD prediction;                 // n x q, each row from a fit without it
  PermutationResult test;             // of r2, one-sided; permutations = 0 when none were asked for
};
RidgeReadout ridge_readout(ConstMatD x, ConstMatD y, const RidgeReadoutOptions& options = {});

enum class Metric { kEuclidean, kCosine };

struct NeighbourOptions {
  int k = 1;
  Metric metric = Metric::kEuclidean;
  std::uint64_t seed = 0;
  int permutations = 0;
};

struct NeighbourLabels {
  double accuracy = 0;          // leave one out; votes tie in favour of the nearer neighbour
  std::vector<int> prediction;  // n
  PermutationResult test;       // labels shuffled, one-sided
};
NeighbourLabels neighbour_labels(ConstMatD x, std::span<const int> labels, const NeighbourOptions& options = {});

// The mean target of the k nearest other rows.
struct NeighbourCoordinates {
  double r2 = 0;
  MatrixD prediction;
  PermutationResult test;  // target rows shuffled, one-sided
};
NeighbourCoordinates neighbour_coordinates(ConstMatD x, ConstMatD y, const NeighbourOptions& options = {});

}  // namespace locus::stats
