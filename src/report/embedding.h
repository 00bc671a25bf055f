// Two-dimensional maps of encoding tables, and their alignment to known places.
#pragma once

#include "core/matrix.h"

namespace locus::report {

struct PlaneMap {
  MatrixD points;        // (T, 2)
  double explained = 0;  // share of the variance the two axes hold
};

// Principal components of the rows of `table` (T, C), which is classical MDS of their Euclidean distances. The sign of an
// axis is fixed by its largest entry, so equal tables give equal maps.
PlaneMap principal_plane(const MatrixD& table);

struct Aligned {
  MatrixD points;  // (T, 2): moved, turned, mirrored and scaled to fit the target best
  double r = 0;    // correlation of the fitted with the target coordinates (1: the same arrangement)
};

// Least-squares similarity transform of `points` (T, 2) onto `target` (T, 2).
Aligned align(const MatrixD& points, const MatrixD& target);

}  // namespace locus::report
