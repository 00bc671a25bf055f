#include "sweep/status.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "run/files.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

std::unordered_set<std::string> names_in(const fs::path& folder) {
  std::unordered_set<std::string> names;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code))
    names.insert(it->path().filename().string());
  return names;
}

// The task that has a cell; of several submissions the last counts.
std::unordered_map<std::string, const QueuedTask*> tasks_by_cell(const std::vector<JobRecord>& jobs,
                                                                 const std::vector<QueuedTask>& tasks) {
  std::unordered_map<std::string, const QueuedTask*> out;
  for (const JobRecord& job : jobs) {
    std::unordered_map<std::int64_t, const QueuedTask*> by_index;
    for (const QueuedTask& task : tasks) {
      if (task.job == job.array) by_index[task.index] = &task;
    }
    for (std::size_t i = 0; i < job.cells.size(); ++i) {
      const auto found = by_index.find(static_cast<std::int64_t>(i) % job.tasks);
      if (found != by_index.end()) out[job.cells[i]] = found->second;
    }
  }
  return out;
}

}  // namespace

std::string cell_name(const PlannedCells& plans, const PlannedCell& cell) {
  std::string out = cell.label;
  for (const std::string& key : plans.keys) {
    const auto value = cell.values.find(key);
    if (value == cell.values.end() || value->second.empty()) continue;
    out += (out.empty() ? "" : " ") + key + "=" + value->second;
  }
  return out;
}

SweepStatus sweep_status(const SweepFolder& folder, const std::vector<JobRecord>& jobs, std::vector<QueuedTask> tasks) {
  SweepStatus out;
  out.plans = read_plans(folder);
  out.tasks = std::move(tasks);
  const auto by_cell = tasks_by_cell(jobs, out.tasks);
  const std::vector<CellOutcome> outcomes = cell_outcomes(folder, out.plans);
  const std::unordered_set<std::string> there = names_in(folder.cells());
  for (std::size_t i = 0; i < out.plans.cells.size(); ++i) {
    CellState state;
    state.cell = &out.plans.cells[i];
    state.outcome = outcomes[i];
    const std::string& hash = state.cell->hash;
    if (const auto task = by_cell.find(hash); task != by_cell.end()) state.task = task->second;
    const bool claimed = there.count(hash + ".lock") != 0 && is_locked(folder.lock(hash));
    if (state.outcome.status == CellStatus::kFinished) {
      state.place = CellPlace::kFinished;
    } else if (state.outcome.is_final()) {
      state.place = CellPlace::kFailed;
    } else if (claimed) {
      state.place = CellPlace::kRunning;
      state.live = read_live_state(folder.run(hash));
    } else if (state.task != nullptr) {
      state.place = state.task->state == "PENDING" ? CellPlace::kQueued : CellPlace::kInTask;
    } else if (state.outcome.is_failure()) {
      state.place = CellPlace::kFailed;
    } else if (there.count(hash) != 0) {
      state.place = CellPlace::kBegun;
    }
    ++out.count[static_cast<std::size_t>(state.place)];
    out.cells.push_back(std::move(state));
  }
  return out;
}

}  // namespace locus
