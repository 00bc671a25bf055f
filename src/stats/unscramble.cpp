#include "stats/unscramble.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/error.h"
#include "stats/assignment.h"
#include "stats/linalg.h"

namespace locus::stats {
namespace {

constexpr std::int64_t kGraphNeighbours = 5;  // each token's in the graph; more until it holds together
constexpr int kAngles = 18;                   // turns tried over a quarter, 5 degrees apart
constexpr int kMostRounds = 200;              // of exchanges
constexpr double kFar = std::numeric_limits<double>::infinity();

// The k most similar tokens of each, most similar first.
std::vector<std::vector<std::int64_t>> most_similar(ConstMatD s, std::int64_t k) {
  std::vector<std::vector<std::int64_t>> out;
  std::vector<std::int64_t> order(static_cast<std::size_t>(s.rows));
  for (std::ptrdiff_t i = 0; i < s.rows; ++i) {
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      if ((a == i) != (b == i)) return b == i;
      return s(i, a) > s(i, b);
    });
    out.emplace_back(order.begin(), order.begin() + std::min<std::int64_t>(k, s.rows - 1));
  }
  return out;
}

// Steps along the graph in which each token is tied to its k most similar; a tie costs more the less alike the two are.
MatrixD path_lengths(ConstMatD s, std::int64_t k) {
  const std::ptrdiff_t n = s.rows;
  MatrixD d(n, n);
  std::fill(d.values().begin(), d.values().end(), kFar);
  double top = -kFar, low = kFar;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      if (i == j) continue;
      top = std::max(top, s(i, j));
      low = std::min(low, s(i, j));
    }
  }
  const auto near = most_similar(s, k);
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    d(i, i) = 0;
    for (const std::int64_t j : near[static_cast<std::size_t>(i)]) {
      d(i, j) = d(j, i) = 1 + (top > low ? (top - s(i, j)) / (top - low) : 0.0);
    }
  }
  for (std::ptrdiff_t via = 0; via < n; ++via) {
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const double first = d(i, via);
      if (first == kFar) continue;
      for (std::ptrdiff_t j = 0; j < n; ++j) d(i, j) = std::min(d(i, j), first + d(via, j));
    }
  }
  return d;
}

bool holds_together(const MatrixD& d) {
  return std::none_of(d.values().begin(), d.values().end(), [](double v) { return v == kFar; });
}

MatrixD embed(ConstMatD s) {
  std::int64_t k = std::min<std::int64_t>(kGraphNeighbours, s.rows - 1);
  MatrixD d = path_lengths(s, k);
  while (!holds_together(d)) d = path_lengths(s, ++k);
  return classical_mds(d.view(), std::min<std::ptrdiff_t>(2, s.rows)).coordinates;
}

struct Point {
  double row, column;
};

Point place_of(std::int64_t cell, const Grid& grid) {
  return {static_cast<double>(cell / grid.columns), static_cast<double>(cell % grid.columns)};
}

// Points turned by `angle` and stretched to fill the grid, each axis by its own extent.
std::vector<Point> fitted(const MatrixD& points, double angle, const Grid& grid) {
  std::vector<Point> out;
  Point low{kFar, kFar}, high{-kFar, -kFar};
  for (std::ptrdiff_t i = 0; i < points.rows(); ++i) {
    const double x = points(i, 0), y = points.cols() > 1 ? points(i, 1) : 0.0;
    const Point p{std::cos(angle) * x - std::sin(angle) * y, std::sin(angle) * x + std::cos(angle) * y};
    low = {std::min(low.row, p.row), std::min(low.column, p.column)};
    high = {std::max(high.row, p.row), std::max(high.column, p.column)};
    out.push_back(p);
  }
  const auto stretch = [](double v, double lo, double hi, std::int64_t n) {
    return hi > lo ? (v - lo) / (hi - lo) * static_cast<double>(n - 1) : 0.5 * static_cast<double>(n - 1);
  };
  for (Point& p : out)
    p = {stretch(p.row, low.row, high.row, grid.rows), stretch(p.column, low.column, high.column, grid.columns)};
  return out;
}

std::vector<std::int64_t> cells_of(const MatrixD& points, const Grid& grid) {
  std::vector<std::int64_t> best;
  double least = kFar;
  for (int a = 0; a < kAngles; ++a) {
    const std::vector<Point> at = fitted(points, a * 0.5 * std::numbers::pi / kAngles, grid);
    MatrixD cost(points.rows(), grid.cells());
    for (std::ptrdiff_t i = 0; i < cost.rows(); ++i) {
      for (std::int64_t c = 0; c < grid.cells(); ++c) {
        const Point p = place_of(c, grid);
        const double dr = p.row - at[static_cast<std::size_t>(i)].row,
                     dc = p.column - at[static_cast<std::size_t>(i)].column;
        cost(i, c) = dr * dr + dc * dc;
      }
    }
    Assignment found = least_cost_assignment(cost.view());
    if (found.cost < least - 1e-9) {
      least = found.cost;
      best = std::move(found.column);
    }
  }
  return best;
}

// Exchanges of two cells (a token may also move to an empty one) while they shorten the ties between like tokens.
class Exchanges {
 public:
  Exchanges(ConstMatD s, const Grid& grid, std::vector<std::int64_t> cell)
      : grid_(grid),
        cell_(std::move(cell)),
        token_(static_cast<std::size_t>(grid.cells()), -1),
        ties_(static_cast<std::size_t>(s.rows)) {
    // Ties weigh by rank: the most similar most. No scale of the similarity matters.
    constexpr std::int64_t kTies = 8;
    const auto near = most_similar(s, kTies);
    for (std::size_t i = 0; i < near.size(); ++i) {
      for (std::size_t r = 0; r < near[i].size(); ++r) {
        const double weight = std::pow(0.7, static_cast<double>(r));
        const auto j = static_cast<std::size_t>(near[i][r]);
        ties_[i].push_back({j, weight});
        ties_[j].push_back({i, weight});
      }
    }
    for (std::size_t i = 0; i < cell_.size(); ++i) token_[static_cast<std::size_t>(cell_[i])] = static_cast<std::int64_t>(i);
  }

  std::vector<std::int64_t> run() {
    for (int round = 0; round < kMostRounds; ++round) {
      bool changed = false;
      for (std::int64_t a = 0; a < grid_.cells(); ++a) {
        for (std::int64_t b = a + 1; b < grid_.cells(); ++b) changed = try_exchange(a, b) || changed;
      }
      if (!changed) break;
    }
    return cell_;
  }

 private:
  struct Tie {
    std::size_t other;
    double weight;
  };

  double cost_of(std::int64_t token) const {
    if (token < 0) return 0;
    double sum = 0;
    const Point p = place_of(cell_[static_cast<std::size_t>(token)], grid_);
    for (const Tie& tie : ties_[static_cast<std::size_t>(token)]) {
      const Point q = place_of(cell_[tie.other], grid_);
      sum += tie.weight * std::hypot(p.row - q.row, p.column - q.column);
    }
    return sum;
  }

  void put(std::int64_t token, std::int64_t cell) {
    token_[static_cast<std::size_t>(cell)] = token;
    if (token >= 0) cell_[static_cast<std::size_t>(token)] = cell;
  }

  bool try_exchange(std::int64_t a, std::int64_t b) {
    const std::int64_t first = token_[static_cast<std::size_t>(a)], second = token_[static_cast<std::size_t>(b)];
    if (first < 0 && second < 0) return false;
    const double before = cost_of(first) + cost_of(second);
    put(first, b);
    put(second, a);
    if (cost_of(first) + cost_of(second) < before - 1e-9) return true;
    put(first, a);
    put(second, b);
    return false;
  }

  Grid grid_;
  std::vector<std::int64_t> cell_, token_;
  std::vector<std::vector<Tie>> ties_;
};

bool side_by_side(std::int64_t a, std::int64_t b, const Grid& grid) {
  const std::int64_t rows = std::abs(a / grid.columns - b / grid.columns),
                     columns = std::abs(a % grid.columns - b % grid.columns);
  return rows + columns == 1;
}

double distance_correlation(const std::vector<std::int64_t>& truth, const std::vector<std::int64_t>& found,
                            const Grid& grid) {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  const auto distance = [&](std::int64_t a, std::int64_t b) {
    const Point p = place_of(a, grid), q = place_of(b, grid);
    return std::hypot(p.row - q.row, p.column - q.column);
  };
  for (std::size_t i = 0; i < truth.size(); ++i) {
    for (std::size_t j = i + 1; j < truth.size(); ++j) {
      const double a = distance(truth[i], truth[j]), b = distance(found[i], found[j]);
      n += 1;
      x += a;
      y += b;
      xx += a * a;
      yy += b * b;
      xy += a * b;
    }
  }
  const double spread = std::sqrt((xx - x * x / n) * (yy - y * y / n));
  return spread > 0 ? (xy - x * y / n) / spread : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

GridPlacement unscramble(ConstMatD similarity, const Grid& grid) {
  LOCUS_CHECK(similarity.rows == similarity.cols && similarity.rows <= grid.cells() && similarity.rows >= 2,
              "a cell for every token");
  GridPlacement out;
  out.embedding = embed(similarity);
  out.cell = Exchanges(similarity, grid, cells_of(out.embedding, grid)).run();
  return out;
}

std::vector<std::vector<std::int64_t>> grid_symmetries(const Grid& grid) {
  std::vector<std::vector<std::int64_t>> out;
  const int turns = grid.rows == grid.columns ? 2 : 1;
  for (int transpose = 0; transpose < turns; ++transpose) {
    for (int flip = 0; flip < 4; ++flip) {
      std::vector<std::int64_t> to;
      for (std::int64_t c = 0; c < grid.cells(); ++c) {
        std::int64_t row = c / grid.columns, column = c % grid.columns;
        if (transpose != 0) std::swap(row, column);
        if ((flip & 1) != 0) row = grid.rows - 1 - row;
        if ((flip & 2) != 0) column = grid.columns - 1 - column;
        to.push_back(row * grid.columns + column);
      }
      out.push_back(std::move(to));
    }
  }
  return out;
}

GridMeasures compare_grids(const std::vector<std::int64_t>& truth, const std::vector<std::int64_t>& found,
                           const Grid& grid) {
  LOCUS_CHECK(truth.size() == found.size(), "two places of every token");
  GridMeasures out;
  double pairs = 0, kept = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    double own = 0, own_kept = 0;
    for (std::size_t j = 0; j < truth.size(); ++j) {
      if (!side_by_side(truth[i], truth[j], grid)) continue;
      own += 1;
      own_kept += side_by_side(found[i], found[j], grid) ? 1 : 0;
    }
    pairs += own;
    kept += own_kept;
    out.token_neighbours.push_back(own > 0 ? own_kept / own : std::numeric_limits<double>::quiet_NaN());
  }
  out.neighbours = kept / pairs;
  out.distance_correlation = distance_correlation(truth, found, grid);
  for (const auto& symmetry : grid_symmetries(grid)) {
    double right = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) right += symmetry[static_cast<std::size_t>(found[i])] == truth[i] ? 1 : 0;
    out.in_place = std::max(out.in_place, right / static_cast<double>(truth.size()));
  }
  return out;
}

std::vector<double> neighbours_among_most_similar(ConstMatD similarity, const std::vector<std::int64_t>& truth,
                                                  const Grid& grid) {
  const auto near = most_similar(similarity, similarity.rows - 1);
  std::vector<double> out;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    std::size_t own = 0, kept = 0;
    for (std::size_t j = 0; j < truth.size(); ++j) own += side_by_side(truth[i], truth[j], grid) ? 1 : 0;
    for (std::size_t r = 0; r < own; ++r)
      kept += side_by_side(truth[i], truth[static_cast<std::size_t>(near[i][r])], grid) ? 1 : 0;
    out.push_back(own > 0 ? static_cast<double>(kept) / static_cast<double>(own) : std::numeric_limits<double>::quiet_NaN());
  }
  return out;
}

}  // namespace locus::stats
