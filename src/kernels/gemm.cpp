// A register tile of AVX2 is 6 x 16: twelve accumulators, two loads of B and six broadcasts of A for twelve fused
// multiply-adds, the most that sixteen registers hold. Tiles of other instruction sets: kernels/tile.h.
#include "kernels/gemm.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "kernels/simd.h"
#include "kernels/tile.h"

namespace locus::kernels {
namespace {

using simd::kLanes;
using simd::Vec;

// A tile of R rows: c[r][0..kPanel) (op)= sum_k a(r, k) * b[k][0..kPanel), a(r, k) = a[r * row_step + k * depth_step].
struct TileArgs {
  const float* a;
  std::int64_t row_step;
  std::int64_t depth_step;
  const float* b;
  std::int64_t depth;
  float* c;
  std::int64_t c_stride;
  const float* start;  // kPanel floats to start every row from: a bias, or zeros
  bool add;
  const float* factor;  // null: none; else the tile is multiplied by it at the end
  std::int64_t factor_stride;
};

template <int R>
void tile(const TileArgs& t) {
  Vec acc[R][2];
  const Vec start0 = simd::load(t.start);
  const Vec start1 = simd::load(t.start + kLanes);
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    acc[r][0] = start0;
    acc[r][1] = start1;
  }
  const float* a = t.a;
  const float* b = t.b;
  float* c = t.c;
  const std::int64_t row_step = t.row_step;
  const std::int64_t depth_step = t.depth_step;
  const std::int64_t c_stride = t.c_stride;
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) __builtin_prefetch(c + r * c_stride, 1);
#pragma GCC unroll 4
  for (std::int64_t k = 0; k < t.depth; ++k) {
    const Vec b0 = simd::load(b);
    const Vec b1 = simd::load(b + kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Vec x = simd::splat(a[r * row_step]);
      acc[r][0] += x * b0;
      acc[r][1] += x * b1;
    }
    a += depth_step;
    b += kPanel;
  }
  if (t.add) {
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      acc[r][0] += simd::load(c + r * c_stride);
      acc[r][1] += simd::load(c + r * c_stride + kLanes);
    }
  }
  if (t.factor != nullptr) {
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      acc[r][0] *= simd::load(t.factor + r * t.factor_stride);
      acc[r][1] *= simd::load(t.factor + r * t.factor_stride + kLanes);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    simd::store(c + r * c_stride, acc[r][0]);
    simd::store(c + r * c_stride + kLanes, acc[r][1]);
  }
}

alignas(64) constexpr float kZeros[kPanel] = {};

using TileFunction = void (*)(const TileArgs&);
template <std::size_t... R>
constexpr std::array<TileFunction, sizeof...(R) + 1> tiles_of(std::index_sequence<R...>) {
  return {nullptr, tile<static_cast<int>(R) + 1>...};
}
constexpr auto kTiles = tiles_of(std::make_index_sequence<kRowBlock>());

// A tile whose last columns do not exist: computed in full beside, the existing part copied.
void narrow_tile(TileArgs t, std::int64_t rows, std::int64_t cols) {
  alignas(64) float buffer[kRowBlock * kPanel];
  alignas(64) float start[kPanel] = {};
  float* c = t.c;
  const std::int64_t c_stride = t.c_stride;
  const bool add = t.add;
  const float* factor = t.factor;
  std::copy_n(t.start, cols, start);
  t.start = start;
  t.c = buffer;
  t.c_stride = kPanel;
  t.add = false;
  t.factor = nullptr;
  kTiles[static_cast<std::size_t>(rows)](t);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t j = 0; j < cols; ++j) {
      float& out = c[r * c_stride + j];
      out = add ? out + buffer[r * kPanel + j] : buffer[r * kPanel + j];
      if (factor != nullptr) out *= factor[r * t.factor_stride + j];
    }
  }
}

void any_tile(const TileArgs& t, std::int64_t rows, std::int64_t cols) {
  if (cols == kPanel) {
    kTiles[static_cast<std::size_t>(rows)](t);
  } else {
    narrow_tile(t, rows, cols);
  }
}

// kSquare rows of kSquare floats, transposed.
#if defined(__AVX2__)
constexpr std::int64_t kSquare = 8;
using Square = simd::VectorOf<kSquare>::Floats;
void transpose_square(const float* in, std::int64_t in_stride, float* out, std::int64_t out_stride) {
  Square r[8];
  for (int i = 0; i < 8; ++i) r[i] = simd::load<Square>(in + i * in_stride);
  Square s[8];
  for (int i = 0; i < 8; i += 2) {
    s[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    s[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  Square q[8];
  for (int i = 0; i < 8; i += 4) {
    q[i] = __builtin_shufflevector(s[i], s[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    q[i + 1] = __builtin_shufflevector(s[i], s[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    q[i + 2] = __builtin_shufflevector(s[i + 1], s[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    q[i + 3] = __builtin_shufflevector(s[i + 1], s[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    simd::store(out + i * out_stride, __builtin_shufflevector(q[i], q[i + 4], 0, 1, 2, 3, 8, 9, 10, 11));
    simd::store(out + (i + 4) * out_stride, __builtin_shufflevector(q[i], q[i + 4], 4, 5, 6, 7, 12, 13, 14, 15));
  }
}
#else
constexpr std::int64_t kSquare = 4;
using Square = simd::VectorOf<kSquare>::Floats;
void transpose_square(const float* in, std::int64_t in_stride, float* out, std::int64_t out_stride) {
  Square r[4];
  for (int i = 0; i < 4; ++i) r[i] = simd::load<Square>(in + i * in_stride);
  const Square low01 = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5),
               low23 = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
  const Square top01 = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7),
               top23 = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  simd::store(out, __builtin_shufflevector(low01, low23, 0, 1, 4, 5));
  simd::store(out + out_stride, __builtin_shufflevector(low01, low23, 2, 3, 6, 7));
  simd::store(out + 2 * out_stride, __builtin_shufflevector(top01, top23, 0, 1, 4, 5));
  simd::store(out + 3 * out_stride, __builtin_shufflevector(top01, top23, 2, 3, 6, 7));
}
#endif

// What one load takes of a row of A when it is packed: at least a whole row of a block.
constexpr std::int64_t kCopied = std::max<std::int64_t>(kLanes, 8);
using Copied = simd::VectorOf<kCopied>::Floats;
static_assert(kCopied >= kRowBlock);

constexpr std::int64_t kBlocksAtOnce = 8;

// Copies a (K,R) to blocks of kRowBlock columns, each K rows of kRowBlock floats. `readable` floats stand in a row of a from
// its first column on. Reads run along the rows, several blocks at a time: one block alone would fetch every cache line of a
// nearly three times. Where kCopied floats can be read, one load and one store copy a row of a block: the next row
// overwrites what is too much, and the last row is copied exactly.
void pack_rows(ConstMat a, std::int64_t readable, float* out) {
  const std::int64_t block = a.rows * kRowBlock;
  const std::int64_t whole_reads = readable < kCopied ? 0 : (readable - kCopied) / kRowBlock + 1;
  const std::int64_t fast = std::min(whole_reads, a.cols / kRowBlock);
  for (std::int64_t g0 = 0; g0 < fast; g0 += kBlocksAtOnce) {
    const std::int64_t blocks = std::min(kBlocksAtOnce, fast - g0);
    float* to = out + g0 * block;
    for (std::int64_t k = 0; k + 1 < a.rows; ++k, to += kRowBlock) {
      const float* row = a.row(k) + g0 * kRowBlock;
      if (blocks == kBlocksAtOnce) {
#pragma GCC unroll 8
        for (std::int64_t g = 0; g < kBlocksAtOnce; ++g)
          simd::store(to + g * block, simd::load<Copied>(row + g * kRowBlock));
      } else {
        for (std::int64_t g = 0; g < blocks; ++g) simd::store(to + g * block, simd::load<Copied>(row + g * kRowBlock));
      }
    }
  }
  for (std::int64_t c = 0; c < a.cols; c += kRowBlock) {
    const std::int64_t cols = std::min(kRowBlock, a.cols - c);
    float* to = out + c * a.rows;
    const std::int64_t first = c < fast * kRowBlock ? std::max<std::int64_t>(a.rows - 1, 0) : 0;
    for (std::int64_t k = first; k < a.rows; ++k) std::copy_n(a.row(k) + c, cols, to + k * kRowBlock);
  }
}

// bias and factor may be null.
void multiply(ConstMat a, Packed b, Mat c, Store store, const float* bias, ConstMat factor) {
  const std::int64_t depth = a.cols;
  for (std::int64_t i0 = 0; i0 < a.rows; i0 += kRowsInCache) {
    const std::int64_t i1 = std::min(a.rows, i0 + kRowsInCache);
    for (std::int64_t k0 = 0; k0 < std::max<std::int64_t>(depth, 1); k0 += kDepthBlock) {
      TileArgs t{};
      t.row_step = a.stride;
      t.depth_step = 1;
      t.depth = std::min(kDepthBlock, depth - k0);
      t.c_stride = c.stride;
      t.add = k0 > 0 || store == Store::kAdd;
      t.factor_stride = factor.stride;
      const bool multiplies = factor.data != nullptr && k0 + kDepthBlock >= depth;
      for (std::int64_t j = 0; j < c.cols; j += kPanel) {
        t.b = b.rows_from(k0).cols_from(j).data;
        t.start = k0 == 0 && bias != nullptr ? bias + j : kZeros;
        for (std::int64_t i = i0; i < i1; i += kRowBlock) {
          t.a = a.row(i) + k0;
          t.c = c.row(i) + j;
          if (multiplies) t.factor = factor.row(i) + j;
          any_tile(t, std::min(kRowBlock, i1 - i), std::min(kPanel, c.cols - j));
        }
      }
    }
  }
}

}  // namespace

std::int64_t panel_columns() { return kPanel; }

void pack(ConstMat b, float* out) {
  for (std::int64_t j = 0; j < b.cols; j += kPanel) {
    const std::int64_t cols = std::min(kPanel, b.cols - j);
    for (std::int64_t k = 0; k < b.rows; ++k, out += kPanel) {
      const float* row = b.row(k) + j;
      if (cols == kPanel) {
        simd::store(out, simd::load(row));
        simd::store(out + kLanes, simd::load(row + kLanes));
      } else {
        std::copy_n(row, cols, out);
        std::fill(out + cols, out + kPanel, 0.0f);
      }
    }
  }
}

void pack_transposed(ConstMat bt, float* out) {
  const std::int64_t depth = bt.cols;
  for (std::int64_t j = 0; j < bt.rows; j += kPanel, out += depth * kPanel) {
    const std::int64_t cols = std::min(kPanel, bt.rows - j);
    std::int64_t k = 0;
    if (cols == kPanel) {
      for (; k + kSquare <= depth; k += kSquare) {
        for (std::int64_t i = 0; i < kPanel; i += kSquare) {
          transpose_square(bt.row(j + i) + k, bt.stride, out + k * kPanel + i, kPanel);
        }
      }
    }
    for (; k < depth; ++k) {
      for (std::int64_t i = 0; i < kPanel; ++i) out[k * kPanel + i] = i < cols ? bt(j + i, k) : 0.0f;
    }
  }
}

void gemm(ConstMat a, Packed b, Mat c, Store store, const float* bias) { multiply(a, b, c, store, bias, {}); }

void gemm_times(ConstMat a, Packed b, ConstMat factor, Mat c) { multiply(a, b, c, Store::kOverwrite, nullptr, factor); }

// Blocks of a^T are packed once; panels of b one by one, each used while it is still in the first-level cache.
void gemm_at(ConstMat a, ConstMat b, Mat c, Store store, float* scratch) {
  const std::int64_t depth = a.rows;
  for (std::int64_t k0 = 0; k0 < std::max<std::int64_t>(depth, 1); k0 += kDepthBlock) {
    const std::int64_t kc = std::min(kDepthBlock, depth - k0);
    float* panel = scratch;
    float* rows_packed = scratch + kc * kPanel;
    for (std::int64_t i0 = 0; i0 < c.rows; i0 += kRowsTransposed) {
      const std::int64_t i1 = std::min(c.rows, i0 + kRowsTransposed);
      pack_rows(a.block(k0, kc, i0, i1 - i0), a.cols - i0, rows_packed);
      TileArgs t{};
      t.start = kZeros;
      t.row_step = 1;
      t.depth_step = kRowBlock;
      t.depth = kc;
      t.b = panel;
      t.c_stride = c.stride;
      t.add = k0 > 0 || store == Store::kAdd;
      for (std::int64_t j = 0; j < c.cols; j += kPanel) {
        const std::int64_t cols = std::min(kPanel, c.cols - j);
        pack(b.block(k0, kc, j, cols), panel);
        for (std::int64_t i = i0; i < i1; i += kRowBlock) {
          t.a = rows_packed + (i - i0) * kc;
          t.c = c.row(i) + j;
          any_tile(t, std::min(kRowBlock, i1 - i), cols);
        }
      }
    }
  }
}

std::int64_t gemm_at_scratch(std::int64_t depth) {
  return std::min(depth, kDepthBlock) * (kRowsTransposed + kPanel) + 2 * kCopied + 16;
}

}  // namespace locus::kernels
