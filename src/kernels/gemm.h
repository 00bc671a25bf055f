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

inline constexpr std::int64_t kRowsInCache = 192;  // rows of A a block: 192 x 320 floats stay in the second-level cache

inline constexpr std::int64_t kRowsTransposed = 324;  // rows of A^T packed at once; more share one packing of B

enum class Store { kOverwrite, kAdd };

// Columns rounded up to whole panels.
inline std::int64_t padded(std::int64_t cols) { return (cols + kPanel - 1) / kPanel * kPanel; }

// Floats needed for a packed B of depth x cols.
inline std::int64_t packed_size(std::int64_t depth, std::int64_t cols) { return depth * padded(cols); }

// A packed B, or a slice of one: panels of kPanel columns, each `depth` rows of kPanel floats, panel_stride floats apart.
struct Packed {
  const float* data = nullptr;
  std::int64_t panel_stride = 0;

  Packed() = default;
  Packed(const float* d, std::int64_t depth) : data(d), panel_stride(depth * kPanel) {}
  Packed rows_from(std::int64_t k) const { return slice(data + k * kPanel); }
  Packed cols_from(std::int64_t j) const { return slice(data + j / kPanel * panel_stride); }  // j a multiple of kPanel

 private:
  Packed slice(const float* d) const {
    Packed p = *this;
    p.data = d;
    return p;
  }
};

// Packs b (K,N), or the transpose of bt (N,K), into out (packed_size floats, 64-byte aligned).
void pack(ConstMat b, float* out);
void pack_transposed(ConstMat bt, float* out);

// c (M,N) = or += a (M,K) * b (K,N) [+ bias (N) where bias is given, with kOverwrite only].
void gemm(ConstMat a, Packed b, Mat c, Store store, const float* bias = nullptr);

// c (M,N) = a (M,K) * b (K,N), entry by entry times factor (M,N).
void gemm_times(ConstMat a, Packed b, ConstMat factor, Mat c);

// c (M,N) = or += a^T * b, a given as (K,M), b (K,N) plain. `scratch` holds at least gemm_at_scratch(K) floats.
void gemm_at(ConstMat a, ConstMat b, Mat c, Store store, float* scratch);
inline std::int64_t gemm_at_scratch(std::int64_t depth) {
  return (depth < kDepthBlock ? depth : kDepthBlock) * (kRowsTransposed + kPanel) + 32;
}

}  // namespace locus::kernels
