// Off-diagonal correlations and Mantel's test on ranked or raw, standardised entries.
#include "stats/matrix_correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"
#include "core/symmetry.h"
#include "stats/checks.h"
#include "stats/rank.h"

namespace locus::stats {
namespace {

void check_squares(ConstMatD a, ConstMatD b, const char* function) {
  require_square(a, function);
  require_square(b, function);
  require_same_size(static_cast<std::size_t>(a.rows), static_cast<std::size_t>(b.rows), function);
  require_at_least(static_cast<std::size_t>(a.rows), 3, function);
}

// The off-diagonal entries (ranked for Spearman) with mean 0 and norm 1, back in matrix form.
MatrixD standardised(ConstMatD m, CorrelationKind kind) {
  std::vector<double> v = off_diagonal(m);
  require_finite(v, "mantel");
  if (kind == CorrelationKind::kSpearman) v = average_ranks(v);
  const double mean = std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
  double norm = 0;
  for (double& e : v) {
    e -= mean;
    norm += e * e;
  }
  norm = std::sqrt(norm);
  if (norm <= 1e-13 * std::max(1.0, std::abs(mean))) {
    throw DataError({.what = "a matrix is constant off its diagonal", .where = "mantel", .expected = "entries that vary"});
  }
  MatrixD out(m.rows, m.cols);
  std::size_t next = 0;
  for (std::ptrdiff_t i = 0; i < m.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < m.cols; ++j) {
      if (i != j) out(i, j) = v[next++] / norm;
    }
  }
  return out;
}

}  // namespace

std::vector<double> upper_triangle(ConstMatD m) {
  require_square(m, "upper_triangle");
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(m.rows * (m.rows - 1) / 2));
  for (std::ptrdiff_t i = 0; i < m.rows; ++i) out.insert(out.end(), m.row(i) + i + 1, m.row(i) + m.cols);
  return out;
}

std::vector<double> off_diagonal(ConstMatD m) {
  require_square(m, "off_diagonal");
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(m.rows * (m.rows - 1)));
  for (std::ptrdiff_t i = 0; i < m.rows; ++i) {
    out.insert(out.end(), m.row(i), m.row(i) + i);
    out.insert(out.end(), m.row(i) + i + 1, m.row(i) + m.cols);
  }
  return out;
}

Correlation matrix_correlation(ConstMatD a, ConstMatD b, CorrelationKind kind) {
  return partial_matrix_correlation(a, b, {}, kind);
}

Correlation partial_matrix_correlation(ConstMatD a, ConstMatD b, std::span<const ConstMatD> covariates,
                                       CorrelationKind kind) {
  check_squares(a, b, "matrix_correlation");
  bool symmetric = is_symmetric(a) && is_symmetric(b);
  for (const ConstMatD& c : covariates) {
    check_squares(a, c, "matrix_correlation");
    symmetric = symmetric && is_symmetric(c);
  }
  const auto flat = [&](ConstMatD m) { return symmetric ? upper_triangle(m) : off_diagonal(m); };
  const std::vector<double> x = flat(a), y = flat(b);
  if (covariates.empty()) return correlate(x, y, kind);
  MatrixD z(static_cast<std::ptrdiff_t>(x.size()), static_cast<std::ptrdiff_t>(covariates.size()));
  for (std::ptrdiff_t k = 0; k < z.cols(); ++k) {
    const std::vector<double> column = flat(covariates[static_cast<std::size_t>(k)]);
    for (std::ptrdiff_t i = 0; i < z.rows(); ++i) z(i, k) = column[static_cast<std::size_t>(i)];
  }
  return partial(x, y, z.view(), kind);
}

PermutationResult mantel(ConstMatD a, ConstMatD b, CorrelationKind kind, const PermutationOptions& options) {
  check_squares(a, b, "mantel");
  if (kind == CorrelationKind::kKendall) {
    throw ConfigError({.what = "Mantel's test has no Kendall form here", .expected = "Pearson or Spearman"});
  }
  const MatrixD x = standardised(a, kind), y = standardised(b, kind);
  const bool symmetric = is_symmetric(x.view()) && is_symmetric(y.view());
  const auto r = [&](std::span<const std::size_t> order) {
    double sum = 0;
    for (std::ptrdiff_t i = 0; i < x.rows(); ++i) {
      const double* left = x.row(i).data();
      const double* right = y.row(static_cast<std::ptrdiff_t>(order[static_cast<std::size_t>(i)])).data();
      for (std::ptrdiff_t j = symmetric ? i + 1 : 0; j < x.cols(); ++j) {
        sum += left[j] * right[order[static_cast<std::size_t>(j)]];
      }
    }
    return symmetric ? 2 * sum : sum;
  };
  require_positive(options.permutations, "number of permutations", "mantel");
  std::vector<std::size_t> order(static_cast<std::size_t>(x.rows()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  const double observed = r(order);
  Rng rng(options.seed, "stats/mantel");
  std::vector<double> null(static_cast<std::size_t>(options.permutations));
  for (double& value : null) {
    rng.shuffle(std::span<std::size_t>(order));
    value = r(order);
  }
  return permutation_result(observed, null, options.alternative);
}

MatrixD cosine_similarity(ConstMatD x) {
  require_finite(x, "cosine_similarity");
  MatrixD unit(x.rows, x.cols), out(x.rows, x.rows);
  for (std::ptrdiff_t i = 0; i < x.rows; ++i) {
    const double norm = std::sqrt(std::inner_product(x.row(i), x.row(i) + x.cols, x.row(i), 0.0));
    for (std::ptrdiff_t c = 0; c < x.cols; ++c) unit(i, c) = norm > 0 ? x(i, c) / norm : 0;
  }
  for (std::ptrdiff_t i = 0; i < x.rows; ++i) {
    out(i, i) = 1;
    for (std::ptrdiff_t j = 0; j < i; ++j) {
      const auto a = unit.row(i), b = unit.row(j);
      out(i, j) = out(j, i) = std::clamp(std::inner_product(a.begin(), a.end(), b.begin(), 0.0), -1.0, 1.0);
    }
  }
  return out;
}

MatrixD pairwise_distance(ConstMatD x) {
  require_finite(x, "pairwise_distance");
  MatrixD out(x.rows, x.rows);
  for (std::ptrdiff_t i = 0; i < x.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < i; ++j) {
      double sum = 0;
      for (std::ptrdiff_t c = 0; c < x.cols; ++c) sum += (x(i, c) - x(j, c)) * (x(i, c) - x(j, c));
      out(i, j) = out(j, i) = std::sqrt(sum);
    }
  }
  return out;
}

MatrixD centre_rows(ConstMatD x) {
  require_finite(x, "centre_rows");
  MatrixD out(x.rows, x.cols);
  for (std::ptrdiff_t c = 0; c < x.cols; ++c) {
    double sum = 0;
    for (std::ptrdiff_t i = 0; i < x.rows; ++i) sum += x(i, c);
    for (std::ptrdiff_t i = 0; i < x.rows; ++i) out(i, c) = x(i, c) - sum / static_cast<double>(x.rows);
  }
  return out;
}

}  // namespace locus::stats
