// Who stands on which side: roles of runs, or of windows within runs, by subject, run, time or drawn sample.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "config/masked_config.h"
#include "data/series.h"

namespace locus {

enum class SplitRole { kTrain, kValidation, kTest, kFurther };
inline constexpr std::array<std::string_view, 4> kSplitRoleNames = {"train", "validation", "test", "further"};

// Windows [0, windows) of one run, by role; ascending within a role.
struct RunWindows {
  std::array<std::vector<std::int64_t>, 4> of_role;
};

// One entry a run. Ids of digits sort as numbers. Test subjects (or runs): the one of rank leave_out, else those named,
// else the last test_last by id, else the last round(test_fraction * n), at least one; validation: the last of the rest. By
// time the end of each run is the test block and what precedes it validation; by sample windows are drawn (always the same
// ones). Runs of series.test_files are "further", or "test" when nothing else is. DataError when a subject would stand on
// both sides (split_by = subject) or nothing is left to train on.
std::vector<RunWindows> split_windows(const RegionSeries& series, const SeriesConfig& config);

// Digits by value, then everything else by bytes.
bool id_less(const std::string& a, const std::string& b);

}  // namespace locus
