// What `locus watch` shows of runs in training: counts, time left, the best on validation, curves and failures, as lines
// that fit a screen. Made from a table of runs alone, so that it can be tested without a terminal.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/screen.h"
#include "results/compare_table.h"

namespace locus::cli {

struct WatchCounts {
  std::size_t all = 0, done = 0, training = 0, failed = 0;
  double seconds_left = -1;  // negative: not known

  std::size_t waiting() const { return all - done - training - failed; }
  bool operator==(const WatchCounts&) const = default;
};
WatchCounts count_runs(const RunTable& table);

// The name of the measure that is followed: of the validation split where there is one, else the training loss.
std::string followed_measure(const std::vector<std::string>& names);

// Values as bars of eight heights, the newest last; equal values stand in the middle, and what is not finite is a gap.
std::string sparkline(const std::vector<double>& values, std::size_t columns);

struct WatchPicture {
  // The values of a run's evaluations, oldest first, and what they are; called for runs in training only.
  std::function<std::pair<std::string, std::vector<double>>(const RunRow&)> curve;
  ScreenSize screen;
};
std::vector<std::string> watch_lines(const RunTable& table, const std::string& title, const WatchPicture& picture);
std::string watch_status(const WatchCounts& counts);  // one line

}  // namespace locus::cli
