#include "core/token_info.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace locus {
namespace {

constexpr double kMostPlaces = 1e6;  // along an axis

std::vector<std::int64_t> extents_of(const MatrixD& coordinates) {
  std::vector<std::int64_t> extents;
  for (std::ptrdiff_t x = 0; x < coordinates.cols(); ++x) {
    double last = 0;
    for (std::ptrdiff_t t = 0; t < coordinates.rows(); ++t) last = std::max(last, coordinates(t, x));
    extents.push_back(static_cast<std::int64_t>(last) + 1);
  }
  return extents;
}

}  // namespace

bool fills_grid(const MatrixD& coordinates) {
  if (coordinates.rows() < 2 || coordinates.cols() == 0) return false;
  std::set<std::vector<double>> places;
  for (std::ptrdiff_t t = 0; t < coordinates.rows(); ++t) {
    const auto row = coordinates.row(t);
    if (!std::all_of(row.begin(), row.end(), [](double v) { return v >= 0 && v <= kMostPlaces && v == std::floor(v); }))
      return false;
    if (!places.insert({row.begin(), row.end()}).second) return false;
  }
  double all = 1;
  for (const std::int64_t n : extents_of(coordinates)) all *= static_cast<double>(n);
  return all == static_cast<double>(coordinates.rows());
}

std::vector<std::int64_t> grid_extents(const TokenInfo& info) {
  return info.coordinates_are_grid ? extents_of(info.coordinates) : std::vector<std::int64_t>{};
}

}  // namespace locus
