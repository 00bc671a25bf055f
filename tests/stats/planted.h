// Data with known structure for the tests of statistics.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/matrix.h"
#include "core/rng.h"
#include "stats/matrix_correlation.h"

namespace locus::stats {

// side^2 x 2 coordinates, row by row.
inline MatrixD planted_grid(std::ptrdiff_t side) {
  MatrixD out(side * side, 2);
  for (std::ptrdiff_t i = 0; i < side * side; ++i) {
    out(i, 0) = static_cast<double>(i / side);
    out(i, 1) = static_cast<double>(i % side);
  }
  return out;
}

inline MatrixD planted_noise(std::ptrdiff_t rows, std::ptrdiff_t cols, std::uint64_t seed) {
  Rng rng(seed, "test/noise");
  MatrixD out(rows, cols);
  for (double& v : out.values()) v = rng.normal();
  return out;
}

// A random linear image of the coordinates in d dimensions plus noise.
inline MatrixD planted_code(const MatrixD& coordinates, std::ptrdiff_t d, double noise, std::uint64_t seed) {
  const MatrixD mix = planted_noise(coordinates.cols(), d, seed);
  MatrixD out = planted_noise(coordinates.rows(), d, seed + 1000);
  for (std::ptrdiff_t i = 0; i < out.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < d; ++j) {
      out(i, j) *= noise;
      for (std::ptrdiff_t k = 0; k < mix.rows(); ++k) out(i, j) += coordinates(i, k) * mix(k, j);
    }
  }
  return out;
}

// Symmetric weights: `inside` in modules of equal size, `outside` between, plus noise.
struct PlantedModules {
  MatrixD weights;
  std::vector<int> labels;
};
inline PlantedModules planted_modules(int modules, int size, double inside, double outside, double noise,
                                      std::uint64_t seed = 0) {
  Rng rng(seed, "test/modules");
  const int n = modules * size;
  PlantedModules out{MatrixD(n, n), {}};
  for (int i = 0; i < n; ++i) out.labels.push_back(i % modules);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      const bool same = i % modules == j % modules;
      out.weights(i, j) = out.weights(j, i) = (same ? inside : outside) + noise * rng.normal();
    }
  }
  return out;
}

// n random points in the unit square and d random fields of the given correlation length (random Fourier features):
// smooth ones of Gaussian covariance, or rough ones of exponential covariance.
struct SmoothCode {
  MatrixD place, distance, code;
  std::vector<int> labels;  // by quadrant: each network one patch
};
enum class Field { kSmooth, kRough };
inline SmoothCode smooth_code(std::ptrdiff_t n, std::ptrdiff_t d, double length, std::uint64_t seed,
                              Field field = Field::kSmooth) {
  Rng rng(seed, "test/smooth");
  SmoothCode out{MatrixD(n, 2), {}, MatrixD(n, d), {}};
  for (double& v : out.place.values()) v = rng.uniform();
  for (std::ptrdiff_t k = 0; k < d; ++k) {
    for (int wave = 0; wave < 30; ++wave) {
      const double scale = field == Field::kRough ? length * std::abs(rng.normal()) : length;
      const double u = rng.normal() / scale, v = rng.normal() / scale, phase = 6.283185307179586 * rng.uniform();
      for (std::ptrdiff_t i = 0; i < n; ++i) out.code(i, k) += std::cos(u * out.place(i, 0) + v * out.place(i, 1) + phase);
    }
  }
  out.distance = pairwise_distance(out.place.view());
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    out.labels.push_back((out.place(i, 0) > 0.5 ? 2 : 0) + (out.place(i, 1) > 0.5 ? 1 : 0));
  }
  return out;
}

}  // namespace locus::stats
