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
class Targets {
 public:
  void begin(const std::vector<int>& sizes) {
    list_.clear();
    empty_ = -1;
    for (std::size_t c = 0; c < sizes.size(); ++c) {
      if (sizes[c] == 0 && empty_ >= 0) continue;
      if (sizes[c] == 0) empty_ = static_cast<int>(c);
      list_.push_back(static_cast<int>(c));
    }
  }

  void filled(const std::vector<int>& sizes) {  // the one without members got one
    std::size_t c = static_cast<std::size_t>(empty_) + 1;
    while (c < sizes.size() && sizes[c] > 0) ++c;
    empty_ = c < sizes.size() ? static_cast<int>(c) : -1;
    if (empty_ >= 0) list_.insert(std::lower_bound(list_.begin(), list_.end(), empty_), empty_);
  }

  void emptied(int module) {
    const int gone = empty_ < 0 ? -1 : std::max(empty_, module);
    if (gone >= 0) list_.erase(std::lower_bound(list_.begin(), list_.end(), gone));
    if (empty_ < 0 || module < empty_) empty_ = module;
  }

  const std::vector<int>& list() const { return list_; }

 private:
  std::vector<int> list_;
  int empty_ = -1;  // the first without members; -1: there is none
};

// Sums of links of every node to every module, in memory that all passes of a start share. As long as module c is node c
// alone its sums are row c of b, which is symmetric, and are not copied: the first pass then reads along rows.
class Links {
 public:
  explicit Links(const MatrixD& b) : sums_(b.rows(), b.rows()) {}

  void begin(const MatrixD& b, const std::vector<int>& labels) {
    b_ = &b;
    sizes_.assign(labels.size(), 0);
    touched_.assign(labels.size(), 0);
    bool all_alone = true;
    for (std::size_t i = 0; i < labels.size(); ++i) all_alone = all_alone && labels[i] == static_cast<int>(i);
    alone_.assign(labels.size(), all_alone ? 1 : 0);
    if (all_alone) {
      std::fill(sizes_.begin(), sizes_.end(), 1);
    } else {
      for (std::size_t i = 0; i < labels.size(); ++i) add(i, labels[i], 1);
    }
  }

  void add(std::size_t node, int module, double sign) {
    const auto m = static_cast<std::size_t>(module);
    const std::size_t n = sizes_.size();
    double* to = sums_.row(module).data();
    if (alone_[m] != 0) {
      std::copy_n(b_->row(module).data(), n, to);
    } else if (touched_[m] == 0) {
      std::fill_n(to, n, 0.0);
    }
    alone_[m] = 0;
    touched_[m] = 1;
    const double* from = b_->row(static_cast<std::ptrdiff_t>(node)).data();
    for (std::size_t j = 0; j < n; ++j) to[j] += sign * from[j];
    sizes_[m] += sign > 0 ? 1 : -1;
  }

  double of(std::size_t node, int module) const {
    return alone_[static_cast<std::size_t>(module)] != 0 ? (*b_)(static_cast<std::ptrdiff_t>(node), module)
                                                         : sums_(module, static_cast<std::ptrdiff_t>(node));
  }

  const std::vector<int>& sizes() const { return sizes_; }

 private:
  const MatrixD* b_ = nullptr;
  MatrixD sums_;  // (c, i): sum of b(i, j) over j in module c
  std::vector<char> alone_, touched_;
  std::vector<int> sizes_;
};

// Moves single nodes to their best module, in random order, until none gains. labels within 0..n-1. True when any moved.
bool move_nodes(const MatrixD& b, std::vector<int>& labels, Rng& rng, Links& links) {
  const std::size_t n = labels.size();
  links.begin(b, labels);
  const std::vector<int>& sizes = links.sizes();
  Targets targets;
  targets.begin(sizes);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  bool any = false;
  for (bool moved = true; moved;) {
    moved = false;
    rng.shuffle(std::span<std::size_t>(order));
    for (std::size_t i : order) {
      const std::ptrdiff_t node = static_cast<std::ptrdiff_t>(i);
      const int own = labels[i];
      const double stay = links.of(i, own) - b(node, node);
      int best = own;
      double most = kLeastGain;
      for (int c : targets.list()) {
        if (c == own) continue;
        const bool empty = sizes[static_cast<std::size_t>(c)] == 0;
        const double gain = (empty ? 0 : links.of(i, c)) - stay;
        if (gain > most) {
          most = gain;
          best = c;
        }
      }
      if (best == own) continue;
      const bool fills = sizes[static_cast<std::size_t>(best)] == 0;
      links.add(i, own, -1);
      links.add(i, best, 1);
      labels[i] = best;
      if (fills) targets.filled(sizes);
      if (sizes[static_cast<std::size_t>(own)] == 0) targets.emptied(own);
      moved = any = true;
    }
  }
  return any;
}

// Every sum goes over its entries row by row.
MatrixD merge_modules(const MatrixD& b, const std::vector<int>& labels, int count) {
  MatrixD out(count, count);
  std::vector<std::vector<std::size_t>> members(static_cast<std::size_t>(count));
  for (std::size_t j = 0; j < labels.size(); ++j) members[static_cast<std::size_t>(labels[j])].push_back(j);
  for (std::ptrdiff_t i = 0; i < b.rows(); ++i) {
    const double* row = b.row(i).data();
    double* to = out.row(labels[static_cast<std::size_t>(i)]).data();
    for (const auto& list : members) {
      double sum = *to;
      for (const std::size_t j : list) sum += row[j];
      *to++ = sum;
    }
  }
  return out;
}

// Merges the modules of `labels` as long as that gains.
void merge_levels(const MatrixD& b, std::vector<int>& labels, Rng& rng, Links& links) {
  int count = canonical(labels);
  MatrixD level = merge_modules(b, labels, count);
  while (count > 1) {
    std::vector<int> groups(static_cast<std::size_t>(count));
    std::iota(groups.begin(), groups.end(), 0);
    if (!move_nodes(level, groups, rng, links)) return;
    const int merged = canonical(groups);
    for (int& label : labels) label = groups[static_cast<std::size_t>(label)];
    if (merged == count) return;
    level = merge_modules(level, groups, merged);
    count = merged;
  }
}

std::vector<int> one_start(const MatrixD& b, Rng rng, Links& links) {
  std::vector<int> labels(static_cast<std::size_t>(b.rows()));
  std::iota(labels.begin(), labels.end(), 0);
  double q = quality(b, labels);
  for (;;) {
    move_nodes(b, labels, rng, links);
    merge_levels(b, labels, rng, links);
    const double better = quality(b, labels);
    if (better <= q + kLeastGain) break;
    q = better;
  }
  canonical(labels);
  return labels;
}

std::vector<std::vector<int>> all_starts(const MatrixD& b, const CommunityOptions& options, std::uint64_t round) {
  require_positive(options.starts, "number of starts", "louvain");
  std::vector<std::vector<int>> out(static_cast<std::size_t>(options.starts));
  ThreadPool alone(1);
  ThreadPool& workers = options.pool != nullptr ? *options.pool : alone;
  std::vector<Links> links(static_cast<std::size_t>(workers.threads()), Links(b));
  workers.run(options.starts, [&](int s, int worker) {
    const std::uint64_t seed = derive_seed(options.seed, "stats/louvain", round * 1000003 + static_cast<std::uint64_t>(s));
    out[static_cast<std::size_t>(s)] = one_start(b, Rng(seed, "order"), links[static_cast<std::size_t>(worker)]);
  });
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
