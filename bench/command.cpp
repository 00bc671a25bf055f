// locus bench: peak of the machine, workloads against PyTorch, start-up times; growth and sweeps in files of their own.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "bench/compare.h"
#include "bench/machine.h"
#include "bench/process.h"
#include "bench/scaling.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/isa.h"
#include "core/json.h"
#include "run/build_info.h"

namespace locus::bench {
namespace {

using cli::BenchOptions;
using cli::message_line;
using cli::print_line;
using cli::text_table;

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A folder for the exported workloads that goes away with its owner.
class BenchFolder {
 public:
  BenchFolder() : path_(fs::temp_directory_path() / fmt::format("locus-bench-{}", getpid())) {
    fs::create_directories(path_);
  }
  ~BenchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  BenchFolder(const BenchFolder&) = delete;
  BenchFolder& operator=(const BenchFolder&) = delete;
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

constexpr double kQuietShare = 0.97;  // of the time on the clock that we had a core

struct Job {
  std::string workload;
  BenchMode mode;
  int threads;
};

struct Measured {
  double peak = 0, peak_two = 0;  // GFLOP/s of one core, of two together
  double version_ms = 0, first_step_ms = 0;
  std::vector<GemmRate> gemm;
  std::vector<BenchRow> rows;

  double peak_of(int threads) const {
    return threads == 1 ? peak : threads == 2 && peak_two > 0 ? peak_two : peak * threads;
  }
};

// Median milliseconds from starting a process to its first line.
double start_ms(const std::vector<std::string>& arguments, int rounds) {
  std::vector<std::string> command = {this_program()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<double> times;
  for (int r = 0; r < rounds; ++r) {
    const auto start = Clock::now();
    ChildProcess child(command, {});
    child.read_line();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  return median(times);
}

// The jobs asked for; by default all with one thread, and the training of some with two as well.
std::vector<Job> jobs_of(const BenchOptions& o, bool& data) {
  std::vector<std::string> names = o.workloads;
  if (names.empty()) names = {"main", "encodings", "data"};
  const int threads = std::max(o.threads, 1);
  std::vector<Job> jobs;
  data = false;
  for (const std::string& name : names) {
    if (name == "data") {
      data = true;
      continue;
    }
    std::vector<std::string> group = {name};
    if (name == "main") group = main_workloads();
    if (name == "encodings") group = encoding_workloads();
    for (const std::string& w : group) {
      make_workload(w);
      if (o.mode != "infer") jobs.push_back({w, BenchMode::kTrain, threads});
      if (o.mode != "train" && name != "encodings") jobs.push_back({w, BenchMode::kInfer, threads});
      const bool twice = o.threads == 0 && (w == "lst" || w == "fmri" || w == "wide");
      if (twice && o.mode != "infer" && usable_cores() > 1) jobs.push_back({w, BenchMode::kTrain, 2});
    }
  }
  return jobs;
}

Json to_json(const Measured& m) {
  Json out;
  out["peak_gflops"] = m.peak;
  out["peak_gflops_two_cores"] = m.peak_two > 0 ? Json(m.peak_two) : nullptr;
  out["workloads"] = Json::array();
  for (const BenchRow& r : m.rows) out["workloads"].push_back(row_json(r, m.peak_of(r.threads)));
  out["onednn_gemm"] = Json::array();
  for (const GemmRate& g : m.gemm)
    out["onednn_gemm"].push_back({{"workload", g.workload}, {"m", g.m}, {"n", g.n}, {"k", g.k}, {"gflops", g.gflops}});
  out["version_ms"] = m.version_ms;
  out["first_lst_step_ms"] = m.first_step_ms;
  out["cpu"] = host_info().cpu;
  out["commit"] = build_info().commit;
  out["isa"] = isa_name(isa_in_use());
  return out;
}

std::string cell(double value, int digits) { return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-"; }

// Says so when other processes took part of the time, and gives the ratios of processor time.
void print_busy_note(const Measured& m) {
  std::vector<std::string> ratios;
  double share = 1;
  for (const BenchRow& r : m.rows) {
    if (r.threads != 1 || !std::isfinite(r.cpu_ms)) continue;
    share = std::min(share, r.cpu_ms / r.ms);
    if (std::isfinite(r.pytorch_cpu_ms))
      ratios.push_back(fmt::format("{} {} {:.2f} ({:.0f} %)", r.name, r.mode, r.pytorch_cpu_ms / r.cpu_ms,
                                   r.percent_of_peak(m.peak) * r.ms / r.cpu_ms));
  }
  if (share > kQuietShare) return;
  print_line(fmt::format("busy machine: down to {:.0f} % of a core was left. By processor time, ratio (% of peak): {}",
                         100 * share, fmt::join(ratios, ", ")));
}

// How much faster two threads are, and how much faster the machine itself is with both cores.
void print_scaling(const Measured& m) {
  for (const BenchRow& two : m.rows) {
    const auto one = std::find_if(m.rows.begin(), m.rows.end(), [&](const BenchRow& r) {
      return r.name == two.name && r.mode == two.mode && r.threads == 1;
    });
    if (two.threads != 2 || one == m.rows.end() || !(m.peak_two > 0)) continue;
    const double machine = m.peak_two / m.peak, ours = one->ms / two.ms;
    print_line(fmt::format("two threads, {} {}: {:.2f} times one thread, {:.0f} % of the machine's own scaling ({:.2f})",
                           two.name, two.mode, ours, 100 * ours / machine, machine));
  }
}

void print_table(const Measured& m) {
  print_line(fmt::format("{}, {}, commit {}", host_info().cpu, isa_name(isa_in_use()), build_info().commit));
  print_line(fmt::format("FMA peak: {:.1f} GFLOP/s one core{}", m.peak,
                         m.peak_two > 0 ? fmt::format(", {:.1f} two cores together", m.peak_two) : ""));
  std::vector<std::vector<std::string>> rows;
  for (const BenchRow& r : m.rows) {
    const bool counted = r.flops.needed > 0;
    rows.push_back({r.name, r.mode, std::to_string(r.threads), cell(r.ms, 2), cell(r.ms_low, 2) + "-" + cell(r.ms_high, 2),
                    cell(1000 / r.ms, 2), cell(r.pytorch_ms, 2), cell(r.ratio(), 2), cell(r.ratio_sliced(), 2),
                    counted ? cell(r.flops.needed / 1e9, 2) : "-", counted ? cell(r.flops.executed / 1e9, 2) : "-",
                    counted ? cell(r.percent_of_peak(m.peak_of(r.threads)), 1) : "-", cell(r.memory_kb / 1024, 0),
                    cell(r.pytorch_memory_kb / 1024, 0), cell(r.memory_ratio(), 2)});
  }
  print_line(text_table({"workload", "mode", "thr", "ms", "quartiles", "steps/s", "PyTorch ms", "ratio", "sliced",
                         "needed GF", "executed", "% peak", "MB", "PyTorch MB", "memory"},
                        rows));
  print_scaling(m);
  if (!m.gemm.empty()) {
    rows.clear();
    for (const GemmRate& g : m.gemm)
      rows.push_back(
          {g.workload, fmt::format("{} x {} x {}", g.m, g.n, g.k), cell(g.gflops, 1), cell(g.gflops / m.peak * 100, 1)});
    print_line(text_table({"oneDNN sgemm for", "m x n x k", "GFLOP/s", "% peak"}, rows));
  }
  print_busy_note(m);
  print_line(fmt::format("start: locus version {:.1f} ms, first LST training step {:.1f} ms after process start",
                         m.version_ms, m.first_step_ms));
}

Measured measure(const BenchOptions& o) {
  Measured m;
  bool data = false;
  const std::vector<Job> jobs = jobs_of(o, data);
  const BenchFolder folder;
  std::vector<double> peaks, peaks_two;
  std::vector<std::string> shapes;
  for (int r = 0; r < o.rounds; ++r) {
    peaks.push_back(fma_gflops(1, 0.05));
    if (usable_cores() > 1) peaks_two.push_back(fma_gflops(2, 0.05));
  }
  for (const Job& job : jobs) {
    if (!o.quiet) message_line(fmt::format("{} {} with {} thread(s)", job.workload, mode_name(job.mode), job.threads));
    std::vector<double> other;
    std::vector<double>& sink = job.threads == 1 ? peaks : job.threads == 2 ? peaks_two : other;
    m.rows.push_back(compare(job.workload, job.mode, {o.rounds, job.threads, o.python, o.peer, folder.path()}, sink));
    const bool listed = std::find(shapes.begin(), shapes.end(), job.workload) != shapes.end();
    if (!listed && job.workload.find('/') == std::string::npos) shapes.push_back(job.workload);
  }
  m.peak = median(peaks);
  m.peak_two = peaks_two.empty() ? 0 : median(peaks_two);
  m.gemm = onednn_rates(shapes);
  if (data) {
    if (!o.quiet) message_line("generating and loading data");
    for (const BenchRow& r : measure_data(o.rounds)) m.rows.push_back(r);
  }
  m.version_ms = start_ms({"version"}, 2 * o.rounds + 1);
  m.first_step_ms = start_ms({"bench", "--alone", "lst", "--mode", "train", "--threads", "1"}, o.rounds);
  return m;
}

int run(const BenchOptions& options) {
  if (!options.alone.empty()) {
    const BenchMode mode = options.mode == "infer" ? BenchMode::kInfer : BenchMode::kTrain;
    return run_alone(options.alone, mode, options.steps, std::max(options.threads, 1));
  }
  if (options.growth) return run_growth(options);
  if (options.sweep) return run_sweep_scaling(options);
  if (!options.python.empty() && options.peer.empty()) {
    throw ConfigError(
        {.what = "--python needs --peer", .where = "", .got = "", .expected = "the path of bench_peer.py", .hint = ""});
  }
  const Measured m = measure(options);
  if (options.json) {
    print_line(to_json(m).dump(1));
  } else {
    print_table(m);
  }
  return cli::kExitDone;
}

}  // namespace
}  // namespace locus::bench

namespace locus {

int cli::run_bench(const BenchOptions& options) { return bench::run(options); }

}  // namespace locus
