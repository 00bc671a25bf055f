#include "report/rank_test.h"

#include <cmath>
#include <vector>

#include "core/nan.h"
#include "stats/permutation.h"
#include "stats/rank.h"

namespace locus::report {

stats::Correlation rank_correlation(std::span<const double> x, std::span<const double> y) {
  if (x.size() < 3) return {kNan, kNan, x.size(), 0};
  stats::Correlation rho = stats::spearman(x, y);
  if (x.size() > 12 || !std::isfinite(rho.r)) return rho;
  const std::vector<double> a = stats::average_ranks(x), b = stats::average_ranks(y);
  const auto product = [&](std::span<const std::size_t> order) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[order[i]];
    return sum;
  };
  rho.p = stats::order_permutation_test(x.size(), product).p;
  return rho;
}

}  // namespace locus::report
