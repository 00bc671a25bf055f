// Pearson on centred, normalised vectors; Kendall by merge sort in n log n.
#include "stats/correlation.h"
#include "core/nan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "stats/checks.h"
#include "stats/rank.h"

namespace locus::stats {
namespace {

bool is_constant(std::span<const double> x) {
  return std::all_of(x.begin(), x.end(), [&](double v) { return v == x[0]; });
}

// r with its t-distributed p-value; df = 0 gives p = 1 as there is nothing to test.
Correlation with_p(double r, std::size_t n, double df) {
  if (std::isnan(r)) return {kNan, kNan, n, df};
  r = std::clamp(r, -1.0, 1.0);
  if (df <= 0) return {r, 1.0, n, df};
  const double t = r * std::sqrt(df / ((1 - r) * (1 + r)));
  return {r, std::abs(r) == 1 ? 0 : student_p(t, df, Alternative::kTwoSided), n, df};
}

// In eight interleaved sums, which a processor adds at once.
template <class Term>
double sum_of(std::size_t n, Term term) {
  constexpr std::size_t kLanes = 8;
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += term(i + l);
  }
  for (std::size_t l = 0; i < n; ++i, ++l) lanes[l] += term(i);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

double dot(std::span<const double> x, std::span<const double> y) {
  return sum_of(x.size(), [&](std::size_t i) { return x[i] * y[i]; });
}

double norm(std::span<const double> x) { return std::sqrt(dot(x, x)); }

std::vector<double> centred(std::span<const double> x) {
  const double mean = sum_of(x.size(), [&](std::size_t i) { return x[i]; }) / static_cast<double>(x.size());
  std::vector<double> out(x.begin(), x.end());
  for (double& v : out) v -= mean;
  return out;
}

// x - factor * y
void subtract(std::span<double> x, double factor, std::span<const double> y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= factor * y[i];
}

void scale(std::span<double> x, double factor) {
  for (double& v : x) v *= factor;
}

// Of centred vectors. Lengths first, so that no square overflows.
double cosine(std::vector<double> x, std::vector<double> y) {
  scale(x, 1 / norm(x));
  scale(y, 1 / norm(y));
  return dot(x, y);
}

double pearson_r(std::span<const double> x, std::span<const double> y) {
  if (is_constant(x) || is_constant(y)) return kNan;
  return cosine(centred(x), centred(y));
}

// An orthonormal basis of the span of the columns, the longest rest first; a rest below 1e-10 of the first counts as none.
std::vector<std::vector<double>> orthonormal_basis(std::vector<std::vector<double>> columns) {
  std::vector<std::vector<double>> basis;
  double first = 0;
  while (!columns.empty()) {
    const auto longest =
        std::max_element(columns.begin(), columns.end(), [](const auto& a, const auto& b) { return dot(a, a) < dot(b, b); });
    const double length = norm(*longest);
    if (basis.empty()) first = length;
    if (!(length > 1e-10 * first)) break;
    std::vector<double> unit = std::move(*longest);
    columns.erase(longest);
    // What rounding left of the others is as long as 1e-16 of the column was, so it is taken out once more.
    for (const std::vector<double>& b : basis) subtract(unit, dot(b, unit), b);
    scale(unit, 1 / norm(unit));
    for (std::vector<double>& column : columns) subtract(column, dot(unit, column), unit);
    basis.push_back(std::move(unit));
  }
  return basis;
}

// Number of pairs of equal values, and the sums SciPy's normal approximation needs.
struct Ties {
  double pairs = 0, triples = 0, weighted = 0;
  void add(double t) {
    pairs += t * (t - 1) / 2;
    triples += t * (t - 1) * (t - 2);
    weighted += t * (t - 1) * (2 * t + 5);
  }
};

template <class Equal>
Ties count_ties(std::size_t n, Equal equal_to_previous) {
  Ties ties;
  std::size_t run = 1;
  for (std::size_t i = 1; i <= n; ++i) {
    if (i < n && equal_to_previous(i)) {
      ++run;
    } else {
      ties.add(static_cast<double>(run));
      run = 1;
    }
  }
  return ties;
}

// Sorts v and returns how many pairs were strictly out of order.
double count_inversions(std::vector<double>& v) {
  std::vector<double> buffer(v.size());
  double inversions = 0;
  for (std::size_t width = 1; width < v.size(); width *= 2) {
    for (std::size_t begin = 0; begin < v.size(); begin += 2 * width) {
      const std::size_t middle = std::min(begin + width, v.size()), end = std::min(begin + 2 * width, v.size());
      std::size_t left = begin, right = middle, out = begin;
      while (left < middle || right < end) {
        if (right == end || (left < middle && v[left] <= v[right])) {
          buffer[out++] = v[left++];
        } else {
          inversions += static_cast<double>(middle - left);
          buffer[out++] = v[right++];
        }
      }
    }
    v.swap(buffer);
  }
  return inversions;
}

// Two-sided exact p-value of c discordant (or concordant) pairs among n untied ones (Kendall 1970).
double kendall_exact_p(std::size_t n, double discordant) {
  const double total = 0.5 * static_cast<double>(n) * static_cast<double>(n - 1);
  const double c = std::min(discordant, total - discordant);
  if (n <= 2 || 2 * c == total) return 1;
  const std::size_t last = static_cast<std::size_t>(c);
  if (n >= 171) return 0;
  std::vector<double> counts(last + 1, 0.0);
  counts[0] = 1;
  if (last >= 1) counts[1] = 1;
  for (std::size_t j = 3; j <= n; ++j) {
    std::partial_sum(counts.begin(), counts.end(), counts.begin());
    for (std::size_t k = last; k >= j; --k) counts[k] -= counts[k - j];
  }
  const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
  return std::min(1.0, 2 * sum / std::tgamma(static_cast<double>(n) + 1));
}

void check_pair(std::span<const double> x, std::span<const double> y, const char* function) {
  require_same_size(x.size(), y.size(), function);
  require_at_least(x.size(), 2, function);
  require_finite(x, function);
  require_finite(y, function);
}

}  // namespace

Correlation pearson(std::span<const double> x, std::span<const double> y) {
  check_pair(x, y, "pearson");
  return with_p(pearson_r(x, y), x.size(), static_cast<double>(x.size()) - 2);
}

Correlation spearman(std::span<const double> x, std::span<const double> y) {
  check_pair(x, y, "spearman");
  const std::vector<double> a = average_ranks(x), b = average_ranks(y);
  // Twice the centred ranks are integers, so the sums are exact and a perfect order gives exactly 1.
  const double centre = static_cast<double>(x.size()) + 1;
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double u = 2 * a[i] - centre, v = 2 * b[i] - centre;
    xx += u * u;
    yy += v * v;
    xy += u * v;
  }
  const double r = xx == 0 || yy == 0 ? kNan : xx == yy ? xy / xx : xy / std::sqrt(xx) / std::sqrt(yy);
  return with_p(r, x.size(), static_cast<double>(x.size()) - 2);
}

Correlation kendall(std::span<const double> x, std::span<const double> y) {
  check_pair(x, y, "kendall");
  const std::size_t n = x.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return x[a] != x[b] ? x[a] < x[b] : y[a] < y[b]; });
  const auto same = [&](std::span<const double> v, std::size_t i) { return v[order[i]] == v[order[i - 1]]; };
  const Ties x_ties = count_ties(n, [&](std::size_t i) { return same(x, i); });
  const Ties both = count_ties(n, [&](std::size_t i) { return same(x, i) && same(y, i); });
  std::vector<double> by_x(n);
  for (std::size_t i = 0; i < n; ++i) by_x[i] = y[order[i]];
  const double discordant = count_inversions(by_x);
  const Ties y_ties = count_ties(n, [&](std::size_t i) { return by_x[i] == by_x[i - 1]; });

  const double size = static_cast<double>(n), pairs = size * (size - 1) / 2;
  if (x_ties.pairs == pairs || y_ties.pairs == pairs) return {kNan, kNan, n, kNan};
  const double excess = pairs - x_ties.pairs - y_ties.pairs + both.pairs - 2 * discordant;
  const double tau = excess / std::sqrt(pairs - x_ties.pairs) / std::sqrt(pairs - y_ties.pairs);
  Correlation result{std::clamp(tau, -1.0, 1.0), kNan, n, kNan};
  const bool untied = x_ties.pairs == 0 && y_ties.pairs == 0;
  if (untied && (n <= 33 || std::min(discordant, pairs - discordant) <= 1)) {
    result.p = kendall_exact_p(n, discordant);
  } else {
    const double m = size * (size - 1);
    const double var = (m * (2 * size + 5) - x_ties.weighted - y_ties.weighted) / 18 + 2 * x_ties.pairs * y_ties.pairs / m +
                       x_ties.triples * y_ties.triples / (9 * m * (size - 2));
    result.p = normal_p(excess / std::sqrt(var), Alternative::kTwoSided);
  }
  return result;
}

Correlation correlate(std::span<const double> x, std::span<const double> y, CorrelationKind kind) {
  switch (kind) {
    case CorrelationKind::kSpearman:
      return spearman(x, y);
    case CorrelationKind::kKendall:
      return kendall(x, y);
    default:
      return pearson(x, y);
  }
}

Correlation partial(std::span<const double> x, std::span<const double> y, ConstMatD covariates, CorrelationKind kind) {
  check_pair(x, y, "partial");
  if (kind == CorrelationKind::kKendall) {
    throw ConfigError({.what = "no partial form of Kendall's tau", .expected = "Pearson or Spearman"});
  }
  if (covariates.cols == 0) return correlate(x, y, kind);
  require_same_size(x.size(), static_cast<std::size_t>(covariates.rows), "partial");
  require_finite(covariates, "partial");
  const auto column = [&](std::span<const double> v) {
    return centred(kind == CorrelationKind::kSpearman ? average_ranks(v) : std::vector<double>(v.begin(), v.end()));
  };
  std::vector<std::vector<double>> columns;
  for (std::ptrdiff_t k = 0; k < covariates.cols; ++k) {
    std::vector<double> v(x.size());
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = covariates(static_cast<std::ptrdiff_t>(i), k);
    columns.push_back(column(v));
    if (const double length = norm(columns.back()); length > 0) scale(columns.back(), 1 / length);
  }
  const std::vector<std::vector<double>> basis = orthonormal_basis(std::move(columns));
  const double df = static_cast<double>(x.size()) - 2 - static_cast<double>(basis.size());
  std::vector<double> a = column(x), b = column(y);
  const double length_a = norm(a), length_b = norm(b);
  for (const std::vector<double>& unit : basis) {
    subtract(a, dot(unit, a), unit);
    subtract(b, dot(unit, b), unit);
  }
  // What the covariates explain to rounding has no correlation left.
  if (df < 0 || norm(a) <= 1e-10 * length_a || norm(b) <= 1e-10 * length_b) return {kNan, kNan, x.size(), df};
  return with_p(cosine(std::move(a), std::move(b)), x.size(), df);
}

Interval fisher_interval(const Correlation& correlation, double confidence) {
  require_confidence(confidence, "fisher_interval");
  if (std::isnan(correlation.r)) return {kNan, kNan};
  if (!(correlation.df >= 2)) return {-1, 1};
  if (std::abs(correlation.r) == 1) return {correlation.r, correlation.r};
  const double half = normal_quantile(0.5 + 0.5 * confidence) / std::sqrt(correlation.df - 1);
  const double z = std::atanh(correlation.r);
  return {std::tanh(z - half), std::tanh(z + half)};
}

}  // namespace locus::stats
