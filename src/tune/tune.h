// A search with its runs: ordinary run directories in the folder of a sweep, trained a stage at a time by the workers of
// src/sweep and never begun again. It may be killed at any moment; the same call goes on.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "sweep/run.h"
#include "tune/answer.h"
#include "tune/store.h"

namespace locus {

enum class TuneAim { kScore, kReadability };

struct TuneQuestion {
  RunConfig base;
  std::vector<TuneKey> keys;  // empty: pe.sigma from 0.01 to 3
  std::string budget = "4runs";
  std::string metric;  // "": the validation split's measure of the task
  TuneAim aim = TuneAim::kScore;
  bool rivals = true;
};

struct TuneWork {
  std::string out;
  std::string program;  // the binary `locus`
  std::string cache;    // folder of generated data
  std::string isa;
  int jobs = 1;
  int threads = 1;  // of each run
  const std::atomic<int>* stop_signal = nullptr;
};

struct TuneHooks {
  std::function<void(const std::string&)> message;
  std::function<void(const SweepPlan&)> stage;  // begins; its cells are in the plan
  std::function<SweepHooks(const SweepPlan&)> sweep;
};

struct TuneOutcome {
  std::optional<TuneAnswer> answer;  // nothing when it was stopped or runs failed
  AnswerWords words;
  std::vector<std::string> failures;  // "pe.sigma 0.1 seed 3: crashed: ... (log)"
  std::int64_t runs = 0, spent = 0, budget = 0;
  double trained_seconds = 0;  // by all runs, as their summaries say
  double seconds = 0;          // of this call
};

// ConfigError for a question that cannot be answered: a metric of another split than validation, stop rules by time, keys
// that change the data or the length, a budget that is too small, another search in the folder.
TuneOutcome tune(const TuneQuestion& question, const TuneWork& work, const TuneHooks& hooks);

// Steps of "5000steps", "4runs" and "20m" (s, m, h: of training in one process, at the speed that is measured).
struct TuneBudget {
  double amount = 0;
  enum class Unit { kSteps, kRuns, kSeconds } unit = Unit::kRuns;
};
TuneBudget parse_budget(const std::string& text);

// The split and measure that decide; ConfigError for any other split than validation.
std::string tune_metric(const RunConfig& config, const std::string& asked);

}  // namespace locus
