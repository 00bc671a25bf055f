#include "bench/machine.h"

#include <fmt/core.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "bench/process.h"
#include "bench/workloads.h"
#include "core/text.h"
#include "kernels/peak.h"

namespace locus::bench {
namespace {

// Processor time of this thread: what other processes take is not the core's fault.
double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace

double fma_gflops(int threads, double seconds) {
  std::atomic<int> ready{0};
  std::atomic<bool> stop{false};
  std::vector<double> rates(static_cast<std::size_t>(threads));
  std::atomic<float> sink{0};
  const auto work = [&](int index) {
    float kept = kernels::multiply_add_burst(0).value;
    ready.fetch_add(1);
    while (ready.load() < threads) {
    }
    const double start = thread_seconds();
    double operations = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      const kernels::Burst burst = kernels::multiply_add_burst(kept * 1e-30f);
      kept += burst.value;
      operations += burst.operations;
    }
    const double took = thread_seconds() - start;
    rates[static_cast<std::size_t>(index)] = operations / took / 1e9;
    sink.store(kept);
  };
  std::vector<std::thread> workers;
  try {
    for (int i = 0; i < threads; ++i) workers.emplace_back(work, i);
  } catch (...) {
    stop = true;
    for (std::thread& t : workers) t.join();
    throw;
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (std::thread& t : workers) t.join();
  double total = 0;
  for (const double r : rates) total += r;
  return total;
}

std::vector<GemmRate> onednn_rates(const std::vector<std::string>& workloads) {
  const std::filesystem::path program = std::filesystem::path(this_program()).parent_path() / "onednn_gemm";
  std::vector<GemmRate> rates;
  if (!std::filesystem::exists(program)) return rates;
  for (const std::string& name : workloads) {
    const Workload w = make_workload(name);
    const long c = w.config.model.width, m = w.config.train.batch * w.shape.tokens;
    for (const auto& [n, k] : {std::pair{3 * c, c}, {c, c}, {4 * c, c}, {c, 4 * c}}) {
      rates.push_back({name, m, n, k, 0});
    }
  }
  std::vector<std::string> command = {program.string()};
  for (const GemmRate& r : rates) command.push_back(fmt::format("{}x{}x{}", r.m, r.n, r.k));
  ChildProcess child(command, {{"OMP_NUM_THREADS", "1"}});
  for (GemmRate& r : rates) r.gflops = std::stod(child.read_line());
  return rates;
}

}  // namespace locus::bench
