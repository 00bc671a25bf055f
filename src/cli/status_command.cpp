// locus status.
#include <fmt/core.h>

#include <map>

#include "cli/commands.h"
#include "cli/queue.h"
#include "cli/screen.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "io/codec.h"
#include "sweep/status.h"

namespace locus::cli {
namespace {

constexpr std::size_t kShown = 20;

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
  std::string text = state.live && !state.live->host.empty() ? "on " + state.live->host : "";
  if (state.task != nullptr) {
    text += (text.empty() ? "" : ", ") + std::string("task ") + task_text(*state.task);
    if (!state.task->time_left.empty()) text += " (" + state.task->time_left + " to its limit)";
  }
  return text;
}

// What stands below the name of a cell.
std::vector<std::string> details_of(const CellState& state, const SweepFolder& folder) {
  switch (state.place) {
    case CellPlace::kRunning:
      return {progress_text(state) + (where_text(state).empty() ? "" : ", " + where_text(state))};
    case CellPlace::kQueued:
    case CellPlace::kInTask:
      return {"task " + task_text(*state.task) + (state.task->reason == "None" ? "" : ", " + state.task->reason)};
    case CellPlace::kFailed:
      return {fmt::format("{}: {}", cell_status_name(state.outcome.status),
                          state.outcome.reason.substr(0, state.outcome.reason.find('\n'))),
              "log: " + folder.log(state.cell->hash).string()};
    default:
      return {};
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
    for (const auto& [state, count] : states)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, to_lower(state));
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

// One look for all cells of a state; of many only the first, unless all are asked for.
std::string cell_lines(const SweepStatus& status, CellPlace place, const SweepFolder& folder, bool all) {
  const std::size_t columns = stdout_is_terminal() ? static_cast<std::size_t>(screen_size().columns - 1) : std::string::npos;
  const std::string_view name = kCellPlaceNames[static_cast<std::size_t>(place)];
  const int digits = static_cast<int>(std::to_string(status.cells.size()).size());
  std::string text;
  std::size_t shown = 0, left = 0;
  for (std::size_t i = 0; i < status.cells.size(); ++i) {
    const CellState& state = status.cells[i];
    if (state.place != place) continue;
    if (!all && shown == kShown) {
      ++left;
      continue;
    }
    ++shown;
    const std::string line =
        fmt::format("{:>{}}  {}  {}  {}", i, digits, state.cell->hash, name, cell_name(status.plans, *state.cell));
    text += wrap_words(line, columns) + "\n";
    for (const std::string& detail : details_of(state, folder))
      text += wrap_words(std::string(static_cast<std::size_t>(digits) + 2, ' ') + detail, columns) + "\n";
  }
  if (left > 0) text += fmt::format("{:>{}}  and {} more that are {}; --all shows them\n", "", digits, left, name);
  return text;
}

std::string counts_text(const SweepStatus& status) {
  std::string text;
  for (std::size_t i = 0; i < status.count.size(); ++i) {
    if (status.count[i] > 0) text += fmt::format("{} {} {}", text.empty() ? ":" : ",", status.count[i], kCellPlaceNames[i]);
  }
  return counted(static_cast<std::int64_t>(status.cells.size()), "cell") + text;
}

}  // namespace

int run_status(const QueueOptions& options) {
  const SweepFolder folder(options.dir);
  const std::vector<JobRecord> jobs = read_jobs(folder);
  const SweepStatus status = sweep_status(folder, jobs, queued_tasks(jobs));
  if (status.cells.empty() && jobs.empty())
    throw ConfigError({.what = "no sweep in this folder",
                       .where = options.dir,
                       .expected = "the folder of a sweep, --out of `locus sweep` or `locus submit`"});
  if (options.json) {
    print_line(json_status(status, folder).dump(1));
    return kExitDone;
  }
  print_line(counts_text(status));
  for (const std::string& line : queue_lines(status.tasks)) print_wrapped(line);
  std::string cells;
  for (std::size_t i = 0; i < kCellPlaceNames.size(); ++i) {
    const auto place = static_cast<CellPlace>(i);
    if (options.all || place == CellPlace::kRunning || place == CellPlace::kFailed)
      cells += cell_lines(status, place, folder, options.all);
  }
  if (!cells.empty()) print_line("\n" + cells.substr(0, cells.size() - 1));
  for (const std::string& problem : status.plans.problems) message_line("warning: " + problem);
  return kExitDone;
}

}  // namespace locus::cli
