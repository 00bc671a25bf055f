// Matrix products on packed panels. C (M,N) = A (M,K) B (K,N): B is packed once into panels of 16 columns and stays in
// the first-level cache while blocks of six rows of A stream by. Every sum over K runs in one fixed order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/matrix.h"

namespace locus::kernels {

inline constexpr std::int64_t kPanel = 16;        // columns of B a panel
inline constexpr std::int64_t kRowBlock = 6;      // rows of A a register tile
inline constexpr std::int64_t kDepthBlock = 320;  // depth of a panel in the first-level cache: 20 kB

enum class Store { kOverwrite, kAdd };

// Floats needed for a packed B of depth x cols.
inline std::int64_t packed_size(std::int64_t depth, std::int64_t cols) {
  return depth * ((cols + kPanel - 1) / kPanel) * kPanel;
}

// Packs b (K,N), or the transpose of bt (N,K), into out (packed_size floats, 64-byte aligned).
void pack(ConstMat b, float* out);
void pack_transposed(ConstMat bt, float* out);

// c (M,N) = or += a (M,K) * packed (K,N) [+ bias (N) where bias is given, with kOverwrite only].
void gemm(ConstMat a, const float* packed, Mat c, Store store, const float* bias = nullptr);

// c (M,N) = or += a^T * packed, a given as (K,M). `scratch` holds at least gemm_at_scratch(K) floats.
void gemm_at(ConstMat a, const float* packed, Mat c, Store store, float* scratch);
inline std::int64_t gemm_at_scratch(std::int64_t depth) {
  return (depth < kDepthBlock ? depth : kDepthBlock) * kRowBlock + 8;
}

}  // namespace locus::kernels
