#include "sweep/estimate.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>

#include "core/clock.h"
#include "core/parallel.h"
#include "data/datasets.h"
#include "io/temporary.h"
#include "run/files.h"
#include "train/trainer.h"

namespace locus {
namespace {

constexpr double kCalibrationSeconds = 2;
constexpr std::size_t kCalibrations = 4;

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct ScratchFolder {
  fs::path path = fs::temp_directory_path() / ("locus-calibration-" + random_hex());
  ScratchFolder() = default;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
};

double evaluation_seconds(const RunConfig& config, const Dataset& dataset, const ModelStructure& structure, int threads) {
  ThreadPool pool(threads);
  AlignedBuffer<float> params(static_cast<std::size_t>(structure.layout.floats()));
  initialize_parameters(structure, config.seed, params.data());
  Prepared prepared(structure);
  prepared.update(params.data(), {}, &pool);
  EvalOptions options;
  options.limit = config.watch.eval_limit;
  const Clock::time_point start = Clock::now();
  for (const auto& [name, examples] : dataset.splits) {
    if (name != "train") evaluate(structure, prepared, dataset, name, options, pool);
  }
  return seconds_since(start);
}

}  // namespace

CellCost measure_cell(const RunConfig& config, double seconds, int threads) {
  CellCost cost;
  const Clock::time_point start = Clock::now();
  const Dataset dataset = make_dataset(config);
  const double data_seconds = seconds_since(start);
  const ModelStructure structure = structure_for(config, dataset);
  const double evaluation = evaluation_seconds(config, dataset, structure, threads);

  const ScratchFolder scratch;
  TrainSetup setup;
  setup.config = config;
  setup.config.watch.eval_every = 1'000'000'000;  // evaluations are counted apart
  setup.dataset = &dataset;
  setup.out = scratch.path.string();
  setup.threads = threads;
  std::atomic<int> enough{0};
  Progress last;
  TrainHooks hooks;
  hooks.stop_signal = &enough;
  hooks.progress = [&](const Progress& p) {
    if (p.metrics == nullptr && p.steps_per_second > 0) last = p;
    if (p.steps_per_second > 0 && static_cast<double>(p.step) / p.steps_per_second > seconds) enough = 1;
  };
  const TrainOutcome outcome = train(setup, hooks);
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) cost.peak_bytes = static_cast<double>(usage.ru_maxrss) * 1024;
  const auto model = static_cast<double>(structure.layout.floats()) * sizeof(float);
  // init, final, two checkpoints with two moments each, snapshots; texts and predictions.
  cost.disk_bytes = model * (8.0 + static_cast<double>(config.watch.snapshots.size())) + 300e3;
  cost.upper = config.stop.loss_below > 0;
  if (outcome.summary.status != RunStatus::kInterrupted) {
    cost.steps_per_second = static_cast<double>(outcome.summary.steps) / std::max(1e-9, outcome.summary.seconds);
    cost.seconds = data_seconds + outcome.summary.seconds +
                   evaluation * static_cast<double>(outcome.summary.epochs) / static_cast<double>(config.watch.eval_every);
    return cost;
  }
  cost.steps_per_second = last.steps_per_second;
  cost.seconds = -1;
  if (last.total_steps > 0) {
    const auto steps = static_cast<double>(last.total_steps);
    const double epoch_steps =
        static_cast<double>(last.step) / std::max(1e-9, static_cast<double>(last.epoch) + last.epoch_fraction);
    const double evaluations = steps / epoch_steps / static_cast<double>(config.watch.eval_every) + 2;
    cost.seconds = data_seconds + steps / last.steps_per_second + evaluations * evaluation;
  }
  return cost;
}

std::string cost_group(const RunConfig& config) {
  RunConfig copy = config;
  std::string text = std::string(pe_kind_name(copy.pe.kind));
  const FieldList list = describe(copy);
  for (const Field& f : list.fields()) {
    for (const char* part : {"study", "model.", "train.", "stop.", "lst.", "series.", "nmar.", "mask.", "watch.eval"}) {
      if (f.path.starts_with(part)) text += "|" + f.text();
    }
  }
  return text;
}

SweepCost estimate_cells(const SweepPlan& plan, const std::vector<const SweepCell*>& cells, int threads,
                         const std::atomic<int>& stop) {
  std::map<std::string, std::pair<const SweepCell*, std::int64_t>> groups;
  for (const SweepCell* cell : cells) {
    auto& group = groups[cost_group(plan.config(*cell))];
    if (group.first == nullptr) group.first = cell;
    ++group.second;
  }
  SweepCost out;
  out.groups = groups.size();
  std::vector<std::pair<const SweepCell*, std::int64_t>> order;
  for (const auto& [text, group] : groups) order.push_back(group);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first->index < b.first->index; });
  double counted = 0;
  for (const auto& [cell, count] : order) {
    if (out.measured == kCalibrations || stop != 0) break;
    const CellCost cost = measure_cell(plan.config(*cell), kCalibrationSeconds, threads);
    if (cost.seconds < 0) out.known = false;
    out.upper = out.upper || cost.upper;
    out.seconds += cost.seconds * static_cast<double>(count);
    out.disk += cost.disk_bytes * static_cast<double>(count);
    out.peak_bytes = std::max(out.peak_bytes, cost.peak_bytes);
    counted += static_cast<double>(count);
    ++out.measured;
  }
  if (counted > 0) {
    out.seconds *= static_cast<double>(cells.size()) / counted;
    out.disk *= static_cast<double>(cells.size()) / counted;
  }
  return out;
}

}  // namespace locus
