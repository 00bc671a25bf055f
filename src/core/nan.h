// A number that is not there.
#pragma once

#include <limits>

namespace locus {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace locus
