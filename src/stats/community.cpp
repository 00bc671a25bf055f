// Louvain on the dense modularity matrix b: any null model, signed or not, is only another b.
#include "stats/community.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "stats/checks.h"

namespace locus::stats {
namespace {

constexpr double kLeastGain = 1e-12;

// Renames labels to 0, 1, ... in order of first appearance; returns how many there are.
int canonical(std::vector<int>& labels) {
  std::map<int, int> names;
  for (int& label : labels) label = names.emplace(label, static_cast<int>(names.size())).first->second;
  return static_cast<int>(names.size());
}

// Labels within 0..n-1.
double quality(const MatrixD& b, const std::vector<int>& labels) {
  std::vector<std::vector<std::size_t>> members(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) members[static_cast<std::size_t>(labels[i])].push_back(i);
  double q = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = b.row(static_cast<std::ptrdiff_t>(i));
    for (std::size_t j : members[static_cast<std::size_t>(labels[i])]) q += row[j];
  }
  return q;
}

// Modules a node can move to: those with members and the first one without, in ascending order.
void list_targets(const std::vector<int>& sizes, std::vector<int>& targets) {
  targets.clear();
  bool has_empty = false;
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    if (sizes[c] == 0 && has_empty) continue;
    has_empty = has_empty || sizes[c] == 0;
    targets.push_back(static_cast<int>(c));
  }
}

// Moves single nodes to their best module, in random order, until none gains. labels within 0..n-1. True when any moved.
bool move_nodes(const MatrixD& b, std::vector<int>& labels, Rng& rng) {
  const std::size_t n = labels.size();
  MatrixD links(b.rows(), b.rows());  // links(c, i): sum of b(i, j) over j in module c
  std::vector<int> sizes(n, 0);
  const auto add = [&](std::size_t node, int module, double sign) {
    const auto from = b.row(static_cast<std::ptrdiff_t>(node));
    const auto to = links.row(module);
    for (std::size_t j = 0; j < n; ++j) to[j] += sign * from[j];
    sizes[static_cast<std::size_t>(module)] += sign > 0 ? 1 : -1;
  };
  for (std::size_t i = 0; i < n; ++i) add(i, labels[i], 1);
  std::vector<int> targets;
  list_targets(sizes, targets);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  bool any = false;
  for (bool moved = true; moved;) {
    moved = false;
    rng.shuffle(std::span<std::size_t>(order));
    for (std::size_t i : order) {
      const std::ptrdiff_t node = static_cast<std::ptrdiff_t>(i);
      const int own = labels[i];
      const double stay = links(own, node) - b(node, node);
      int best = own;
      double most = kLeastGain;
      for (int c : targets) {
        if (c == own) continue;
        const bool empty = sizes[static_cast<std::size_t>(c)] == 0;
        const double gain = (empty ? 0 : links(c, node)) - stay;
        if (gain > most) {
          most = gain;
          best = c;
        }
      }
      if (best == own) continue;
      const bool fills = sizes[static_cast<std::size_t>(best)] == 0;
      add(i, own, -1);
      add(i, best, 1);
      labels[i] = best;
      if (fills || sizes[static_cast<std::size_t>(own)] == 0) list_targets(sizes, targets);
      moved = any = true;
    }
  }
  return any;
}

MatrixD merge_modules(const MatrixD& b, const std::vector<int>& labels, int count) {
  MatrixD out(count, count);
  for (std::ptrdiff_t i = 0; i < b.rows(); ++i) {
    const auto row = b.row(i);
    const auto to = out.row(labels[static_cast<std::size_t>(i)]);
    for (std::size_t j = 0; j < labels.size(); ++j) to[static_cast<std::size_t>(labels[j])] += row[j];
  }
  return out;
}

// Merges the modules of `labels` as long as that gains.
void merge_levels(const MatrixD& b, std::vector<int>& labels, Rng& rng) {
  int count = canonical(labels);
  MatrixD level = merge_modules(b, labels, count);
  while (count > 1) {
    std::vector<int> groups(static_cast<std::size_t>(count));
    std::iota(groups.begin(), groups.end(), 0);
    if (!move_nodes(level, groups, rng)) return;
    const int merged = canonical(groups);
    for (int& label : labels) label = groups[static_cast<std::size_t>(label)];
    if (merged == count) return;
    level = merge_modules(level, groups, merged);
    count = merged;
  }
}

std::vector<int> one_start(const MatrixD& b, Rng rng) {
  std::vector<int> labels(static_cast<std::size_t>(b.rows()));
  std::iota(labels.begin(), labels.end(), 0);
  double q = quality(b, labels);
  for (;;) {
    move_nodes(b, labels, rng);
    merge_levels(b, labels, rng);
    const double better = quality(b, labels);
    if (better <= q + kLeastGain) break;
    q = better;
  }
  canonical(labels);
  return labels;
}

std::vector<std::vector<int>> all_starts(const MatrixD& b, const CommunityOptions& options, std::uint64_t round) {
  require_positive(options.starts, "number of starts", "louvain");
  std::vector<std::vector<int>> out;
  for (int s = 0; s < options.starts; ++s) {
    const std::uint64_t seed = derive_seed(options.seed, "stats/louvain", round * 1000003 + static_cast<std::uint64_t>(s));
    out.push_back(one_start(b, Rng(seed, "order")));
  }
  return out;
}

Communities best_of(const MatrixD& b, const std::vector<std::vector<int>>& partitions) {
  Communities best;
  for (const auto& labels : partitions) {
    const double q = quality(b, labels);
    if (best.labels.empty() || q > best.q + kLeastGain) best = {.labels = labels, .q = q};
  }
  best.count = canonical(best.labels);
  return best;
}

}  // namespace

Communities louvain(ConstMatD w, const CommunityOptions& options) {
  require_at_least(static_cast<std::size_t>(w.rows), 1, "louvain");
  const MatrixD b = modularity_matrix(w, options.weights, options.gamma);
  return best_of(b, all_starts(b, options, 0));
}

MatrixD agreement_matrix(const std::vector<std::vector<int>>& partitions) {
  require_at_least(partitions.size(), 1, "agreement_matrix");
  const std::size_t n = partitions[0].size();
  MatrixD out(static_cast<std::ptrdiff_t>(n), static_cast<std::ptrdiff_t>(n));
  const double share = 1.0 / static_cast<double>(partitions.size());
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = out.row(static_cast<std::ptrdiff_t>(i));
    std::vector<int> together(n, 0);
    for (const auto& labels : partitions) {
      require_same_size(labels.size(), n, "agreement_matrix");
      for (std::size_t j = 0; j < n; ++j) together[j] += labels[i] == labels[j] ? 1 : 0;
    }
    for (std::size_t j = 0; j < n; ++j) row[j] = i == j ? 0 : share * together[j];
  }
  return out;
}

Communities consensus_communities(ConstMatD w, const CommunityOptions& options) {
  require_at_least(static_cast<std::size_t>(w.rows), 1, "consensus_communities");
  require_positive(options.max_rounds, "number of rounds", "consensus_communities");
  const MatrixD b = modularity_matrix(w, options.weights, options.gamma);
  std::vector<std::vector<int>> partitions = all_starts(b, options, 0);
  const auto agree = [&] {
    return std::all_of(partitions.begin(), partitions.end(), [&](const auto& p) { return p == partitions[0]; });
  };
  for (int round = 1; !agree(); ++round) {
    if (round > options.max_rounds) {
      Communities best = best_of(b, partitions);
      best.converged = false;
      return best;
    }
    MatrixD agreement = agreement_matrix(partitions);
    for (double& v : agreement.values()) v = v < options.threshold ? 0 : v;
    // Agreement has its own scale: the resolution was spent on the first clustering.
    partitions =
        all_starts(modularity_matrix(agreement.view(), Weights::kPositive, 1), options, static_cast<std::uint64_t>(round));
  }
  return best_of(b, partitions);
}

Communities persistent_communities(ConstMatD w, std::span<const double> gammas, const CommunityOptions& options) {
  require_at_least(gammas.size(), 1, "persistent_communities");
  std::vector<Communities> found;
  for (double gamma : gammas) {
    CommunityOptions at = options;
    at.gamma = gamma;
    found.push_back(consensus_communities(w, at));
    found.back().gamma = gamma;
  }
  const auto likeness = [&](const Communities& one) {
    double sum = 0;
    for (const Communities& other : found) sum += adjusted_rand(one.labels, other.labels);
    return sum;
  };
  std::size_t best = 0;
  double most = likeness(found[0]);
  for (std::size_t i = 1; i < found.size(); ++i) {
    const double like = likeness(found[i]);
    if (like > most + kLeastGain) {
      most = like;
      best = i;
    }
  }
  return std::move(found[best]);
}

}  // namespace locus::stats
