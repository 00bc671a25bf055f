// The nearest rows of a matrix by Euclidean distance.
#pragma once

#include <cstdint>
#include <vector>

#include "core/matrix.h"

namespace locus::stats {

// For each row of `of` the k nearest rows of `among`, nearest first, ties by index; (rows of `of`) x k. k <= rows of
// `among`.
std::vector<std::vector<std::int64_t>> nearest_rows(ConstMatD among, ConstMatD of, std::int64_t k);

}  // namespace locus::stats
