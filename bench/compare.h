// One workload measured: our engine and PyTorch in turns, on the same batch and parameters.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "bench/engine.h"
#include "bench/flops.h"
#include "core/json.h"

namespace locus::bench {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

struct CompareSettings {
  int rounds = 9;
  int threads = 1;
  std::string python;   // empty: no PyTorch
  std::string peer;     // its script
  std::string scratch;  // folder for exported workloads
};

struct BenchRow {
  std::string name;
  std::string mode;
  int threads = 1;
  double ms = kNotMeasured;                                     // medians of the rounds
  double ms_low = kNotMeasured, ms_high = kNotMeasured;         // quartiles
  double pytorch_ms = kNotMeasured;                             // the best thread division where there are several
  double pytorch_sliced_ms = kNotMeasured;                      // last layer only for the tokens read
  double cpu_ms = kNotMeasured, pytorch_cpu_ms = kNotMeasured;  // processor time, for busy machines
  std::string pytorch_threads;                                  // "torch 1 x BLAS 2"
  Flops flops;
  double memory_kb = kNotMeasured, pytorch_memory_kb = kNotMeasured;
  double loss = kNotMeasured, pytorch_loss = kNotMeasured;

  double ratio() const { return pytorch_ms / ms; }
  double ratio_sliced() const { return pytorch_sliced_ms / ms; }
  double memory_ratio() const { return memory_kb / pytorch_memory_kb; }
  double percent_of_peak(double peak_gflops) const { return flops.needed / (ms * 1e6) / peak_gflops * 100; }
};

double median(std::vector<double> values);
double quantile(std::vector<double> values, double q);

// Appends one sample of the machine's peak a round to `peaks`. Throws DataError when the losses of both sides differ.
BenchRow compare(const std::string& workload, BenchMode mode, const CompareSettings& settings, std::vector<double>& peaks);

// A job without a peer: generating puzzles ("lst_pool"), loading region series ("fmri_load").
std::vector<BenchRow> measure_data(int rounds);

Json row_json(const BenchRow& row, double peak_gflops);

}  // namespace locus::bench
