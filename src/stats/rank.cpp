// Ranks by sorting indices.
#include "stats/rank.h"

#include <algorithm>
#include <numeric>

#include "stats/checks.h"

namespace locus::stats {

std::vector<double> average_ranks(std::span<const double> x) {
  require_finite(x, "average_ranks");
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  std::vector<double> ranks(x.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && x[order[end]] == x[order[begin]]) ++end;
    const double shared = 0.5 * static_cast<double>(begin + end + 1);
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = shared;
    begin = end;
  }
  return ranks;
}

double tie_term(std::span<const double> x) {
  require_finite(x, "tie_term");
  std::vector<double> sorted(x.begin(), x.end());
  std::sort(sorted.begin(), sorted.end());
  double sum = 0;
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() && sorted[end] == sorted[begin]) ++end;
    const double t = static_cast<double>(end - begin);
    sum += t * t * t - t;
    begin = end;
  }
  return sum;
}

}  // namespace locus::stats
