#include "core/symmetric_eigen.h"

#include <Eigen/Eigenvalues>

#include "core/error.h"

namespace locus {

SymmetricEigenvectors symmetric_eigenvectors(ConstMatD a) {
  LOCUS_CHECK(a.rows == a.cols, "a square matrix");
  Eigen::MatrixXd lower(a.rows, a.cols);
  for (std::ptrdiff_t i = 0; i < a.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < a.cols; ++j) lower(i, j) = a(i, j);
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(lower);
  LOCUS_CHECK(solver.info() == Eigen::Success, "eigen decomposition did not converge");
  SymmetricEigenvectors out{{solver.eigenvalues().begin(), solver.eigenvalues().end()}, MatrixD(a.rows, a.cols)};
  for (std::ptrdiff_t i = 0; i < a.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < a.cols; ++j) out.vectors(i, j) = solver.eigenvectors()(i, j);
  }
  return out;
}

}  // namespace locus
