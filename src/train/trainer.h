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
#include "infer/evaluate.h"
#include "infer/model_files.h"
#include "model/encoder.h"
#include "run/run_directory.h"
#include "train/replica.h"

namespace locus {

struct Progress : TrainingState {
  const MetricRow* metrics = nullptr;  // set when an evaluation was just made
};

struct TrainHooks {
  std::function<void(const Progress&)> progress;
  std::function<void(const std::string&)> message;  // warnings, resumed from, stopped because
  // Nonzero: finish the step, write a checkpoint, return. Above 0 it is the number of a signal.
  const std::atomic<int>* stop_signal = nullptr;
};

struct TrainSetup {
  RunConfig config;
  const Dataset* dataset = nullptr;
  std::string out;
  std::string command;
  int threads = 1;
  Ranks* ranks = nullptr;  // of the processes that train this run together; all call train()
};

struct TrainOutcome {
  Summary summary;
  bool resumed = false;
};

// Trains in the folder `out` until a stop rule holds; of several ranks only the first writes there, and the others return an
// empty outcome. RankError, after a checkpoint of the last whole step, when another rank is gone. Throws DivergenceError
// (after writing the summary) on NaN, Inf or a loss a million times that of a guess.
TrainOutcome train(const TrainSetup& setup, const TrainHooks& hooks);

}  // namespace locus
