// Row-major matrices seen as Eigen's and back. For source files of stats only.
#pragma once

#include <Eigen/Core>

#include "core/matrix.h"

namespace locus::stats {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMap = Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>;

inline ConstMap as_eigen(ConstMatD m) { return {m.data, m.rows, m.cols, Eigen::OuterStride<>(m.stride)}; }
inline ConstMap as_eigen(const MatrixD& m) { return as_eigen(m.view()); }

template <class Derived>
MatrixD from_eigen(const Eigen::MatrixBase<Derived>& m) {
  MatrixD out(m.rows(), m.cols());
  Eigen::Map<RowMajor>(out.values().data(), m.rows(), m.cols()) = m;
  return out;
}

}  // namespace locus::stats
