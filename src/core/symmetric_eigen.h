// Eigenvalues and eigenvectors of a symmetric matrix, the same bits on every instruction set. Eigen's solver is dear to
// compile, so it is here alone.
#pragma once

#include <vector>

#include "core/matrix.h"

namespace locus {

struct SymmetricEigenvectors {
  std::vector<double> values;  // ascending
  MatrixD vectors;             // column k belongs to values[k]; its sign is arbitrary
};

// Reads the lower triangle.
SymmetricEigenvectors symmetric_eigenvectors(ConstMatD a);

}  // namespace locus
