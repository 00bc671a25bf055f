#include "bench/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "bench/machine.h"
#include "bench/process.h"
#include "config/load.h"
#include "core/error.h"
#include "core/json.h"
#include "data/latin/dataset.h"
#include "data/series.h"

namespace locus::bench {
namespace {

constexpr double kTurnMs = 250;  // about how long one side runs before the other does
constexpr double kPeakSeconds = 0.04;
constexpr double kLossTolerance = 1e-4;
constexpr auto kSettle = std::chrono::milliseconds(60);  // idle BLAS threads spin before they sleep

int steps_a_turn(double ms) { return std::clamp(static_cast<int>(std::ceil(kTurnMs / ms)), 1, 2000); }

struct PeerSide {
  PeerSpec spec;
  std::unique_ptr<Peer> peer;
  int steps = 1;
  std::vector<double> times, cpu_times;
};

bool reads_some_tokens(const Workload& w) {
  return w.config.model.readout != Readout::kMean && w.config.model.readout != Readout::kFlat &&
         w.config.model.readout != Readout::kEvery;
}

std::vector<PeerSide> start_peers(const BenchEngine& engine, BenchMode mode, const CompareSettings& s) {
  std::vector<PeerSide> peers;
  if (s.python.empty()) return peers;
  std::vector<std::pair<int, int>> divisions = {{s.threads, s.threads}};
  if (s.threads > 1) divisions = {{1, s.threads}, {s.threads, 1}};
  for (const bool sliced : {false, true}) {
    if (sliced && !reads_some_tokens(engine.workload())) continue;
    for (const auto& [torch, blas] : divisions) {
      PeerSpec spec{s.python, s.peer, s.scratch, mode_name(mode), sliced, torch, blas};
      peers.push_back({spec, std::make_unique<Peer>(spec), 1, {}, {}});
    }
  }
  return peers;
}

void check_losses(const BenchRow& row, const PeerSide& side) {
  const double ours = row.loss, theirs = side.peer->loss();
  if (std::abs(ours - theirs) <= kLossTolerance * std::max(1.0, std::abs(theirs))) return;
  throw DataError({.what = "both sides of the benchmark must have the same loss before they are timed",
                   .where = row.name,
                   .got = fmt::format("{} here, {} in PyTorch", ours, theirs),
                   .expected = fmt::format("equal to {}", kLossTolerance),
                   .hint = ""});
}

void take_peer_results(std::vector<PeerSide>& peers, BenchRow& row) {
  for (PeerSide& side : peers) {
    const double ms = median(side.times);
    const auto memory = static_cast<double>(side.peer->stop());
    double& best = side.spec.slice_last_layer ? row.pytorch_sliced_ms : row.pytorch_ms;
    if (best <= ms) continue;
    best = ms;
    if (side.spec.slice_last_layer) continue;
    row.pytorch_cpu_ms = median(side.cpu_times);
    row.pytorch_memory_kb = memory;
    row.pytorch_loss = side.peer->loss();
    row.pytorch_threads = fmt::format("torch {} x BLAS {}", side.spec.torch_threads, side.spec.blas_threads);
  }
}

double memory_alone(const std::string& name, BenchMode mode, int threads) {
  ChildProcess child({this_program(), "bench", "--alone", name, "--mode", mode_name(mode), "--steps", "3", "--threads",
                      std::to_string(threads)},
                     {});
  return Json::parse(child.read_line())["peak_kb"].get<double>();
}

// Milliseconds of a job, at least once, at most `rounds` times or half a minute.
std::vector<double> timed(int rounds, const std::function<void()>& job) {
  std::vector<double> times;
  double total = 0;
  for (int r = 0; r < rounds && (r == 0 || total < 30000); ++r) {
    const auto start = std::chrono::steady_clock::now();
    job();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    total += times.back();
  }
  return times;
}

BenchRow data_row(const std::string& name, const std::vector<double>& times) {
  BenchRow row;
  row.name = name;
  row.mode = "data";
  row.ms = median(times);
  row.ms_low = quantile(times, 0.25);
  row.ms_high = quantile(times, 0.75);
  return row;
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace

double quantile(std::vector<double> values, double q) {
  LOCUS_CHECK(!values.empty(), "no values");
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

BenchRow compare(const std::string& name, BenchMode mode, const CompareSettings& s, std::vector<double>& peaks) {
  BenchEngine engine(make_workload(name), mode, s.threads);
  BenchRow row;
  row.name = name;
  row.mode = mode_name(mode);
  row.threads = s.threads;
  row.flops = step_flops(engine.structure(), mode == BenchMode::kTrain);
  row.loss = engine.first_loss();
  if (!s.python.empty()) export_workload(engine.workload(), engine.structure(), engine.params(), s.scratch);
  std::vector<PeerSide> peers = start_peers(engine, mode, s);
  for (const PeerSide& side : peers) check_losses(row, side);

  engine.milliseconds(1);
  const int steps = steps_a_turn(engine.milliseconds(1).wall);
  for (PeerSide& side : peers) {
    side.peer->milliseconds(1);
    side.steps = steps_a_turn(side.peer->milliseconds(1).wall);
  }
  std::vector<double> times, cpu_times;
  for (int r = 0; r < s.rounds; ++r) {
    peaks.push_back(fma_gflops(s.threads, kPeakSeconds));
    // An untimed step before each turn, on either side: the other side has taken the caches.
    engine.milliseconds(1);
    const StepTime ours = engine.milliseconds(steps);
    times.push_back(ours.wall);
    cpu_times.push_back(ours.cpu);
    for (PeerSide& side : peers) {
      side.peer->milliseconds(1);
      const StepTime theirs = side.peer->milliseconds(side.steps);
      side.times.push_back(theirs.wall);
      side.cpu_times.push_back(theirs.cpu);
      if (s.threads > 1) std::this_thread::sleep_for(kSettle);
    }
  }
  row.ms = median(times);
  row.cpu_ms = median(cpu_times);
  row.ms_low = quantile(times, 0.25);
  row.ms_high = quantile(times, 0.75);
  take_peer_results(peers, row);
  peers.clear();
  row.memory_kb = memory_alone(name, mode, s.threads);
  return row;
}

std::vector<BenchRow> measure_data(int rounds) {
  std::vector<BenchRow> rows;
  rows.push_back(data_row("lst_pool", timed(rounds, [] { make_latin_data({.n = 4, .seed = 1}); })));
  RunConfig config;
  config.study = "masked";
  config.model.readout = Readout::kMasked;
  config.model.width = 64;
  config.series.source = SeriesSource::kFiles;
  config.series.files = {"../shared/data/hcp_glasser360/rest/*.h5"};
  config.series.dataset = "restdata";
  config.series.subject_pattern = "subj([0-9]+)";
  if (std::filesystem::exists("../shared/data/hcp_glasser360/rest"))
    rows.push_back(data_row("fmri_load", timed(rounds, [&] { make_series_dataset(config); })));
  return rows;
}

Json row_json(const BenchRow& r, double peak) {
  Json j = {{"name", r.name},
            {"mode", r.mode},
            {"threads", r.threads},
            {"ms", number(r.ms)},
            {"pytorch_ms", number(r.pytorch_ms)},
            {"ratio", number(r.ratio())},
            {"percent_of_peak", r.flops.needed > 0 ? number(r.percent_of_peak(peak)) : nullptr},
            {"memory_ratio", number(r.memory_ratio())},
            {"ms_quartiles", {number(r.ms_low), number(r.ms_high)}},
            {"steps_per_second", number(1000 / r.ms)},
            {"pytorch_sliced_ms", number(r.pytorch_sliced_ms)},
            {"ratio_sliced", number(r.ratio_sliced())},
            {"cpu_ms", number(r.cpu_ms)},
            {"pytorch_cpu_ms", number(r.pytorch_cpu_ms)},
            {"pytorch_threads", r.pytorch_threads},
            {"needed_gflop", r.flops.needed / 1e9},
            {"executed_gflop", r.flops.executed / 1e9},
            {"memory_kb", number(r.memory_kb)},
            {"pytorch_memory_kb", number(r.pytorch_memory_kb)},
            {"loss", number(r.loss)},
            {"pytorch_loss", number(r.pytorch_loss)}};
  return j;
}

}  // namespace locus::bench
