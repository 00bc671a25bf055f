// Permutation tests with seeded streams; enumeration where it is no dearer than drawing.
#include "stats/permutation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/rng.h"
#include "stats/checks.h"
#include "stats/descriptive.h"

namespace locus::stats {
namespace {

double mean_of(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

// Number of ways to choose k of n, or a value above `limit` as soon as it exceeds it.
double choose(std::size_t n, std::size_t k, double limit) {
  double ways = 1;
  for (std::size_t i = 1; i <= std::min(k, n - k) && ways <= limit * static_cast<double>(n); ++i) {
    ways = ways * static_cast<double>(n - i + 1) / static_cast<double>(i);
  }
  return std::round(ways);
}

}  // namespace

PermutationResult permutation_result(double observed, std::span<const double> null, Alternative alternative, double centre) {
  require_at_least(null.size(), 1, "permutation_result");
  require_finite(std::span<const double>(&observed, 1), "permutation_result (observed)");
  require_finite(null, "permutation_result (null)");
  double scale = std::abs(observed);
  for (double v : null) scale = std::max(scale, std::abs(v));
  const double slack = 1e-12 * scale;
  const auto extreme = [&](double v) {
    switch (alternative) {
      case Alternative::kLess:
        return v <= observed + slack;
      case Alternative::kGreater:
        return v >= observed - slack;
      default:
        return std::abs(v - centre) >= std::abs(observed - centre) - slack;
    }
  };
  PermutationResult result;
  result.observed = observed;
  result.permutations = static_cast<int>(null.size());
  const double count = static_cast<double>(std::count_if(null.begin(), null.end(), extreme));
  result.p = (count + 1) / (static_cast<double>(null.size()) + 1);
  result.null_mean = mean_of(null);
  result.null_sd = null.size() > 1 ? sd(null) : std::nan("");
  return result;
}

PermutationResult sign_flip_test(std::span<const double> x, const PermutationOptions& options) {
  require_at_least(x.size(), 1, "sign_flip_test");
  require_positive(options.permutations, "number of permutations", "sign_flip_test");
  const double n = static_cast<double>(x.size()), observed = mean(x);
  const bool exact = x.size() < 31 && std::ldexp(1.0, static_cast<int>(x.size())) - 1 <= options.permutations;
  std::vector<double> null;
  if (exact) {
    for (std::uint32_t pattern = 1; pattern < (1U << x.size()); ++pattern) {
      double sum = 0;
      for (std::size_t i = 0; i < x.size(); ++i) sum += (pattern >> i & 1U) != 0 ? -x[i] : x[i];
      null.push_back(sum / n);
    }
  } else {
    Rng rng(options.seed, "stats/sign_flip");
    for (int k = 0; k < options.permutations; ++k) {
      double sum = 0;
      std::uint32_t bits = 0;
      for (std::size_t i = 0; i < x.size(); ++i, bits >>= 1) {
        if (i % 32 == 0) bits = rng.next_u32();
        sum += (bits & 1U) != 0 ? -x[i] : x[i];
      }
      null.push_back(sum / n);
    }
  }
  PermutationResult result = permutation_result(observed, null, options.alternative);
  result.exact = exact;
  return result;
}

PermutationResult two_sample_permutation_test(std::span<const double> x, std::span<const double> y,
                                              const PermutationOptions& options) {
  require_at_least(std::min(x.size(), y.size()), 1, "two_sample_permutation_test");
  require_positive(options.permutations, "number of permutations", "two_sample_permutation_test");
  const double observed = mean(x) - mean(y);
  std::vector<double> pool(x.begin(), x.end());
  pool.insert(pool.end(), y.begin(), y.end());
  const double total = std::accumulate(pool.begin(), pool.end(), 0.0);
  const double nx = static_cast<double>(x.size()), ny = static_cast<double>(y.size());
  const auto difference = [&](double sum_x) { return sum_x / nx - (total - sum_x) / ny; };
  const bool exact = choose(pool.size(), x.size(), options.permutations) - 1 <= options.permutations;
  std::vector<double> null;
  if (exact) {
    std::vector<char> chosen(pool.size(), 0);
    std::fill_n(chosen.begin(), x.size(), 1);
    while (std::prev_permutation(chosen.begin(), chosen.end())) {
      double sum = 0;
      for (std::size_t i = 0; i < pool.size(); ++i) sum += chosen[i] != 0 ? pool[i] : 0;
      null.push_back(difference(sum));
    }
    // One group of a single arrangement cannot happen: both groups have a member.
  } else {
    Rng rng(options.seed, "stats/two_sample");
    for (int k = 0; k < options.permutations; ++k) {
      rng.shuffle(std::span<double>(pool));
      null.push_back(difference(std::accumulate(pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(x.size()), 0.0)));
    }
  }
  PermutationResult result = permutation_result(observed, null, options.alternative);
  result.exact = exact;
  return result;
}

PermutationResult order_permutation_test(std::size_t n, const std::function<double(std::span<const std::size_t>)>& statistic,
                                         const PermutationOptions& options) {
  require_at_least(n, 2, "order_permutation_test");
  require_positive(options.permutations, "number of permutations", "order_permutation_test");
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const double observed = statistic(order);
  Rng rng(options.seed, "stats/order");
  std::vector<double> null(static_cast<std::size_t>(options.permutations));
  for (double& value : null) {
    rng.shuffle(std::span<std::size_t>(order));
    value = statistic(order);
  }
  return permutation_result(observed, null, options.alternative, mean(null));
}

}  // namespace locus::stats
