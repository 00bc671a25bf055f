// The assignment of rows to columns with the least total cost (Hungarian method with potentials, O(rows^2 columns)).
#pragma once

#include <cstdint>
#include <vector>

#include "core/matrix.h"

namespace locus::stats {

struct Assignment {
  std::vector<std::int64_t> column;  // of each row, all different
  double cost = 0;
};

// cost (n, m) finite, n <= m.
Assignment least_cost_assignment(ConstMatD cost);

}  // namespace locus::stats
