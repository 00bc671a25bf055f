// Eigen's divide-and-conquer SVD, alone in its file because it is dear to compile.
#include <Eigen/SVD>
#include <cmath>

#include "stats/checks.h"
#include "stats/eigen_map.h"
#include "stats/linalg.h"

namespace locus::stats {

Svd thin_svd(ConstMatD a) {
  require_finite(a, "thin_svd");
  if (a.rows == 0 || a.cols == 0) return {MatrixD(a.rows, 0), {}, MatrixD(a.cols, 0)};
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(as_eigen(a), Eigen::ComputeThinU | Eigen::ComputeThinV);
  Eigen::MatrixXd u = svd.matrixU(), v = svd.matrixV();
  for (Eigen::Index k = 0; k < v.cols(); ++k) {
    Eigen::Index largest = 0;
    v.col(k).cwiseAbs().maxCoeff(&largest);
    if (v(largest, k) < 0) {
      v.col(k) *= -1;
      u.col(k) *= -1;
    }
  }
  const Eigen::VectorXd& s = svd.singularValues();
  return {from_eigen(u), {s.data(), s.data() + s.size()}, from_eigen(v)};
}

std::vector<double> singular_values(ConstMatD a) {
  require_finite(a, "singular_values");
  if (a.rows == 0 || a.cols == 0) return {};
  const Eigen::BDCSVD<Eigen::MatrixXd> svd{Eigen::MatrixXd(as_eigen(a))};
  const Eigen::VectorXd& s = svd.singularValues();
  return {s.data(), s.data() + s.size()};
}

}  // namespace locus::stats
