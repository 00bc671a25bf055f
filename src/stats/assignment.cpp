#include "stats/assignment.h"

#include <cmath>
#include <limits>

#include "core/error.h"

namespace locus::stats {

// Rows are added one at a time; each time a shortest path in reduced costs frees a column. Column 0 and row 0 are helpers.
Assignment least_cost_assignment(ConstMatD cost) {
  LOCUS_CHECK(cost.rows <= cost.cols, "a column for every row");
  const auto n = static_cast<std::size_t>(cost.rows), m = static_cast<std::size_t>(cost.cols);
  constexpr double kFar = std::numeric_limits<double>::infinity();
  std::vector<double> row_price(n + 1), column_price(m + 1);
  std::vector<std::size_t> row_of(m + 1), before(m + 1);
  for (std::size_t row = 1; row <= n; ++row) {
    row_of[0] = row;
    std::size_t column = 0;
    std::vector<double> distance(m + 1, kFar);
    std::vector<char> done(m + 1);
    do {
      done[column] = 1;
      const std::size_t i = row_of[column];
      double least = kFar;
      std::size_t next = 0;
      for (std::size_t j = 1; j <= m; ++j) {
        if (done[j] != 0) continue;
        const double reduced =
            cost(static_cast<std::ptrdiff_t>(i - 1), static_cast<std::ptrdiff_t>(j - 1)) - row_price[i] - column_price[j];
        if (reduced < distance[j]) {
          distance[j] = reduced;
          before[j] = column;
        }
        if (distance[j] < least) {
          least = distance[j];
          next = j;
        }
      }
      LOCUS_CHECK(std::isfinite(least), "finite costs");
      for (std::size_t j = 0; j <= m; ++j) {
        if (done[j] != 0) {
          row_price[row_of[j]] += least;
          column_price[j] -= least;
        } else {
          distance[j] -= least;
        }
      }
      column = next;
    } while (row_of[column] != 0);
    for (; column != 0; column = before[column]) row_of[column] = row_of[before[column]];
  }
  Assignment out;
  out.column.resize(n);
  for (std::size_t j = 1; j <= m; ++j) {
    if (row_of[j] == 0) continue;
    out.column[row_of[j] - 1] = static_cast<std::int64_t>(j - 1);
    out.cost += cost(static_cast<std::ptrdiff_t>(row_of[j] - 1), static_cast<std::ptrdiff_t>(j - 1));
  }
  return out;
}

}  // namespace locus::stats
