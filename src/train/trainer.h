// The training loop of one run: steps, evaluation, checkpoints, stop rules and exact resume. It never prints: what happens
// is told to the hooks.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/matrix.h"
#include "core/parallel.h"
#include "data/examples.h"
#include "model/encoder.h"
#include "run/run_directory.h"
#include "train/batches.h"
#include "train/evaluate.h"
#include "train/optimizer.h"
#include "train/step.h"

namespace locus {

struct Progress {
  std::int64_t epoch = 0;  // epochs finished
  std::int64_t step = 0;
  std::int64_t total_steps = 0;  // 0: not known beforehand
  double epoch_fraction = 0;
  double loss = 0;      // running mean of this epoch
  double accuracy = 0;  // the same, classification
  double steps_per_second = 0;
  double seconds_left = -1;            // negative: not known
  const MetricRow* metrics = nullptr;  // set when an evaluation was just made
};

struct TrainHooks {
  std::function<void(const Progress&)> progress;
  std::function<void(const std::string&)> message;  // warnings, resumed from, stopped because
  const std::atomic<int>* stop_signal = nullptr;    // nonzero: finish the step, write a checkpoint, return
};

struct TrainSetup {
  RunConfig config;
  const Dataset* dataset = nullptr;
  std::string out;
  std::string command;
  int threads = 1;
};

struct TrainOutcome {
  Summary summary;
  bool resumed = false;
};

// Trains in the folder `out` until a stop rule holds. Throws DivergenceError (after writing the summary) on NaN or Inf.
TrainOutcome train(const TrainSetup& setup, const TrainHooks& hooks);

// The structure of a run's model for a data set; reads pe.file where pe.init = file.
ModelStructure structure_for(const RunConfig& config, const Dataset& dataset);

// pe.init = file with a stored model: each block's table from the tensor of its name, where there is one.
void load_given_tables(const ModelStructure& structure, float* params);

// config.json beside a model: nested configuration, "shape", "coordinates".
std::string model_config_json(const ModelStructure& structure, const Dataset& dataset);

// Copies a stored model's tensors into an arena; IoError names what is missing, extra or of another shape.
void load_parameters(const ModelStructure& structure, const TensorFile& file, float* params);
std::vector<TensorView> parameter_views(const ModelStructure& structure, const float* params);

DatasetInfo dataset_info(const Dataset& dataset);

}  // namespace locus
