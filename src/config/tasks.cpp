#include "config/tasks.h"

#include <fmt/core.h>

#include <algorithm>

#include "config/run_config.h"
#include "config/sources.h"
#include "core/error.h"
#include "core/text.h"

namespace locus {
namespace {

constexpr const char* kAuto = "auto";

std::deque<TaskRow>& known_tasks() {
  static std::deque<TaskRow> all = [] {
    std::vector<TaskRow> known = built_in_tasks();
    return std::deque<TaskRow>(known.begin(), known.end());
  }();
  return all;
}

std::string metric_of(const SourceRow& source, const TaskRow& task) { return source.split + "." + task.measures[0].name; }

std::string readout_list(const TaskRow& task) {
  std::string out;
  for (std::size_t i = 0; i < task.readouts.size(); ++i) {
    if (i > 0) out += i + 1 == task.readouts.size() ? " or " : ", ";
    out += kReadoutNames[static_cast<std::size_t>(task.readouts[i])];
  }
  return out;
}

}  // namespace

const std::deque<TaskRow>& task_rows() { return known_tasks(); }

std::vector<std::string> task_names() {
  std::vector<std::string> names = {kAuto};
  for (const TaskRow& row : known_tasks()) names.push_back(row.name);
  return names;
}

const TaskRow& task_row(std::string_view name) {
  for (const TaskRow& row : known_tasks()) {
    if (row.name == name) return row;
  }
  throw no_such_choice({"task", "the configuration"}, std::string(name), task_names(), "`locus config` lists every key");
}

const TaskRow& task_of(const RunConfig& config) {
  return task_row(config.task == kAuto ? source_of(config).tasks.front() : config.task);
}

void require_task_fits(const RunConfig& c) {
  const SourceRow& source = source_of(c);
  const TaskRow& task = task_of(c);
  if (!source.serves(task.name)) {
    contradiction(fmt::format("study = {} cannot have task = {}", c.study, task.name),
                  "use " + join(source.tasks, ", ") + ", or auto");
  }
  if (std::find(task.readouts.begin(), task.readouts.end(), c.model.readout) == task.readouts.end()) {
    contradiction(fmt::format("study = {} cannot use model.readout = {}", c.study,
                              kReadoutNames[static_cast<std::size_t>(c.model.readout)]),
                  "use " + readout_list(task));
  }
}

std::string default_metric(const RunConfig& config) { return metric_of(source_of(config), task_of(config)); }

std::vector<std::string> default_metrics() {
  std::vector<std::string> out;
  for (const SourceRow& source : source_rows()) {
    for (const std::string& task : source.tasks) {
      const std::string metric = metric_of(source, task_row(task));
      if (std::find(out.begin(), out.end(), metric) == out.end()) out.push_back(metric);
    }
  }
  return out;
}

const MeasureRow* measure_of(std::string_view metric) {
  const MeasureRow* longest = nullptr;
  for (const TaskRow& task : known_tasks()) {
    for (const MeasureRow& m : task.measures) {
      const bool is_longer = longest == nullptr || m.name.size() > longest->name.size();
      if (is_longer && metric.find(m.name) != std::string_view::npos) longest = &m;
    }
  }
  return longest;
}

void register_task(TaskRow row) {
  LOCUS_CHECK(row.measure != nullptr && !row.measures.empty() && !row.readouts.empty(),
              "a task has measures, a function that computes them, and read-outs");
  const std::vector<std::string> names = task_names();
  if (std::find(names.begin(), names.end(), row.name) != names.end())
    throw ConfigError({.what = "there is a task of this name", .where = "register_task", .got = row.name});
  adopt_sections(row.sections);
  known_tasks().push_back(std::move(row));
}

}  // namespace locus
