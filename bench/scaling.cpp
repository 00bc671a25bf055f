#include "bench/scaling.h"

#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <memory>

#include "bench/compare.h"
#include "bench/machine.h"
#include "bench/process.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"

namespace locus::bench {
namespace {

using cli::BenchOptions;
using cli::message_line;
using cli::print_line;

using Clock = std::chrono::steady_clock;

struct Series {
  const char* key;  // of a workload's sizes
  const char* label;
  const char* fixed;  // the other sizes
  std::vector<int> values;
  const char* theory_time;
  const char* theory_memory;
};

const std::vector<Series>& all_series() {
  static const std::vector<Series> series = {
      {"t",
       "tokens T",
       "d=64,layers=2,batch=1",
       {16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192},
       "1 to 2 (a T + b T²)",
       "0 to 1"},
      {"d", "width d", "t=64,layers=2,batch=16", {32, 64, 128, 256, 512}, "1 to 2 (a d + b d²)", "1 to 2"},
      {"layers", "layers", "t=64,d=64,batch=16", {1, 2, 4, 8, 16}, "1", "0 to 1"},
      {"batch", "batch", "t=64,d=64,layers=2", {1, 2, 4, 8, 16, 32, 64, 128}, "1", "0 (micro-batches)"}};
  return series;
}

struct Point {
  double ms = 0, kb = 0, baseline_kb = 0;
};

Json alone(const std::string& workload, int steps) {
  ChildProcess child(
      {this_program(), "bench", "--alone", workload, "--mode", "train", "--threads", "1", "--steps", std::to_string(steps)},
      {});
  return Json::parse(child.read_line());
}

Point measure_point(const std::string& workload, int rounds) {
  const double once = alone(workload, 2)["ms"].get<double>();
  const int steps = std::max(1, static_cast<int>(200 / once));
  std::vector<double> times;
  Point p;
  for (int r = 0; r < rounds; ++r) {
    const Json j = alone(workload, steps);
    times.push_back(j["ms"].get<double>());
    p.kb = std::max(p.kb, j["peak_kb"].get<double>());
  }
  p.ms = median(times);
  return p;
}

// The exponent over the upper half of a series, where constant parts matter least.
double upper_exponent(const std::vector<double>& x, const std::vector<double>& y) {
  const auto from = static_cast<std::ptrdiff_t>(x.size() / 2);
  return fitted_exponent({x.begin() + from, x.end()}, {y.begin() + from, y.end()});
}

std::string growth_markdown(const Series& s, const std::vector<Point>& points) {
  std::vector<double> x, ms, kb;
  std::string text =
      fmt::format("Training step against {} ({}, one thread):\n\n| {} | ms a step | peak MB |\n|---|---|---|\n", s.label,
                  s.fixed, s.label);
  for (std::size_t i = 0; i < points.size(); ++i) {
    x.push_back(s.values[i]);
    ms.push_back(points[i].ms);
    kb.push_back(points[i].kb - points[i].baseline_kb);
    text += fmt::format("| {} | {:.3f} | {:.1f} |\n", s.values[i], points[i].ms, points[i].kb / 1024);
  }
  text += fmt::format(
      "| exponent, all points | {:.2f} | {:.2f} |\n| exponent, upper half | {:.2f} | {:.2f} |\n| theory | {} | {} |\n",
      fitted_exponent(x, ms), fitted_exponent(x, kb), upper_exponent(x, ms), upper_exponent(x, kb), s.theory_time,
      s.theory_memory);
  return text;
}

// Steps a second of eight LST processes, `workers` at a time.
double sweep_throughput(int workers, int steps) {
  constexpr int kRuns = 8;
  const auto start = Clock::now();
  std::vector<std::unique_ptr<ChildProcess>> running;
  const std::vector<std::string> command = {this_program(), "bench",     "--alone", "lst",     "--mode",
                                            "train",        "--threads", "1",       "--steps", std::to_string(steps)};
  for (int next = 0; next < kRuns; ++next) {
    // Runs are equally long, so the oldest ends first.
    if (static_cast<int>(running.size()) == workers) {
      running.front()->read_line();
      running.erase(running.begin());
    }
    running.push_back(std::make_unique<ChildProcess>(command, std::vector<std::pair<std::string, std::string>>{}));
  }
  for (const std::unique_ptr<ChildProcess>& c : running) c->read_line();
  return kRuns * steps / std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y) {
  LOCUS_CHECK(x.size() == y.size() && x.size() > 1, "a slope needs two points");
  double mx = 0, my = 0, xy = 0, xx = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    mx += std::log(x[i]) / n;
    my += std::log(y[i]) / n;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (std::log(x[i]) - mx) * (std::log(y[i]) - my);
    xx += (std::log(x[i]) - mx) * (std::log(x[i]) - mx);
  }
  return xy / xx;
}

int run_growth(const BenchOptions& options) {
  // What a process needs that computes next to nothing; taken off before fitting memory.
  const double baseline = alone("t=1,d=8,layers=1,batch=1", 1)["peak_kb"].get<double>();
  Json json = Json::array();
  for (const Series& s : all_series()) {
    std::vector<Point> points;
    for (const int value : s.values) {
      const std::string workload = fmt::format("{}={},{}", s.key, value, s.fixed);
      if (!options.quiet) message_line(workload);
      Point p = measure_point(workload, std::min(options.rounds, 9));
      p.baseline_kb = std::min(baseline, p.kb - 1);
      points.push_back(p);
      json.push_back({{"varied", s.key}, {"value", value}, {"fixed", s.fixed}, {"ms", p.ms}, {"peak_kb", p.kb}});
    }
    if (!options.json) print_line(growth_markdown(s, points));
  }
  if (options.json) print_line(Json{{"baseline_kb", baseline}, {"points", json}}.dump(1));
  return cli::kExitDone;
}

int run_sweep_scaling(const BenchOptions& options) {
  const int rounds = std::min(options.rounds, 5);
  const int steps = std::max(20, static_cast<int>(1000 / alone("lst", 3)["ms"].get<double>()));
  std::vector<double> one, two, peak_one, peak_two;
  for (int r = 0; r < rounds; ++r) {
    if (!options.quiet) message_line(fmt::format("round {} of {}", r + 1, rounds));
    peak_one.push_back(fma_gflops(1, 0.3));
    peak_two.push_back(fma_gflops(2, 0.3));
    one.push_back(sweep_throughput(1, steps));
    two.push_back(sweep_throughput(2, steps));
  }
  const double scaling = median(two) / median(one);
  const double machine = median(peak_two) / median(peak_one);
  if (options.json) {
    print_line(Json{{"steps_per_second_one", median(one)},
                    {"steps_per_second_two", median(two)},
                    {"scaling", scaling},
                    {"peak_gflops_one", median(peak_one)},
                    {"peak_gflops_two", median(peak_two)},
                    {"fma_scaling", machine},
                    {"efficiency", scaling / machine}}
                   .dump(1));
    return cli::kExitDone;
  }
  print_line(fmt::format("eight LST runs of {} steps: {:.2f} steps/s with one worker, {:.2f} with two ({:.2f} times)", steps,
                         median(one), median(two), scaling));
  print_line(fmt::format("FMA peak: {:.1f} GFLOP/s one core, {:.1f} two ({:.2f} times)", median(peak_one), median(peak_two),
                         machine));
  print_line(fmt::format("two workers reach {:.1f} % of the machine's own scaling", 100 * scaling / machine));
  return cli::kExitDone;
}

}  // namespace locus::bench
