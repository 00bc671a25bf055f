// Tests of location for the few runs that a comparison has: exact by all arrangements where these can be counted, with
// ties and without spread, where t tests and normal approximations give p-values below any that the data allow.
#pragma once

#include <span>

namespace locus::stats {

struct LocationTest {
  double p = 1;           // of the difference of means: exact, or Student's / Welch's t
  double p_rank = 1;      // of ranks: Wilcoxon's signed ranks, or Mann-Whitney's U
  bool exact = false;     // p counts all arrangements
  bool constant = false;  // no spread beyond rounding: nothing to estimate an interval or an effect from
};

// Pairs: signs of the differences are exchanged. Exact up to 14 pairs. n >= 2.
LocationTest paired_location_test(std::span<const double> x, std::span<const double> y);

// Two groups: values are exchanged between them. Exact up to 20000 arrangements, such as 8 against 8. n >= 2 each.
LocationTest two_sample_location_test(std::span<const double> x, std::span<const double> y);

}  // namespace locus::stats
