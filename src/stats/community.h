// Community detection on symmetric, possibly signed weights: Louvain with many seeded starts, and consensus over them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "core/parallel.h"
#include "stats/graph.h"

namespace locus::stats {

struct CommunityOptions {
  Weights weights = Weights::kSigned;
  double gamma = 1;  // resolution; larger finds smaller modules
  int starts = 100;
  std::uint64_t seed = 0;
  double threshold = 0.5;      // consensus: agreement below it counts as none
  int max_rounds = 50;         // consensus: re-clusterings before giving up
  ThreadPool* pool = nullptr;  // starts in parallel; the result is the same
};

struct Communities {
  std::vector<int> labels;  // 0, 1, ... in order of first appearance
  int count = 0;
  double q = 0;           // modularity of the labels on the given weights
  bool converged = true;  // consensus only: all starts agreed in the end
  double gamma = 1;       // resolution at which they were found
};

// The partition of highest modularity over all starts (Blondel et al. 2008, dense, with refinement of single nodes).
Communities louvain(ConstMatD w, const CommunityOptions& options = {});
// Lancichinetti & Fortunato (2012): the thresholded agreement matrix of all starts is clustered again until all agree.
Communities consensus_communities(ConstMatD w, const CommunityOptions& options = {});
// Which resolution? Consensus at each of `gammas`; of all these partitions the one most like the others (mean adjusted Rand
// index; the lower resolution when equal), that is the one that persists over the widest range. Sees no true labels.
Communities persistent_communities(ConstMatD w, std::span<const double> gammas, const CommunityOptions& options = {});
// Fraction of partitions in which i and j share a module; n x n, diagonal 0.
MatrixD agreement_matrix(const std::vector<std::vector<int>>& partitions);

}  // namespace locus::stats
