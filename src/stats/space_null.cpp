#include "stats/space_null.h"

#include <fmt/core.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/rng.h"
#include "stats/checks.h"
#include "stats/eigen_map.h"
#include "stats/linalg.h"

namespace locus::stats {
namespace {

constexpr std::size_t kFewestRegions = 10;
// Knots lie at quantiles of the distances, denser among near pairs, where codes vary most.
constexpr int kDistanceKnots = 20;
constexpr int kAxisKnots = 6;
constexpr double kDenseNear = 1.5;
// Below this share of the contrast between labels left beside space, nothing but rounding is tested.
constexpr double kSmallestShare = 1e-6;

std::vector<double> knots_of(std::vector<double> values, int count, double power) {
  std::sort(values.begin(), values.end());
  std::vector<double> knots;
  for (int k = 0; k < count; ++k) {
    const double at = std::pow(static_cast<double>(k) / (count - 1), power) * static_cast<double>(values.size() - 1);
    const double knot = values[static_cast<std::size_t>(std::lround(at))];
    if (knots.empty() || knot > knots.back()) knots.push_back(knot);
  }
  return knots;
}

// The rows of a code at length 1; rows of zeros stay.
RowMajor directions(const RowMajor& code) {
  RowMajor out = code;
  for (std::ptrdiff_t i = 0; i < out.rows(); ++i) {
    const double norm = out.row(i).norm();
    if (norm > 0) out.row(i) /= norm;
  }
  return out;
}

// A Gaussian code: root (n x r) times independent numbers in `columns` columns.
struct SpaceCode {
  RowMajor root;
  std::ptrdiff_t columns = 1;

  RowMajor draw(std::uint64_t seed, std::uint64_t index) const {
    Rng rng(derive_seed(seed, "stats/space_null", index), "draw");
    RowMajor numbers(root.cols(), columns);
    for (double& v : std::span(numbers.data(), static_cast<std::size_t>(numbers.size()))) v = rng.normal();
    return root * numbers;
  }
};

// The null of a code. With products G of its rows and K their fit, participation ratios of K and G tell over how many equal
// columns the code spreads: E tr(G^2)/tr(G)^2 = 1/K' + 1/d + 1/(K' d), K' the ratio of K, d the columns.
SpaceCode null_of(const SpaceBasis& space, const RowMajor& code) {
  const RowMajor products = code * code.transpose();
  const SymmetricEigen eigen = symmetric_eigen(space.fitted(from_eigen(products).view()).view());
  std::ptrdiff_t rank = 0;
  double sum = 0, squares = 0;
  while (rank < space.regions() && eigen.values[static_cast<std::size_t>(rank)] > 0) {
    const double v = eigen.values[static_cast<std::size_t>(rank++)];
    sum += v;
    squares += v * v;
  }
  SpaceCode null;
  null.root.resize(space.regions(), rank);
  for (std::ptrdiff_t k = 0; k < rank; ++k)
    null.root.col(k) = as_eigen(eigen.vectors).col(k) * std::sqrt(eigen.values[static_cast<std::size_t>(k)]);
  const double of_space = squares / (sum * sum);
  const double of_code = products.squaredNorm() / (products.trace() * products.trace());
  const double of_columns = (of_code - of_space) / (1 + of_space);
  const auto most = static_cast<double>(code.cols());
  null.columns = of_columns * most <= 1 ? code.cols() : std::lround(std::clamp(1 / of_columns, 1.0, most));
  return null;
}

// Entry (i, j): what the cosine of the pair adds to the coefficient of "equal label".
RowMajor pair_weights(const SpaceBasis& space, std::span<const int> labels) {
  const std::ptrdiff_t n = space.regions();
  MatrixD equal(n, n);
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    for (std::ptrdiff_t j = 0; j < n; ++j)
      equal(i, j) = i != j && labels[static_cast<std::size_t>(i)] == labels[static_cast<std::size_t>(j)] ? 1 : 0;
  }
  RowMajor left = as_eigen(equal) - as_eigen(space.fitted(equal.view()));
  const double squares = left.squaredNorm();
  if (squares <= kSmallestShare * as_eigen(equal).squaredNorm()) {
    throw DataError({.what = "labels cannot be told from distance: nothing is left to test beside space",
                     .expected = "at least two labels, and pairs of equal and unequal label at the same distance",
                     .hint = "leave the spatial test out: --set surrogates=0"});
  }
  return left / squares;
}

}  // namespace

SpaceBasis::SpaceBasis(ConstMatD coordinates, bool mirrored) : regions_(coordinates.rows), mirrored_(mirrored) {
  require_finite(coordinates, "SpaceBasis");
  require_at_least(static_cast<std::size_t>(coordinates.rows), kFewestRegions, "SpaceBasis");
  if (coordinates.cols < 1 || coordinates.cols > 3) {
    throw DataError({.what = "places need 1, 2 or 3 coordinates", .got = fmt::format("{}", coordinates.cols)});
  }
  places_ = MatrixD(regions_, coordinates.cols);
  for (std::ptrdiff_t i = 0; i < regions_; ++i) std::copy_n(coordinates.row(i), coordinates.cols, places_.row(i).begin());
  make_families();
  make_inverse();
}

// Families: 0 distance, then mirrored distance where asked for, then one an axis (on a line the axis is the distance).
double SpaceBasis::pair_value(std::size_t family, std::ptrdiff_t i, std::ptrdiff_t j) const {
  const std::ptrdiff_t axes = places_.cols();
  const std::size_t before_axes = mirrored_ ? 2 : 1;
  if (family >= before_axes) {
    const auto axis = static_cast<std::ptrdiff_t>(family - before_axes);
    return std::abs(places_(i, axis) - places_(j, axis));
  }
  double sum = 0;
  for (std::ptrdiff_t a = 0; a < axes; ++a) {
    const double other = family == 1 && a == 0 ? -places_(j, a) : places_(j, a);
    sum += (places_(i, a) - other) * (places_(i, a) - other);
  }
  return std::sqrt(sum);
}

void SpaceBasis::make_families() {
  const std::size_t count = (mirrored_ ? 2 : 1) + (places_.cols() > 1 ? static_cast<std::size_t>(places_.cols()) : 0);
  for (std::size_t f = 0; f < count; ++f) {
    std::vector<double> values;
    for (std::ptrdiff_t i = 0; i < regions_; ++i) {
      for (std::ptrdiff_t j = 0; j < i; ++j) values.push_back(pair_value(f, i, j));
    }
    const bool is_axis = f >= (mirrored_ ? 2u : 1u);
    families_.push_back(
        {knots_of(std::move(values), is_axis ? kAxisKnots : kDistanceKnots, is_axis ? 1 : kDenseNear), columns_});
    columns_ += static_cast<std::ptrdiff_t>(families_.back().knots.size());
  }
  if (families_[0].knots.size() < 2) {
    throw DataError({.what = "all places are equally far from each other", .expected = "coordinates that differ"});
  }
}

std::size_t SpaceBasis::row(std::ptrdiff_t i, std::ptrdiff_t j, Row& out) const {
  std::size_t count = 0;
  for (std::size_t f = 0; f < families_.size(); ++f) {
    const auto& [knots, first] = families_[f];
    const double value = pair_value(f, i, j);
    const auto above = std::upper_bound(knots.begin(), knots.end(), value);
    if (above == knots.begin() || above == knots.end()) {
      out[count++] = {first + (above == knots.begin() ? 0 : std::ssize(knots) - 1), 1};
      continue;
    }
    const std::ptrdiff_t k = above - knots.begin();
    const double share = (value - *(above - 1)) / (*above - *(above - 1));
    out[count++] = {first + k - 1, 1 - share};
    out[count++] = {first + k, share};
  }
  return count;
}

// Hats of a family add up to 1, so that families overlap: the inverse is that of the directions that are there.
void SpaceBasis::make_inverse() {
  MatrixD products(columns_, columns_);
  Row hats;
  for (std::ptrdiff_t i = 0; i < regions_; ++i) {
    for (std::ptrdiff_t j = 0; j < i; ++j) {
      const std::size_t count = row(i, j, hats);
      for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t b = 0; b < count; ++b) products(hats[a].column, hats[b].column) += hats[a].weight * hats[b].weight;
      }
    }
  }
  const SymmetricEigen eigen = symmetric_eigen(products.view());
  inverse_ = MatrixD(columns_, columns_);
  for (std::ptrdiff_t k = 0; k < columns_; ++k) {
    const double value = eigen.values[static_cast<std::size_t>(k)];
    if (value <= 1e-9 * eigen.values[0]) break;
    for (std::ptrdiff_t a = 0; a < columns_; ++a) {
      for (std::ptrdiff_t b = 0; b < columns_; ++b) inverse_(a, b) += eigen.vectors(a, k) * eigen.vectors(b, k) / value;
    }
  }
}

MatrixD SpaceBasis::fitted(ConstMatD symmetric) const {
  require_square(symmetric, "SpaceBasis::fitted");
  require_same_size(static_cast<std::size_t>(symmetric.rows), static_cast<std::size_t>(regions_), "SpaceBasis::fitted");
  const auto each_pair = [&](const auto& use) {
    Row hats;
    for (std::ptrdiff_t i = 0; i < regions_; ++i) {
      for (std::ptrdiff_t j = 0; j < i; ++j) use(i, j, std::span(hats).first(row(i, j, hats)));
    }
  };
  std::vector<double> sums(static_cast<std::size_t>(columns_)), weights(static_cast<std::size_t>(columns_));
  each_pair([&](std::ptrdiff_t i, std::ptrdiff_t j, std::span<const Entry> hats) {
    for (const Entry& h : hats) sums[static_cast<std::size_t>(h.column)] += h.weight * symmetric(i, j);
  });
  for (std::ptrdiff_t a = 0; a < columns_; ++a) {
    for (std::ptrdiff_t b = 0; b < columns_; ++b)
      weights[static_cast<std::size_t>(a)] += inverse_(a, b) * sums[static_cast<std::size_t>(b)];
  }
  MatrixD out(regions_, regions_);
  each_pair([&](std::ptrdiff_t i, std::ptrdiff_t j, std::span<const Entry> hats) {
    double sum = 0;
    for (const Entry& h : hats) sum += h.weight * weights[static_cast<std::size_t>(h.column)];
    out(i, j) = out(j, i) = sum;
  });
  for (std::ptrdiff_t i = 0; i < regions_; ++i) out(i, i) = symmetric(i, i);
  return out;
}

PermutationResult space_network_test(const SpaceBasis& space, ConstMatD code, std::span<const int> labels,
                                     const SpaceTestOptions& options) {
  require_finite(code, "space_network_test");
  require_same_size(labels.size(), static_cast<std::size_t>(space.regions()), "space_network_test");
  require_same_size(static_cast<std::size_t>(code.rows), labels.size(), "space_network_test");
  require_positive(options.count, "draws", "space_network_test");
  const RowMajor given = as_eigen(code);
  if (given.squaredNorm() == 0) throw DataError({.what = "a code of zeros has no arrangement to test"});
  const RowMajor weights = pair_weights(space, labels);
  const auto statistic = [&](const RowMajor& c) {
    const RowMajor unit = directions(c);
    return (weights * unit).cwiseProduct(unit).sum();
  };
  const SpaceCode null = null_of(space, given);
  std::vector<double> drawn(static_cast<std::size_t>(options.count));
  ThreadPool alone(1);
  ThreadPool& pool = options.pool != nullptr ? *options.pool : alone;
  pool.run(options.count, [&](int i, int) {
    drawn[static_cast<std::size_t>(i)] = statistic(null.draw(options.seed, static_cast<std::uint64_t>(i)));
  });
  return permutation_result(statistic(given), drawn, Alternative::kGreater);
}

}  // namespace locus::stats
