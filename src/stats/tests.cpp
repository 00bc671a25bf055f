// t tests, Wilcoxon, Mann-Whitney with their exact null distributions, and corrections for many tests.
#include "stats/tests.h"
#include "core/nan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "stats/checks.h"
#include "stats/descriptive.h"
#include "stats/rank.h"

namespace locus::stats {
namespace {

TestResult t_result(double difference, double standard_error, double df, Alternative alternative) {
  const double t = difference / standard_error;
  return {t, student_p(t, df, alternative), df, false};
}

// P(W+ = w) for w = 0..n(n+1)/2 under the null without ties.
std::vector<double> signed_rank_pmf(std::size_t n) {
  std::vector<double> pmf(n * (n + 1) / 2 + 1, 0.0);
  pmf[0] = 1;
  for (std::size_t k = 1; k <= n; ++k) {
    for (std::size_t w = k * (k + 1) / 2 + 1; w-- > 0;) pmf[w] = 0.5 * (pmf[w] + (w >= k ? pmf[w - k] : 0));
  }
  return pmf;
}

double signed_rank_exact_p(std::size_t n, double w_plus, Alternative alternative) {
  const std::vector<double> pmf = signed_rank_pmf(n);
  const auto at = pmf.begin() + static_cast<std::ptrdiff_t>(w_plus);
  const double less = std::accumulate(pmf.begin(), at + 1, 0.0), greater = std::accumulate(at, pmf.end(), 0.0);
  if (alternative == Alternative::kLess) return std::min(1.0, less);
  if (alternative == Alternative::kGreater) return std::min(1.0, greater);
  return std::min(1.0, 2 * std::min(less, greater));
}

// Number of arrangements of m and n untied values with U = 0..m*n, by f(m,n,u) = f(m-1,n,u-n) + f(m,n-1,u).
std::vector<double> rank_sum_counts(std::size_t m, std::size_t n) {
  std::vector<std::vector<double>> rows(m + 1);
  for (auto& row : rows) row.assign(m * n + 1, 0.0), row[0] = 1;
  for (std::size_t j = 1; j <= n; ++j) {
    for (std::size_t i = 1; i <= m; ++i) {
      for (std::size_t u = i * j; u >= j; --u) rows[i][u] += rows[i - 1][u - j];
    }
  }
  return rows[m];
}

// P(U >= u).
double rank_sum_exact_sf(double u, std::size_t m, std::size_t n) {
  const std::vector<double> counts = rank_sum_counts(std::min(m, n), std::max(m, n));
  const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(m * n) - static_cast<std::ptrdiff_t>(u);
  return std::accumulate(counts.begin(), counts.begin() + last + 1, 0.0) /
         std::accumulate(counts.begin(), counts.end(), 0.0);
}

std::vector<std::size_t> order_of(std::span<const double> p, const char* function) {
  require_finite(p, function);
  for (double v : p) {
    if (v < 0 || v > 1) {
      throw DataError(
          {.what = "a p-value is out of range", .where = function, .got = std::to_string(v), .expected = "0 to 1"});
    }
  }
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  return order;
}

}  // namespace

TestResult one_sample_t(std::span<const double> x, double mu, Alternative alternative) {
  require_at_least(x.size(), 2, "one_sample_t");
  return t_result(mean(x) - mu, sem(x), static_cast<double>(x.size() - 1), alternative);
}

TestResult paired_t(std::span<const double> x, std::span<const double> y, Alternative alternative) {
  require_same_size(x.size(), y.size(), "paired_t");
  require_finite(x, "paired_t");
  require_finite(y, "paired_t");
  std::vector<double> d(x.size());
  std::transform(x.begin(), x.end(), y.begin(), d.begin(), std::minus<>());
  return one_sample_t(d, 0, alternative);
}

TestResult welch_t(std::span<const double> x, std::span<const double> y, Alternative alternative) {
  require_at_least(std::min(x.size(), y.size()), 2, "welch_t");
  const double nx = static_cast<double>(x.size()), ny = static_cast<double>(y.size());
  const double vx = variance(x) / nx, vy = variance(y) / ny;
  const double spread = vx * vx / (nx - 1) + vy * vy / (ny - 1);
  const double df = spread > 0 ? (vx + vy) * (vx + vy) / spread : 1;
  return t_result(mean(x) - mean(y), std::sqrt(vx + vy), df, alternative);
}

TestResult wilcoxon_signed_rank(std::span<const double> d, Alternative alternative) {
  require_at_least(d.size(), 1, "wilcoxon_signed_rank");
  require_finite(d, "wilcoxon_signed_rank");
  std::vector<double> sizes, signs;
  for (double v : d) {
    if (v == 0) continue;
    sizes.push_back(std::abs(v));
    signs.push_back(v > 0 ? 1 : 0);
  }
  if (sizes.empty()) return {0, 1, kNan, false};
  const std::vector<double> ranks = average_ranks(sizes);
  const double ties = tie_term(sizes), n = static_cast<double>(sizes.size());
  const double w_plus = std::inner_product(ranks.begin(), ranks.end(), signs.begin(), 0.0);
  const double w_minus = n * (n + 1) / 2 - w_plus;
  TestResult result;
  result.df = kNan;
  result.statistic = alternative == Alternative::kTwoSided ? std::min(w_plus, w_minus) : w_plus;
  result.exact = d.size() <= 50 && sizes.size() == d.size() && ties == 0;
  if (result.exact) {
    result.p = signed_rank_exact_p(sizes.size(), w_plus, alternative);
  } else {
    const double se = std::sqrt((n * (n + 1) * (2 * n + 1) - 0.5 * ties) / 24);
    result.p = normal_p((result.statistic - n * (n + 1) / 4) / se, alternative);
  }
  return result;
}

TestResult mann_whitney_u(std::span<const double> x, std::span<const double> y, Alternative alternative) {
  require_at_least(std::min(x.size(), y.size()), 1, "mann_whitney_u");
  std::vector<double> pool(x.begin(), x.end());
  pool.insert(pool.end(), y.begin(), y.end());
  const std::vector<double> ranks = average_ranks(pool);
  const double ties = tie_term(pool);
  const double nx = static_cast<double>(x.size()), ny = static_cast<double>(y.size()), n = nx + ny;
  const double rank_sum = std::accumulate(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(x.size()), 0.0);
  const double u_x = rank_sum - nx * (nx + 1) / 2, u_y = nx * ny - u_x;
  const double u = alternative == Alternative::kGreater ? u_x : alternative == Alternative::kLess ? u_y : std::max(u_x, u_y);
  TestResult result{u_x, 1, kNan, std::min(x.size(), y.size()) <= 8 && ties == 0};
  if (result.exact) {
    result.p = rank_sum_exact_sf(u, x.size(), y.size());
  } else {
    const double se = std::sqrt(nx * ny / 12 * (n + 1 - ties / (n * (n - 1))));
    result.p = se > 0 ? normal_sf((u - nx * ny / 2 - 0.5) / se) : 1;
  }
  if (alternative == Alternative::kTwoSided) result.p = std::min(1.0, 2 * result.p);
  return result;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  const std::vector<std::size_t> order = order_of(p, "benjamini_hochberg");
  std::vector<double> adjusted(p.size());
  double least = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    least = std::min(least, p[order[i]] * static_cast<double>(p.size()) / static_cast<double>(i + 1));
    adjusted[order[i]] = least;
  }
  return adjusted;
}

std::vector<double> holm(std::span<const double> p) {
  const std::vector<std::size_t> order = order_of(p, "holm");
  std::vector<double> adjusted(p.size());
  double most = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    most = std::max(most, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
    adjusted[order[i]] = most;
  }
  return adjusted;
}

}  // namespace locus::stats
