// The nonlinear stochastic network: a modular random graph and x[t+1] = f(g W x[t] + drive) + s e, sampled as
// averages over a few steps, with the true graph and modules kept beside the samples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"
#include "core/matrix.h"
#include "data/examples.h"

namespace locus {

struct NmarNetwork {
  MatrixD weights;                    // (N, N): row i holds what node i receives; no self-loops
  std::vector<std::int32_t> modules;  // (N)
  std::int64_t module_count = 0;

  std::int64_t nodes() const { return weights.rows(); }
};

// Directed edges, each drawn alone: p_in within a module, p_out between modules, hub_p_out where the hub module is one
// side. A node that would receive nothing gets one edge from a random node of its module (of the network, when it is
// alone in it). Weights are N(weight_mean, weight_sd); each row is divided by the sum of its absolute values, which is
// "sum 1" for positive weights and keeps the spectral radius of g W at or below g for any. Nodes are permuted at the
// end when shuffle_nodes is set. Everything comes from streams of graph_seed.
NmarNetwork make_network(const NmarConfig& config);

// |largest eigenvalue| of scale * matrix, by Gelfand's formula (repeated squaring): no symmetry needed.
double spectral_radius(const MatrixD& matrix, double scale);

// The double-gamma response (peak near 5 s, undershoot near 15 s, ratio 6, 32 s long) at step_seconds a step, sum 1.
std::vector<double> hemodynamic_kernel(double step_seconds);

// (samples, N) after the burn-in: filtered by the response if hrf_tr > 0, then the mean of `average` steps, one sample
// every `average` steps; not scaled. `stream` names an independent run. DataError when the state grows without bound.
MatrixD simulate(const NmarNetwork& network, const NmarConfig& config, std::string_view stream, std::int64_t samples);

// Splits train, validation (unless 0) and test from independent runs. Values are z-scored per node as series.zscore
// says: run (default) scales each run by itself, train by the training run, none leaves them. Truths: W (W + W'),
// W_raw, modules, correlation (training samples). series.window > 1 puts so many samples in a row into one token.
Dataset make_nmar_dataset(const RunConfig& config);

}  // namespace locus
