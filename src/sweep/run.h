// Runs the cells of a plan, a few processes at a time, until all are done or someone says stop. It may be killed at any
// moment and started again, also beside others in the same folder.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sweep/folder.h"
#include "sweep/plan.h"

namespace locus {

struct SweepRun {
  const SweepPlan* plan = nullptr;
  std::string out;
  std::vector<std::int64_t> cells;  // indices, in the order they are to run
  std::string program;              // the binary `locus`
  int jobs = 1;
  int threads = 1;  // of each worker
  // In front of the program, such as mpirun -n 8: the ranks of every cell. Empty: a process without others.
  std::vector<std::string> launcher;
  std::string isa;  // instruction set of every cell; "" leaves it to the worker
  int retry = 0;    // further attempts of a cell that failed; a divergence repeats itself and is not tried again
  bool fail_fast = false;
  const std::atomic<int>* stop_signal = nullptr;  // nonzero: a signal came before the run began
  double max_seconds = 0;                         // 0: no limit; then workers write a checkpoint and the sweep ends
  bool collect = true;                            // false: another process gathers the results
  bool baselines = true;                          // false: workers leave them out
};

struct SweepEvent {
  enum class Kind { kStarted, kEnded, kRetried };
  Kind kind = Kind::kStarted;
  const SweepCell* cell = nullptr;
  CellOutcome outcome;  // of an end
  double seconds = 0;
};

struct SweepProgress {
  std::int64_t total = 0;
  std::int64_t done = 0;
  std::int64_t failed = 0;
  std::int64_t running = 0;
  std::int64_t elsewhere = 0;  // run by another process in the same folder
  double seconds_left = -1;
  std::vector<double> values;            // of the metric, finished cells
  std::vector<const SweepCell*> active;  // running now

  std::int64_t left() const { return total - done - failed - running; }
};

struct SweepHooks {
  std::function<void(const SweepEvent&)> event;
  std::function<void(const SweepProgress&)> tick;   // at least once a second
  std::function<void(const std::string&)> message;  // what a reader of the log should know
};

struct SweepFailure {
  const SweepCell* cell = nullptr;
  CellOutcome outcome;
};

struct SweepOutcome {
  std::int64_t finished = 0;  // all in all
  std::int64_t ran = 0;       // of these, by this call
  std::int64_t left = 0;
  std::vector<SweepFailure> failures;
  bool stopped = false;  // by a signal or the time limit
  double seconds = 0;
};

// TERM, INT, USR1 and USR2 are passed on to the workers; the second one kills them.
SweepOutcome run_cells(const SweepRun& run, const SweepHooks& hooks);

}  // namespace locus
