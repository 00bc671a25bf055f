// The kernels of one instruction set, by pointer. Every file of this folder but dispatch.cpp is compiled once per
// instruction set (cmake/variants.cmake) and its symbols get the name of it; dispatch.cpp holds the functions that others
// call. A kernel needs a line in this list and one function there; the linker complains when either is forgotten.
#pragma once

#include "kernels/attention.h"
#include "kernels/elementwise.h"
#include "kernels/gemm.h"
#include "kernels/optimizer.h"
#include "kernels/peak.h"

// clang-format off
#define LOCUS_KERNELS(X) \
  X(pack) X(pack_transposed) X(gemm) X(gemm_times) X(gemm_at) X(gemm_at_scratch) \
  X(attention_scratch) X(pattern_stride) X(attention_forward) X(attention_backward) \
  X(gelu_forward) X(gelu_with_slope) X(layer_norm_forward) X(layer_norm_backward) X(softmax_rows) X(exp_minus_rows) \
  X(exp_values) X(erf_values) X(copy_rows) X(add_rows) X(multiply_rows) X(add_column_sums) X(scale_rows) X(dot) X(axpy) \
  X(dropout_apply) X(adam_update) X(sgd_update) X(sum_of_squares) X(multiply_add_burst)
// clang-format on

namespace locus::kernels {

struct Table {
  std::int64_t panel_columns;
#define LOCUS_MEMBER(name) decltype(&kernels::name) name;
  LOCUS_KERNELS(LOCUS_MEMBER)
#undef LOCUS_MEMBER
};

}  // namespace locus::kernels
