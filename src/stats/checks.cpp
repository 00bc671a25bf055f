// Messages of the shared preconditions.
#include "stats/checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/symmetry.h"

namespace locus::stats {

void require_finite(std::span<const double> values, std::string_view function) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw DataError({.what = "a value is not a finite number",
                       .where = fmt::format("{}, element {}", function, i),
                       .got = fmt::format("{}", values[i]),
                       .expected = "finite numbers only",
                       .hint = "drop or impute missing values before the statistic"});
    }
  }
}

void require_finite(ConstMatD values, std::string_view function) {
  for (std::ptrdiff_t r = 0; r < values.rows; ++r) {
    for (std::ptrdiff_t c = 0; c < values.cols; ++c) {
      if (std::isfinite(values(r, c))) continue;
      throw DataError({.what = "a matrix entry is not a finite number",
                       .where = fmt::format("{}, row {}, column {}", function, r, c),
                       .got = fmt::format("{}", values(r, c)),
                       .expected = "finite numbers only",
                       .hint = "drop the rows or columns with missing values first"});
    }
  }
}

void require_same_size(std::size_t a, std::size_t b, std::string_view function) {
  if (a == b) return;
  throw DataError({.what = "inputs differ in length",
                   .where = std::string(function),
                   .got = fmt::format("{} and {}", a, b),
                   .expected = "equal lengths"});
}

void require_at_least(std::size_t n, std::size_t minimum, std::string_view function) {
  if (n >= minimum) return;
  throw DataError({.what = "too few values",
                   .where = std::string(function),
                   .got = fmt::format("{}", n),
                   .expected = fmt::format("at least {}", minimum)});
}

void require_square(ConstMatD m, std::string_view function) {
  if (m.rows == m.cols) return;
  throw DataError({.what = "the matrix is not square",
                   .where = std::string(function),
                   .got = fmt::format("{} x {}", m.rows, m.cols),
                   .expected = "as many rows as columns"});
}

void require_symmetric(ConstMatD m, std::string_view function) {
  require_square(m, function);
  require_finite(m, function);
  if (is_symmetric(m)) return;
  throw DataError({.what = "the matrix is not symmetric",
                   .where = std::string(function),
                   .expected = "a matrix equal to its transpose",
                   .hint = "average it with its transpose if direction does not matter"});
}

void require_confidence(double confidence, std::string_view function) {
  if (confidence > 0 && confidence < 1) return;
  throw ConfigError({.what = "confidence level out of range",
                     .where = std::string(function),
                     .got = fmt::format("{}", confidence),
                     .expected = "a number between 0 and 1, such as 0.95"});
}

void require_positive(long long count, std::string_view what, std::string_view function) {
  if (count > 0) return;
  throw ConfigError({.what = fmt::format("{} must be positive", what),
                     .where = std::string(function),
                     .got = fmt::format("{}", count),
                     .expected = "1 or more"});
}

}  // namespace locus::stats
