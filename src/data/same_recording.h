// The same recording under two names: byte copies, and equal series in other formats, scales or precisions.
#pragma once

#include <utility>
#include <vector>

#include "data/series.h"
#include "data/series_split.h"

namespace locus {

// Pairs of runs that hold the same series: equal bytes, or the same length and equal values of every token that is
// looked at (some of them, spread) after scaling each to mean 0 and deviation 1, to 1e-3.
std::vector<std::pair<std::size_t, std::size_t>> same_recordings(const RegionSeries& series);

// DataError naming both files when a recording stands on two sides of the split under two names.
void refuse_same_recordings(const RegionSeries& series, const std::vector<RunWindows>& windows);

}  // namespace locus
