#include "bench/engine.h"

#include <fmt/core.h>
#include <time.h>

#include <chrono>
#include <fstream>

#include "cli/terminal.h"
#include "core/json.h"
#include "core/rng.h"

namespace locus::bench {
namespace {

double process_cpu_ms() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

}  // namespace

BenchEngine::BenchEngine(const Workload& workload, BenchMode mode, int threads)
    : workload_(workload),
      mode_(mode),
      pool_(threads),
      structure_(make_structure(workload.config, workload.shape, workload.pe_data)),
      params_(static_cast<std::size_t>(structure_.layout.floats())),
      optimizer_(workload.config.optim, structure_.layout),
      prepared_(structure_),
      batch_(synthetic_batch(workload)) {
  initialize_parameters(structure_, workload.config.seed, params_.data());
  prepared_.update(params_.data(), {}, &pool_);
  if (mode_ == BenchMode::kTrain) {
    runner_ = std::make_unique<StepRunner>(structure_, pool_);
    return;
  }
  const std::int64_t chunk = std::min(microbatch_sequences(workload.config, structure_.tokens), batch_.count);
  for (int i = 0; i < pool_.threads(); ++i) {
    passes_.push_back(std::make_unique<EncoderPass>(structure_, chunk, admitted_savings(structure_)));
  }
}

double BenchEngine::first_loss() {
  if (mode_ == BenchMode::kTrain) return runner_->run(prepared_, batch_, {}).loss;
  StepRunner runner(structure_, pool_);
  return runner.run(prepared_, batch_, {}).loss;
}

void BenchEngine::train() {
  StepContext context;
  context.training = true;
  context.seed = derive_seed(1, "bench/step", static_cast<std::uint64_t>(step_));
  prepared_.update(params_.data(), {true, context.seed}, &pool_);
  runner_->run(prepared_, batch_, context);
  optimizer_.update(step_++, runner_->gradients(), params_.data(), {}, &pool_);
}

void BenchEngine::infer() {
  const std::int64_t chunk = passes_.front()->max_sequences();
  const auto tasks = static_cast<int>((batch_.count + chunk - 1) / chunk);
  pool_.run(tasks, [&](int task, int worker) {
    const std::int64_t first = task * chunk;
    Microbatch part = microbatch_of(structure_.shape, batch_, first, std::min(chunk, batch_.count - first));
    part.labels = nullptr;
    part.targets = nullptr;
    passes_[static_cast<std::size_t>(worker)]->evaluate(prepared_, part, {});
  });
}

void BenchEngine::step() { mode_ == BenchMode::kTrain ? train() : infer(); }

StepTime BenchEngine::milliseconds(int steps) {
  const double cpu = process_cpu_ms();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) step();
  const double wall = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return {wall / steps, (process_cpu_ms() - cpu) / steps};
}

std::int64_t peak_memory_kb() {
  std::ifstream status("/proc/self/status");
  std::string key;
  std::int64_t value = 0;
  while (status >> key) {
    if (key == "VmHWM:" && status >> value) return value;
    status.ignore(1 << 16, '\n');
  }
  return 0;
}

int run_alone(const std::string& workload, BenchMode mode, int steps, int threads) {
  BenchEngine engine(make_workload(workload), mode, threads);
  const StepTime t = engine.milliseconds(steps);
  cli::print_line(Json{{"ms", t.wall}, {"cpu_ms", t.cpu}, {"peak_kb", peak_memory_kb()}, {"steps", steps}}.dump());
  return cli::kExitDone;
}

}  // namespace locus::bench
