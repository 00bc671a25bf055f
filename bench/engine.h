// Our side of the benchmark: training steps and forward passes of one workload.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/process.h"
#include "bench/workloads.h"
#include "core/parallel.h"
#include "train/optimizer.h"
#include "train/step.h"

namespace locus::bench {

enum class BenchMode { kTrain, kInfer };
inline const char* mode_name(BenchMode mode) { return mode == BenchMode::kTrain ? "train" : "infer"; }

class BenchEngine {
 public:
  BenchEngine(const Workload& workload, BenchMode mode, int threads);

  double first_loss();               // of the initial parameters, in evaluation mode
  StepTime milliseconds(int steps);  // a step, over so many steps
  void step();

  const Workload& workload() const { return workload_; }
  const ModelStructure& structure() const { return structure_; }
  const float* params() const { return params_.data(); }

 private:
  void train();
  void infer();

  Workload workload_;
  BenchMode mode_;
  ThreadPool pool_;
  ModelStructure structure_;
  AlignedBuffer<float> params_;
  Optimizer optimizer_;
  Prepared prepared_;
  Examples batch_;
  std::unique_ptr<StepRunner> runner_;                // training
  std::vector<std::unique_ptr<EncoderPass>> passes_;  // inference, one a worker
  std::int64_t step_ = 0;
};

// The process's peak memory in kB. Not getrusage: its maximum counts the parent's memory before exec.
std::int64_t peak_memory_kb();

// What a process that does nothing but one workload tells about itself, as one line of JSON:
// {"ms", "peak_kb", "steps"}.
int run_alone(const std::string& workload, BenchMode mode, int steps, int threads);

}  // namespace locus::bench
