// The enumerations of permutation.h over values and over ranks.
#include "stats/small_samples.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/checks.h"
#include "stats/permutation.h"
#include "stats/rank.h"
#include "stats/tests.h"

namespace locus::stats {
namespace {

constexpr PermutationOptions kAll{.permutations = 20000};
constexpr double kRounding = 1e-12;  // relative to the values: differences of equal parts differ in their last bits

double largest(std::span<const double> x) {
  double most = 0;
  for (const double v : x) most = std::max(most, std::abs(v));
  return most;
}

bool is_flat(std::span<const double> x, double scale) {
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  return *high - *low <= kRounding * scale;
}

// A p-value that does not exist (no difference and no spread) speaks for nothing.
double certain(double p) { return std::isnan(p) ? 1.0 : p; }

// Ranks of the sizes with the signs of the values; zeros are left out.
std::vector<double> signed_ranks(std::span<const double> d) {
  std::vector<double> sizes, ranks;
  for (const double v : d) {
    if (v != 0) sizes.push_back(std::abs(v));
  }
  ranks = average_ranks(sizes);
  std::size_t next = 0;
  for (const double v : d) {
    if (v != 0) ranks[next] = std::copysign(ranks[next], v), ++next;
  }
  return ranks;
}

}  // namespace

LocationTest paired_location_test(std::span<const double> x, std::span<const double> y) {
  require_at_least(x.size(), 2, "paired_location_test");
  require_same_size(x.size(), y.size(), "paired_location_test");
  const double scale = std::max(largest(x), largest(y));
  std::vector<double> d(x.size());
  for (std::size_t i = 0; i < d.size(); ++i) {
    d[i] = x[i] - y[i];
    if (std::abs(d[i]) <= kRounding * scale) d[i] = 0;
  }
  LocationTest out;
  out.constant = is_flat(d, scale);
  if (out.constant) std::fill(d.begin(), d.end(), d[0]);
  const PermutationResult flips = sign_flip_test(d, kAll);
  out.exact = flips.exact;
  out.p = flips.exact || out.constant ? flips.p : certain(paired_t(x, y).p);
  const std::vector<double> ranks = signed_ranks(d);
  out.p_rank = certain(wilcoxon_signed_rank(d).p);
  if (flips.exact && !ranks.empty()) out.p_rank = sign_flip_test(ranks, kAll).p;
  return out;
}

LocationTest two_sample_location_test(std::span<const double> x, std::span<const double> y) {
  require_at_least(std::min(x.size(), y.size()), 2, "two_sample_location_test");
  const double scale = std::max(largest(x), largest(y));
  LocationTest out;
  out.constant = is_flat(x, scale) && is_flat(y, scale);
  const PermutationResult exchanged = two_sample_permutation_test(x, y, kAll);
  out.exact = exchanged.exact;
  out.p = exchanged.exact || out.constant ? exchanged.p : certain(welch_t(x, y).p);
  out.p_rank = certain(mann_whitney_u(x, y).p);
  if (exchanged.exact) {
    std::vector<double> pool(x.begin(), x.end());
    pool.insert(pool.end(), y.begin(), y.end());
    const std::vector<double> ranks = average_ranks(pool);
    const std::span<const double> all(ranks);
    out.p_rank = two_sample_permutation_test(all.first(x.size()), all.subspan(x.size()), kAll).p;
  }
  return out;
}

}  // namespace locus::stats
