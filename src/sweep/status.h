// Where every cell of a folder stands, from its files and from what the batch system says of the tasks.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "run/live_state.h"
#include "sweep/jobs.h"
#include "sweep/results.h"

namespace locus {

enum class CellPlace { kWaiting, kQueued, kInTask, kRunning, kBegun, kFinished, kFailed };
// in task: of a running task that has not come to it; begun: it has a checkpoint or less, and nobody works on it.
inline constexpr std::array<std::string_view, 7> kCellPlaceNames = {"waiting", "queued",   "in task", "running",
                                                                    "begun",   "finished", "failed"};

struct CellState {
  const PlannedCell* cell = nullptr;
  CellPlace place = CellPlace::kWaiting;
  CellOutcome outcome;
  std::optional<LiveState> live;     // while it runs
  const QueuedTask* task = nullptr;  // that has it
};

struct SweepStatus {
  PlannedCells plans;
  std::vector<QueuedTask> tasks;
  std::vector<CellState> cells;  // as in plans
  std::array<std::int64_t, kCellPlaceNames.size()> count{};
};

std::string cell_name(const PlannedCells& plans, const PlannedCell& cell);  // case and settings

// `tasks`: of the jobs in this folder that are queued or running.
SweepStatus sweep_status(const SweepFolder& folder, const std::vector<JobRecord>& jobs, std::vector<QueuedTask> tasks);

}  // namespace locus
