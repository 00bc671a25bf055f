// Gradients of single outputs with respect to all trained parameters, and their inner products between examples:
// the empirical neural tangent kernel. Works output by output within a memory bound.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "data/examples.h"
#include "model/encoder.h"

namespace locus {

// Which of an example's outputs: row among those read in one sequence, column among the model's outputs.
struct OutputPlace {
  std::int64_t row = 0;
  std::int64_t column = 0;
};

struct KernelOptions {
  double memory = 1.3e9;                                // bytes for gradients
  std::function<void(double done)> progress = nullptr;  // done in [0, 1]
};

struct TangentKernel {
  MatrixD pe;       // (n, n) from the positions' parameters; mean over outputs
  MatrixD rest;     // (n, n) from all others
  MatrixD outputs;  // (n, outputs) the model's values
  // For each direction: J d, (n, outputs), what the outputs change by to first order.
  std::vector<MatrixD> along;

  MatrixD all() const;
};

// `params` and every direction are arenas of the structure's layout; frozen tensors do not count.
TangentKernel tangent_kernel(const ModelStructure& structure, const float* params, const Examples& probe,
                             std::span<const OutputPlace> places, std::span<const std::vector<float>> directions = {},
                             const KernelOptions& options = {});

// 1 - <a, b> / (|a| |b|) over all entries.
double kernel_change(const MatrixD& a, const MatrixD& b);
// <a_c, b_c> / (|a_c| |b_c|), both doubly centred.
double kernel_alignment(const MatrixD& a, const MatrixD& b);
MatrixD centre_kernel(const MatrixD& k);
// (trace)^2 / |K|_F^2: the participation ratio of the eigenvalues.
double kernel_rank(const MatrixD& k);

}  // namespace locus
