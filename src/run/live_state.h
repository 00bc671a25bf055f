// Where a run in training stands: a small file that the process which trains writes about once a second, and that is
// believed only while a process holds the run's lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

namespace locus {

struct TrainingState {
  std::int64_t epoch = 0;  // epochs finished
  std::int64_t step = 0;
  std::int64_t total_steps = 0;  // 0: not known beforehand
  double epoch_fraction = 0;
  double loss = std::numeric_limits<double>::quiet_NaN();      // running mean of this epoch; NaN before its first step
  double accuracy = std::numeric_limits<double>::quiet_NaN();  // the same; NaN where the task has none
  double seconds = 0;                                          // of training, those before an interruption included
  double steps_per_second = 0;                                 // of this process; 0: not known yet
  double seconds_left = -1;                                    // negative: not known
};

struct LiveState : TrainingState {
  std::int64_t pid = 0;  // 0 and "" before the process has written of itself
  std::string host;
  std::string since;     // when the process began with this run, "2025-01-31T12:00:00Z"
  double heard_ago = 0;  // seconds since it last wrote
};

// This process is the one that trains. A write that fails costs only who looks on: there is no error, and nothing is synced.
void write_live_state(const std::filesystem::path& run, const TrainingState& state, const std::string& since);
void remove_live_state(const std::filesystem::path& run);

// Nothing when no process holds the lock of the run, whatever a killed one left behind.
std::optional<LiveState> read_live_state(const std::filesystem::path& run);

}  // namespace locus
