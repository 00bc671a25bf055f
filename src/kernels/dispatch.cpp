// The functions that other modules call: each goes to the code of the instruction set in use.
#include <array>

#include "core/isa.h"
#include "kernels/table.h"

namespace locus::kernels {
namespace {

#if defined(__x86_64__)
extern const Table kBaseline __asm__("locus_kernel_table.baseline");
extern const Table kAvx2 __asm__("locus_kernel_table.avx2");
extern const Table kAvx512 __asm__("locus_kernel_table.avx512");
constexpr std::array<const Table*, kIsaNames.size()> kTables = {&kBaseline, &kAvx2, &kAvx512, nullptr};
#elif defined(__aarch64__)
extern const Table kNeon __asm__("locus_kernel_table.neon");
constexpr std::array<const Table*, kIsaNames.size()> kTables = {nullptr, nullptr, nullptr, &kNeon};
#else
extern const Table kBaseline __asm__("locus_kernel_table.baseline");
constexpr std::array<const Table*, kIsaNames.size()> kTables = {&kBaseline, nullptr, nullptr, nullptr};
#endif

inline const Table& in_use() { return *kTables[static_cast<std::size_t>(isa_in_use())]; }

}  // namespace

std::int64_t panel_columns() { return in_use().panel_columns; }
void pack(ConstMat b, float* out) { in_use().pack(b, out); }
void pack_transposed(ConstMat bt, float* out) { in_use().pack_transposed(bt, out); }
void gemm(ConstMat a, Packed b, Mat c, Store store, const float* bias) { in_use().gemm(a, b, c, store, bias); }
void gemm_times(ConstMat a, Packed b, ConstMat factor, Mat c) { in_use().gemm_times(a, b, factor, c); }
void gemm_at(ConstMat a, ConstMat b, Mat c, Store store, float* scratch) { in_use().gemm_at(a, b, c, store, scratch); }
std::int64_t gemm_at_scratch(std::int64_t depth) { return in_use().gemm_at_scratch(depth); }

std::int64_t attention_scratch(std::int64_t queries, std::int64_t keys, std::int64_t head_width) {
  return in_use().attention_scratch(queries, keys, head_width);
}
std::int64_t pattern_stride(std::int64_t keys) { return in_use().pattern_stride(keys); }
void attention_forward(const AttentionShape& shape, const AttentionForward& io, float* scratch) {
  in_use().attention_forward(shape, io, scratch);
}
void attention_backward(const AttentionShape& shape, const AttentionBackward& io, float* scratch) {
  in_use().attention_backward(shape, io, scratch);
}

void gelu_forward(ConstMat in, Mat out) { in_use().gelu_forward(in, out); }
void gelu_with_slope(ConstMat in, Mat out, Mat slope) { in_use().gelu_with_slope(in, out, slope); }
void layer_norm_forward(ConstMat a, ConstMat b, LayerNormParams params, LayerNormSaved saved, Mat out) {
  in_use().layer_norm_forward(a, b, params, saved, out);
}
void layer_norm_backward(ConstMat dout, const float* weight, LayerNormSaved saved, Mat din, float* dweight, float* dbias) {
  in_use().layer_norm_backward(dout, weight, saved, din, dweight, dbias);
}
void softmax_rows(Mat scores, std::int64_t padded, float* lse) { in_use().softmax_rows(scores, padded, lse); }
void exp_minus_rows(Mat scores, std::int64_t padded, const float* lse) { in_use().exp_minus_rows(scores, padded, lse); }
void exp_values(const float* in, float* out, std::int64_t n) { in_use().exp_values(in, out, n); }
void erf_values(const float* in, float* out, std::int64_t n) { in_use().erf_values(in, out, n); }
void copy_rows(ConstMat a, Mat out) { in_use().copy_rows(a, out); }
void add_rows(ConstMat a, Mat out) { in_use().add_rows(a, out); }
void multiply_rows(ConstMat a, Mat out) { in_use().multiply_rows(a, out); }
void add_column_sums(ConstMat a, float* out) { in_use().add_column_sums(a, out); }
void scale_rows(Mat a, float factor) { in_use().scale_rows(a, factor); }
float dot(const float* a, const float* b, std::int64_t n) { return in_use().dot(a, b, n); }
void axpy(float factor, const float* x, float* y, std::int64_t n) { in_use().axpy(factor, x, y, n); }
void dropout_apply(Mat a, float probability, std::uint64_t seed, std::uint64_t first) {
  in_use().dropout_apply(a, probability, seed, first);
}

void adam_update(const AdamUpdate& update, const AdamArrays& arrays, std::int64_t n) {
  in_use().adam_update(update, arrays, n);
}
void sgd_update(const SgdUpdate& update, float* param, const float* gradient, float* velocity, std::int64_t n) {
  in_use().sgd_update(update, param, gradient, velocity, n);
}
double sum_of_squares(const float* x, std::int64_t n) { return in_use().sum_of_squares(x, n); }

Burst multiply_add_burst(float seed) { return in_use().multiply_add_burst(seed); }

}  // namespace locus::kernels
