// Whether a matrix is that of a symmetric relation.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/matrix.h"

namespace locus {

// True when m equals its transpose to 1e-9 of its largest entry; NaN must face NaN, an infinity the same.
inline bool is_symmetric(ConstMatD m) {
  if (m.rows != m.cols) return false;
  double largest = 0, difference = 0;
  for (std::ptrdiff_t r = 0; r < m.rows; ++r) {
    for (std::ptrdiff_t c = 0; c < m.cols; ++c) {
      const double a = m(r, c), b = m(c, r);
      if (std::isnan(a) != std::isnan(b)) return false;
      if (std::isinf(a) || std::isinf(b)) {
        if (a != b) return false;
        continue;
      }
      largest = std::max(largest, std::abs(a));
      difference = std::max(difference, std::abs(a - b));
    }
  }
  return difference <= 1e-9 * largest;
}

}  // namespace locus
