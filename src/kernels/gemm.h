// Matrix products on packed panels. C (M,N) = A (M,K) B (K,N): B is packed once into panels of some columns that stay
// in the first-level cache while blocks of rows of A stream by. Every sum over K runs in one fixed order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/matrix.h"
#ifdef LOCUS_VARIANT
#include "kernels/tile.h"
#endif

namespace locus::kernels {

// Columns of B a panel: a property of the instruction set in use.
std::int64_t panel_columns();

namespace detail {
#ifdef LOCUS_VARIANT
inline std::int64_t panel() { return kPanel; }  // a constant in the files that are compiled for one instruction set
#else
inline std::int64_t panel() { return panel_columns(); }
#endif
}  // namespace detail

inline constexpr std::int64_t kAnyDepth = std::numeric_limits<std::int64_t>::max();

enum class Store { kOverwrite, kAdd };

// Columns rounded up to whole panels.
inline std::int64_t padded(std::int64_t cols) { return (cols + detail::panel() - 1) / detail::panel() * detail::panel(); }

// Floats needed for a packed B of depth x cols.
inline std::int64_t packed_size(std::int64_t depth, std::int64_t cols) { return depth * padded(cols); }

// A packed B, or a slice of one: panels of panel_columns() columns, each `depth` rows of as many floats,
// panel_stride floats apart.
struct Packed {
  const float* data = nullptr;
  std::int64_t panel_stride = 0;

  Packed() = default;
  Packed(const float* d, std::int64_t depth) : data(d), panel_stride(depth * detail::panel()) {}
  Packed rows_from(std::int64_t k) const { return slice(data + k * detail::panel()); }
  // j a multiple of panel_columns()
  Packed cols_from(std::int64_t j) const { return slice(data + j / detail::panel() * panel_stride); }

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

// A matrix in panels of panel_columns() columns: in each panel the rows follow one another, panel_stride floats from one
// panel to the next. Rows of such a matrix can be multiplied from the left, and its panels are a packed B of depth `rows`,
// so neither a product by it nor one by its transpose copies anything.
struct Panels {
  float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t panel_stride = 0;

  Panels() = default;
  Panels(float* d, std::int64_t r, std::int64_t c)
      : data(d), rows(r), cols(c), panel_stride(panel_rows(r) * detail::panel()) {}
  Panels row_block(std::int64_t first, std::int64_t count) const {
    Panels p = *this;
    p.data += first * detail::panel();
    p.rows = count;
    return p;
  }
  float& operator()(std::int64_t r, std::int64_t c) const {
    return data[c / detail::panel() * panel_stride + r * detail::panel() + c % detail::panel()];
  }
  // An odd number of rows: with a power of two, equal rows of all panels would share few sets of the first-level cache.
  static std::int64_t panel_rows(std::int64_t rows) { return rows | 1; }
  static std::int64_t floats(std::int64_t rows, std::int64_t cols) { return panel_rows(rows) * padded(cols); }
};

// With x = a (M,K) * b (K,N) + bias (N): active (M,N) = gelu(x) and, where a place is given, slope (M,N) = gelu'(x).
void gemm_gelu(ConstMat a, Packed b, const float* bias, Panels active, Panels slope);

// c (M,N) = a (M,K) * b (K,N) [+ bias (N)].
void gemm_panels(Panels a, Packed b, Mat c, const float* bias = nullptr);

// c (M,N) = a (M,K) * b (K,N), entry by entry times factor (M,N).
void gemm_times(ConstMat a, Packed b, Panels factor, Panels c);

// c (M,N) = or += a^T * b, a given as (K,M) and read in place: for a small a that is in the cache already, with rows an odd
// number of cache lines apart.
void gemm_at_packed(ConstMat a, Packed b, Mat c, Store store);

// c (M,N) += a^T * b, one of them in panels. `scratch` as for gemm_at.
void gemm_at_left_panels(Panels a, ConstMat b, Mat c, float* scratch);
void gemm_at_right_panels(ConstMat a, Panels b, Mat c, float* scratch);

// c (M,N) = or += a^T * b, a given as (K,M), b (K,N) plain. `scratch` holds at least gemm_at_scratch(K) floats.
void gemm_at(ConstMat a, ConstMat b, Mat c, Store store, float* scratch);
std::int64_t gemm_at_scratch(std::int64_t depth);  // of kAnyDepth: enough for every depth

}  // namespace locus::kernels
