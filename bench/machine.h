// What the machine can do: multiply-adds of one core and of several together, and a library's matrix product.
#pragma once

#include <string>
#include <vector>

namespace locus::bench {

// GFLOP/s of independent fused multiply-adds on so many threads together, over about so many seconds.
double fma_gflops(int threads, double seconds);

struct GemmRate {
  std::string workload;
  long m = 0, n = 0, k = 0;
  double gflops = 0;
};

// oneDNN's sgemm at the shapes of these workloads' layers, on one thread, by the program onednn_gemm beside this
// one; empty without it.
std::vector<GemmRate> onednn_rates(const std::vector<std::string>& workloads);

}  // namespace locus::bench
