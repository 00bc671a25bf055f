// Row-wise operations beside the matrix products: GELU, layer norm with its residual sum, softmax, small sums.
// Letters: N rows (tokens), C channels, M MLP channels.
#pragma once

#include <cstdint>

#include "core/matrix.h"
#include "kernels/gemm.h"

namespace locus::kernels {

inline constexpr float kLayerNormEps = 1e-5f;

// out (N,M) = gelu(in), the erf form. In place is allowed.
void gelu_forward(ConstMat in, Mat out);
// The same, and slope (N,M) = gelu'(in) for backward, which is then a multiplication. out or slope may be in.
void gelu_with_slope(ConstMat in, Mat out, Mat slope);

// What layer norm leaves for its backward.
struct LayerNormSaved {
  Mat normalized;  // (N,C): (x - mean) / sd
  float* rstd;     // (N)
};
struct LayerNormParams {
  const float* weight;  // (C)
  const float* bias;    // (C)
};
// out = norm(a + b) * weight + bias; b may have null data.
void layer_norm_forward(ConstMat a, ConstMat b, LayerNormParams params, LayerNormSaved saved, Mat out);
// din = gradient of the sum; dweight and dbias (C) are added to. din may be dout.
void layer_norm_backward(ConstMat dout, const float* weight, LayerNormSaved saved, Mat din, float* dweight, float* dbias);

// Each row of scores (N, cols) to exp(s - max) / sum; lse (N) = max + log(sum). Columns from cols up to `padded`, at least
// cols and within the stride, become 0.
void softmax_rows(Mat scores, std::int64_t padded, float* lse);
// Each row to exp(s - lse[row]); padding as above.
void exp_minus_rows(Mat scores, std::int64_t padded, const float* lse);

// out = e^in, entry by entry: what softmax rests on, within the bound of simd.h.
void exp_values(const float* in, float* out, std::int64_t n);

void copy_rows(ConstMat a, Mat out);                                      // out = a
void add_rows(ConstMat a, Mat out);                                       // out += a
void sum_of(const float* a, const float* b, float* out, std::int64_t n);  // out = a + b
void multiply_rows(ConstMat a, Mat out);                                  // out *= a, entry by entry
void add_column_sums(ConstMat a, float* out);                             // out (C) += sum over rows
void add_panel_sums(Panels a, float* out);                                // the same
void scale_rows(Mat a, float factor);                                     // a *= factor
float dot(const float* a, const float* b, std::int64_t n);
void axpy(float factor, const float* x, float* y, std::int64_t n);  // y += factor * x

// Multiplies by 0 or 1/(1-p); the mask is a function of (seed, first + flat index) alone, so backward repeats it.
void dropout_apply(Mat a, float probability, std::uint64_t seed, std::uint64_t first);

}  // namespace locus::kernels
