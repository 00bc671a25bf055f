#include "stats/neighbours.h"

#include <Eigen/Core>
#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "stats/eigen_map.h"

namespace locus::stats {

std::vector<std::vector<std::int64_t>> nearest_rows(ConstMatD among, ConstMatD of, std::int64_t k) {
  LOCUS_CHECK(k >= 1 && k <= among.rows && among.cols == of.cols, "enough rows of the same width");
  constexpr std::ptrdiff_t kBlock = 256;
  const auto a = as_eigen(among);
  const Eigen::RowVectorXd squares = a.rowwise().squaredNorm().transpose();
  std::vector<std::vector<std::int64_t>> out;
  std::vector<std::int64_t> order(static_cast<std::size_t>(among.rows));
  for (std::ptrdiff_t first = 0; first < of.rows; first += kBlock) {
    const std::ptrdiff_t n = std::min(kBlock, of.rows - first);
    RowMajor distance = -2.0 * as_eigen(of.row_block(first, n)) * a.transpose();
    distance.rowwise() += squares;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const double* d = distance.row(i).data();
      std::iota(order.begin(), order.end(), std::int64_t{0});
      std::partial_sort(order.begin(), order.begin() + k, order.end(),
                        [d](std::int64_t l, std::int64_t r) { return d[l] != d[r] ? d[l] < d[r] : l < r; });
      out.emplace_back(order.begin(), order.begin() + k);
    }
  }
  return out;
}

}  // namespace locus::stats
