#include "report/embedding.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "stats/linalg.h"
#include "stats/matrix_correlation.h"

namespace locus::report {
namespace {

struct Centred {
  std::vector<double> x, y;
  double mean_x = 0, mean_y = 0, square = 0;
};

Centred centre(const MatrixD& points) {
  Centred c;
  const auto n = static_cast<double>(points.rows());
  for (std::ptrdiff_t t = 0; t < points.rows(); ++t) {
    c.mean_x += points(t, 0) / n;
    c.mean_y += points(t, 1) / n;
  }
  for (std::ptrdiff_t t = 0; t < points.rows(); ++t) {
    c.x.push_back(points(t, 0) - c.mean_x);
    c.y.push_back(points(t, 1) - c.mean_y);
    c.square += c.x.back() * c.x.back() + c.y.back() * c.y.back();
  }
  return c;
}

}  // namespace

PlaneMap principal_plane(const MatrixD& table) {
  PlaneMap map;
  map.points = MatrixD(table.rows(), 2);
  const std::ptrdiff_t axes = std::min<std::ptrdiff_t>({2, table.rows(), table.cols()});
  if (table.rows() < 2 || axes < 1) return map;
  const stats::Pca pca = stats::pca(table.view(), axes);
  double total = 0;
  const MatrixD centred = stats::centre_rows(table.view());
  for (const double v : centred.values()) total += v * v;
  for (std::ptrdiff_t k = 0; k < axes; ++k) {
    std::ptrdiff_t largest = 0;
    for (std::ptrdiff_t t = 1; t < table.rows(); ++t) {
      if (std::abs(pca.scores(t, k)) > std::abs(pca.scores(largest, k))) largest = t;
    }
    const double sign = pca.scores(largest, k) < 0 ? -1 : 1;
    for (std::ptrdiff_t t = 0; t < table.rows(); ++t) map.points(t, k) = sign * pca.scores(t, k);
    if (total > 0)
      map.explained += pca.variance[static_cast<std::size_t>(k)] * static_cast<double>(table.rows() - 1) / total;
  }
  return map;
}

Aligned align(const MatrixD& points, const MatrixD& target) {
  LOCUS_CHECK(points.rows() == target.rows() && points.cols() == 2 && target.cols() == 2, "shapes of maps");
  const Centred a = centre(points), b = centre(target);
  double xx = 0, xy = 0, yx = 0, yy = 0;
  for (std::size_t t = 0; t < a.x.size(); ++t) {
    xx += a.x[t] * b.x[t];
    xy += a.x[t] * b.y[t];
    yx += a.y[t] * b.x[t];
    yy += a.y[t] * b.y[t];
  }
  // The best turn, and the best turn after mirroring the second axis; the better of the two wins.
  const double turn = std::hypot(xx + yy, xy - yx), mirror = std::hypot(xx - yy, xy + yx);
  const bool flip = mirror > turn;
  const double angle = flip ? std::atan2(xy + yx, xx - yy) : std::atan2(xy - yx, xx + yy);
  const double fit = std::max(turn, mirror);
  const double scale = a.square > 0 ? fit / a.square : 0;
  Aligned out;
  out.points = MatrixD(points.rows(), 2);
  for (std::ptrdiff_t t = 0; t < points.rows(); ++t) {
    const double x = a.x[static_cast<std::size_t>(t)], y = (flip ? -1 : 1) * a.y[static_cast<std::size_t>(t)];
    out.points(t, 0) = b.mean_x + scale * (std::cos(angle) * x - std::sin(angle) * y);
    out.points(t, 1) = b.mean_y + scale * (std::sin(angle) * x + std::cos(angle) * y);
  }
  out.r = a.square > 0 && b.square > 0 ? fit / std::sqrt(a.square * b.square) : 0;
  return out;
}

}  // namespace locus::report
