// The tasks: one row each, which tells what is predicted, with which loss, which read-outs fit, its settings, and the
// measures that runs are compared by. Rows stand in src/infer/tasks.cpp.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/sections.h"

namespace locus {

class ThreadPool;
enum class Readout : int;
struct Dataset;
struct Evaluation;
struct Examples;
struct RunConfig;

struct MeasureRow {
  std::string name = {};   // "mse"
  std::string words = {};  // in reports: "error (MSE)"
  bool higher_is_better = true;
  bool is_fraction = false;  // shown in percent
  std::string note = {};     // a sentence for readers of a report
};

enum class LossKind { kCrossEntropy, kSquaredError };

struct TaskRow {
  std::string name = {};     // "masked"
  std::string summary = {};  // what is predicted
  LossKind loss = LossKind::kCrossEntropy;
  bool hides_tokens = false;                 // by masks, drawn anew for every step
  std::vector<Readout> readouts = {};        // that fit
  std::vector<MeasureRow> measures = {};     // the first is what runs are compared by
  std::vector<ConfigSection> sections = {};  // its settings
  void (*check)(const RunConfig&) = nullptr;
  // Names and values of the measures of an evaluated split, the loss aside.
  std::vector<std::pair<std::string, double>> (*measure)(const Dataset&, const Examples&, const Evaluation&) = nullptr;
  void (*add_baselines)(Dataset&, ThreadPool&) = nullptr;  // what simple predictors reach, on the evaluation masks
};

const std::deque<TaskRow>& task_rows();
std::vector<std::string> task_names();                // with "auto" first
const TaskRow& task_row(std::string_view name);       // ConfigError with the nearest name for an unknown one
const TaskRow& task_of(const RunConfig& config);      // task, or the first one of the source where it is auto
void require_task_fits(const RunConfig& config);      // ConfigError when source, task and read-out do not go together
std::string default_metric(const RunConfig& config);  // what runs are compared by: "heldout.accuracy"
std::vector<std::string> default_metrics();           // of every source and task, in the order of the rows

// The measure that a metric is one of: "heldout.accuracy.ternary", "test.mse_ridge"; nullptr for a loss and others.
const MeasureRow* measure_of(std::string_view metric);

// A program's own, before its first configuration is made. ConfigError when the name is taken.
void register_task(TaskRow row);

std::vector<TaskRow> built_in_tasks();

}  // namespace locus
