// locus status.
#include <fmt/core.h>

#include <map>

#include "cli/commands.h"
#include "cli/queue.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "io/codec.h"
#include "sweep/status.h"

namespace locus::cli {
namespace {

std::string task_text(const QueuedTask& task) {
  return task.index < 0 ? task.job : fmt::format("{}_{}", task.job, task.index);
}

std::string progress_text(const CellState& state) {
  if (!state.live) return "starting";
  std::string text = fmt::format("epoch {}", state.live->epoch);
  if (state.live->total_steps > 0)
    text += fmt::format(", {:.0f} %",
                        100.0 * static_cast<double>(state.live->step) / static_cast<double>(state.live->total_steps));
  if (state.live->seconds_left >= 0) text += ", " + human_seconds(state.live->seconds_left) + " left";
  return text;
}

std::string where_text(const CellState& state) {
  std::string text = state.live ? state.live->host : "";
  if (state.task != nullptr) {
    text += (text.empty() ? "" : ", ") + std::string("task ") + task_text(*state.task);
    if (!state.task->time_left.empty()) text += " (" + state.task->time_left + " to its limit)";
  }
  return text;
}

std::string detail_of(const CellState& state, const SweepFolder& folder) {
  switch (state.place) {
    case CellPlace::kRunning:
      return progress_text(state) + (where_text(state).empty() ? "" : "; " + where_text(state));
    case CellPlace::kQueued:
    case CellPlace::kInTask:
      return "task " + task_text(*state.task) + (state.task->reason == "None" ? "" : ", " + state.task->reason);
    case CellPlace::kFailed:
      return fmt::format("{}: {}; log {}", cell_status_name(state.outcome.status),
                         state.outcome.reason.substr(0, state.outcome.reason.find('\n')),
                         folder.log(state.cell->hash).string());
    default:
      return "";
  }
}

// "12: 3 running, 40 pending (Resources)", a line for each job.
std::vector<std::string> queue_lines(const std::vector<QueuedTask>& tasks) {
  std::map<std::string, std::map<std::string, int>> jobs;
  std::map<std::string, std::string> reasons;
  for (const QueuedTask& task : tasks) {
    ++jobs[task.job][task.state];
    if (task.state == "PENDING") reasons[task.job] = task.reason;
  }
  std::vector<std::string> lines;
  for (const auto& [job, states] : jobs) {
    std::string text;
    for (const auto& [state, count] : states) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, state);
    if (const auto reason = reasons.find(job); reason != reasons.end()) text += " (" + reason->second + ")";
    lines.push_back(fmt::format("job {}: {}", job, text));
  }
  return lines;
}

Json json_status(const SweepStatus& status, const SweepFolder& folder) {
  Json json;
  for (std::size_t i = 0; i < status.count.size(); ++i) json["count"][kCellPlaceNames[i]] = status.count[i];
  json["tasks"] = Json::array();
  for (const QueuedTask& task : status.tasks)
    json["tasks"].push_back({{"task", task_text(task)},
                             {"state", task.state},
                             {"time_left", task.time_left},
                             {"node", task.node},
                             {"reason", task.reason}});
  json["cells"] = Json::array();
  for (const CellState& state : status.cells) {
    Json cell = {{"cell", state.cell->hash},
                 {"name", cell_name(status.plans, *state.cell)},
                 {"state", kCellPlaceNames[static_cast<std::size_t>(state.place)]}};
    if (state.place == CellPlace::kFailed) {
      cell["reason"] = state.outcome.reason;
      cell["log"] = folder.log(state.cell->hash).string();
    }
    if (state.task != nullptr) cell["task"] = task_text(*state.task);
    if (state.live) {
      cell["epoch"] = state.live->epoch;
      cell["step"] = state.live->step;
      cell["seconds_left"] = json_value(state.live->seconds_left);
      cell["host"] = state.live->host;
    }
    json["cells"].push_back(std::move(cell));
  }
  return json;
}

}  // namespace

int run_status(const QueueOptions& options) {
  const SweepFolder folder(options.dir);
  const std::vector<JobRecord> jobs = read_jobs(folder);
  const SweepStatus status = sweep_status(folder, jobs, queued_tasks(jobs));
  if (status.cells.empty())
    throw ConfigError({.what = "no sweep in this folder",
                       .where = options.dir,
                       .expected = "the folder of a sweep, --out of `locus sweep` or `locus submit`"});
  if (options.json) {
    print_line(json_status(status, folder).dump(1));
    return kExitDone;
  }
  std::string counts;
  for (std::size_t i = 0; i < status.count.size(); ++i) {
    if (status.count[i] > 0) counts += fmt::format(", {} {}", status.count[i], kCellPlaceNames[i]);
  }
  print_line(fmt::format("{} cells{}", status.cells.size(), counts));
  for (const std::string& line : queue_lines(status.tasks)) print_line(line);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < status.cells.size(); ++i) {
    const CellState& state = status.cells[i];
    const bool shown = options.all || state.place == CellPlace::kRunning || state.place == CellPlace::kFailed;
    if (!shown) continue;
    rows.push_back({std::to_string(i), state.cell->hash, std::string(kCellPlaceNames[static_cast<std::size_t>(state.place)]),
                    cell_name(status.plans, *state.cell), detail_of(state, folder)});
  }
  if (!rows.empty()) print_line(text_table({"#", "cell", "state", "settings", ""}, rows));
  for (const std::string& problem : status.plans.problems) message_line("warning: " + problem);
  return kExitDone;
}

}  // namespace locus::cli
