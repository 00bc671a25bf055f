// A register tile of AVX2 is 6 x 16: twelve accumulators, two loads of B and six broadcasts of A for twelve fused
// multiply-adds, the most that sixteen registers hold. Tiles of other instruction sets: kernels/tile.h.
#include "kernels/gemm.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/pack.h"
#include "kernels/simd.h"
#include "kernels/tile.h"

namespace locus::kernels {
namespace {

using simd::kLanes;
using simd::Vec;

// Blocks of R rows under one panel: c[r][0..kPanel) (op)= sum_k a(r, k) * b[k][0..kPanel), with
// a(r, k) = a[r * row_step + k * depth_step] in pieces of some depth whose first elements are piece_step apart.
struct TileArgs {
  const float* a;
  std::int64_t row_step;
  std::int64_t depth_step;
  std::int64_t piece;
  std::int64_t piece_step;
  std::int64_t block_step;  // from one block of a to the next
  std::int64_t blocks;
  const float* b;
  std::int64_t depth;
  float* c;
  std::int64_t c_stride;
  const float* start;  // kPanel floats to start every row from: a bias, or zeros
  bool add;
  const float* factor;  // null: none; else the tile is multiplied by it at the end
  std::int64_t factor_stride;
  bool activates;  // GELU at the end
  float* slope;    // null: none; else gets GELU's slope
  std::int64_t slope_stride;
  const float* ahead;  // what will be needed next: ahead_lines cache lines of it are fetched with each block
  std::int64_t ahead_lines;
};

constexpr std::int64_t kLineFloats = 16;  // of a cache line

// A row of a tile, a cache line at a time.
template <int kWrites>
inline void prefetch_row(const float* p) {
  for (std::int64_t i = 0; i < kPanel; i += kLineFloats) __builtin_prefetch(p + i, kWrites);
}

// acc (R, kPanel) += a b.
template <int R>
inline __attribute__((always_inline)) void accumulate(const TileArgs& t, const float* a_piece, Vec (&acc)[R][2]) {
  const float* b = t.b;
  const std::int64_t row_step = t.row_step;
  const std::int64_t depth_step = t.depth_step;
  for (std::int64_t left = t.depth; left > 0; left -= t.piece, a_piece += t.piece_step) {
    const float* a = a_piece;
    const std::int64_t depth = std::min(left, t.piece);
#pragma GCC unroll 4
    for (std::int64_t k = 0; k < depth; ++k) {
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
  }
}

// All blocks in one call: calling for each would cost 5 % at a depth of 64. kOnlyStores: nothing to add to and no factor;
// without these choices a depth of 64 is 2 % faster. A short tile gains nothing by fetching a place that it only writes.
template <int R, bool kOnlyStores>
void tile(const TileArgs& t) {
  const float* a = t.a;
  float* c = t.c;
  const float* factor = kOnlyStores ? nullptr : t.factor;
  const bool fetches = (!kOnlyStores && t.add) || t.depth >= 256;
  const std::int64_t c_stride = t.c_stride;
  for (std::int64_t block = 0; block < t.blocks; ++block, a += t.block_step, c += R * c_stride) {
    Vec acc[R][2];
    const Vec start0 = simd::load(t.start);
    const Vec start1 = simd::load(t.start + kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      acc[r][0] = start0;
      acc[r][1] = start1;
      if (fetches) prefetch_row<1>(c + r * c_stride);
    }
    if (factor != nullptr) {
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) prefetch_row<0>(factor + r * t.factor_stride);
    }
    for (std::int64_t i = 0; i < t.ahead_lines; ++i) __builtin_prefetch(t.ahead + (block * t.ahead_lines + i) * kLineFloats);
    accumulate<R>(t, a, acc);
    if (!kOnlyStores && t.add) {
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        acc[r][0] += simd::load(c + r * c_stride);
        acc[r][1] += simd::load(c + r * c_stride + kLanes);
      }
    }
    if (factor != nullptr) {
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        acc[r][0] *= simd::load(factor + r * t.factor_stride);
        acc[r][1] *= simd::load(factor + r * t.factor_stride + kLanes);
      }
      factor += R * t.factor_stride;
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      simd::store(c + r * c_stride, acc[r][0]);
      simd::store(c + r * c_stride + kLanes, acc[r][1]);
    }
  }
}

alignas(64) constexpr float kZeros[kPanel] = {};

using TileFunction = void (*)(const TileArgs&);
template <bool kOnlyStores, std::size_t... R>
constexpr std::array<TileFunction, sizeof...(R) + 1> tiles_of(std::index_sequence<R...>) {
  return {nullptr, tile<static_cast<int>(R) + 1, kOnlyStores>...};
}
constexpr auto kTiles = tiles_of<false>(std::make_index_sequence<kRowBlock>());
constexpr auto kStoringTiles = tiles_of<true>(std::make_index_sequence<kRowBlock>());

void whole_tiles(const TileArgs& t, std::int64_t rows) {
  const auto& functions = t.add || t.factor != nullptr ? kTiles : kStoringTiles;
  functions[static_cast<std::size_t>(rows)](t);
}

// Tiles whose last columns do not exist: computed in full beside, the existing part copied.
void narrow_tiles(TileArgs t, std::int64_t rows, std::int64_t cols) {
  alignas(64) float buffer[kRowBlock * kPanel];
  alignas(64) float start[kPanel] = {};
  const TileArgs wanted = t;
  std::copy_n(t.start, cols, start);
  t.start = start;
  t.c = buffer;
  t.c_stride = kPanel;
  t.add = false;
  t.factor = nullptr;
  t.blocks = 1;
  for (std::int64_t block = 0; block < wanted.blocks; ++block, t.a += t.block_step) {
    whole_tiles(t, rows);
    for (std::int64_t r = 0; r < rows; ++r) {
      float* c = wanted.c + (block * rows + r) * wanted.c_stride;
      const float* factor = wanted.factor == nullptr ? nullptr : wanted.factor + (block * rows + r) * wanted.factor_stride;
      for (std::int64_t j = 0; j < cols; ++j) {
        c[j] = wanted.add ? c[j] + buffer[r * kPanel + j] : buffer[r * kPanel + j];
        if (factor != nullptr) c[j] *= factor[j];
      }
    }
  }
}

// GELU of tiles that were just stored, in place.
void activate_tiles(const TileArgs& t, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows * t.blocks; ++r) {
    float* x = t.c + r * t.c_stride;
    float* slope = t.slope == nullptr ? nullptr : t.slope + r * t.slope_stride;
    for (std::int64_t j = 0; j < cols; j += kLanes) {
      const Vec v = simd::load(x + j);
      const simd::Normal n = simd::normal(v);
      simd::store(x + j, v * n.cdf);
      if (slope != nullptr) simd::store(slope + j, n.cdf + v * n.density);
    }
  }
}

// t.blocks blocks of `rows` rows.
void any_tiles(const TileArgs& t, std::int64_t rows, std::int64_t cols) {
  if (t.blocks == 0) return;
  if (cols == kPanel) {
    whole_tiles(t, rows);
  } else {
    narrow_tiles(t, rows, cols);
  }
  // Only matrices in panels are activated: their rows are whole vectors.
  if (t.activates) activate_tiles(t, rows, cols);
}

// The first n rows from t's in blocks of nearly equal size: a block of one or two rows would wait for its own sums.
void row_blocks(TileArgs t, std::int64_t n, std::int64_t cols) {
  if (n == 0) return;
  const std::int64_t blocks = (n + kRowBlock - 1) / kRowBlock;
  const std::int64_t rows = (n + blocks - 1) / blocks;
  const std::int64_t smaller = blocks * rows - n;  // blocks of one row less
  t.blocks = blocks - smaller;
  t.block_step = rows * t.row_step;
  any_tiles(t, rows, cols);
  const std::int64_t done = t.blocks * rows;
  t.a += done * t.row_step;
  t.c += done * t.c_stride;
  if (t.factor != nullptr) t.factor += done * t.factor_stride;
  if (t.slope != nullptr) t.slope += done * t.slope_stride;
  t.blocks = smaller;
  t.block_step = (rows - 1) * t.row_step;
  any_tiles(t, rows - 1, cols);
}

// The left and the resulting matrix of a product, plain or in panels.
struct Left {
  const float* data;
  std::int64_t row_step;
  std::int64_t piece;
  std::int64_t piece_step;
};
Left left(ConstMat a) { return {a.data, a.stride, std::max<std::int64_t>(a.cols, 1), 0}; }
Left left(Panels a) { return {a.data, kPanel, kPanel, a.panel_stride}; }

struct Out {
  float* data;
  std::int64_t row_step;
  std::int64_t panel_step;
  float* at(std::int64_t row, std::int64_t col) const { return data + row * row_step + col / kPanel * panel_step; }
};
Out out(Mat c) { return {c.data, c.stride, kPanel}; }
Out out(Panels c) { return {c.data, kPanel, c.panel_stride}; }

// n in equal parts of at most `most`, each but the last a multiple of `unit`.
std::int64_t part_of(std::int64_t n, std::int64_t most, std::int64_t unit) {
  const std::int64_t parts = std::max<std::int64_t>((n + most - 1) / most, 1);
  return (std::max<std::int64_t>((n + parts - 1) / parts, 1) + unit - 1) / unit * unit;
}

struct Size {
  std::int64_t rows, depth, cols;
};

// What happens to sums before they are stored for good.
struct Finish {
  const float* bias = nullptr;
  Out factor = {};
  bool activates = false;
  Out slope = {};
};

void multiply(const Size& size, const Left& a, Packed b, const Out& c, Store store, const Finish& finish) {
  const std::int64_t depth_part = part_of(size.depth, kDepthBlock, kPanel);
  for (std::int64_t i0 = 0; i0 < size.rows; i0 += kRowsInCache) {
    const std::int64_t rows_here = std::min(kRowsInCache, size.rows - i0);
    for (std::int64_t k0 = 0; k0 < std::max<std::int64_t>(size.depth, 1); k0 += depth_part) {
      const bool last = k0 + depth_part >= size.depth;
      TileArgs t{};
      t.row_step = a.row_step;
      t.depth_step = 1;
      t.piece = a.piece;
      t.piece_step = a.piece_step;
      t.depth = std::min(depth_part, size.depth - k0);
      t.c_stride = c.row_step;
      t.add = k0 > 0 || store == Store::kAdd;
      t.factor_stride = finish.factor.row_step;
      t.activates = finish.activates && last;
      t.slope_stride = finish.slope.row_step;
      const float* a_here = a.data + i0 * a.row_step + k0 / a.piece * a.piece_step + k0 % a.piece;
      for (std::int64_t j = 0; j < size.cols; j += kPanel) {
        t.b = b.rows_from(k0).cols_from(j).data;
        t.start = k0 == 0 && finish.bias != nullptr ? finish.bias + j : kZeros;
        if (kFetchesAhead && j + kPanel < size.cols) {
          t.ahead = b.rows_from(k0).cols_from(j + kPanel).data;
          t.ahead_lines = t.depth * kPanel / kLineFloats * kRowBlock / std::max(kRowBlock, rows_here);
        } else {
          t.ahead_lines = 0;
        }
        t.a = a_here;
        t.c = c.at(i0, j);
        if (last && finish.factor.data != nullptr) t.factor = finish.factor.at(i0, j);
        if (last && finish.slope.data != nullptr) t.slope = finish.slope.at(i0, j);
        row_blocks(t, rows_here, std::min(kPanel, size.cols - j));
      }
    }
  }
}

// For c (M,N) = or += a^T b: a(r, k) = a[r + k * depth_step].
TileArgs transposed_tile(std::int64_t depth, std::int64_t depth_step, Mat c, bool add) {
  TileArgs t{};
  t.start = kZeros;
  t.row_step = 1;
  t.depth_step = depth_step;
  t.piece = std::max<std::int64_t>(depth, 1);
  t.depth = depth;
  t.c_stride = c.stride;
  t.add = add;
  return t;
}

// Rows as pack_rows leaves them.
void packed_rows(TileArgs t, std::int64_t n, std::int64_t cols) {
  t.blocks = n / kRowBlock;
  t.block_step = kRowBlock * t.depth;
  any_tiles(t, kRowBlock, cols);
  if (n % kRowBlock == 0) return;
  t.a += t.blocks * t.block_step;
  t.c += t.blocks * kRowBlock * t.c_stride;
  t.blocks = 1;
  any_tiles(t, n % kRowBlock, cols);
}

}  // namespace

std::int64_t panel_columns() { return kPanel; }

void gemm(ConstMat a, Packed b, Mat c, Store store, const float* bias) {
  Finish finish;
  finish.bias = bias;
  multiply({a.rows, a.cols, c.cols}, left(a), b, out(c), store, finish);
}

void gemm_gelu(ConstMat a, Packed b, const float* bias, Panels active, Panels slope) {
  Finish finish;
  finish.bias = bias;
  finish.activates = true;
  finish.slope = out(slope);
  multiply({a.rows, a.cols, active.cols}, left(a), b, out(active), Store::kOverwrite, finish);
}

void gemm_panels(Panels a, Packed b, Mat c, const float* bias) {
  Finish finish;
  finish.bias = bias;
  multiply({a.rows, a.cols, c.cols}, left(a), b, out(c), Store::kOverwrite, finish);
}

void gemm_times(ConstMat a, Packed b, Panels factor, Panels c) {
  Finish finish;
  finish.factor = out(factor);
  multiply({a.rows, a.cols, c.cols}, left(a), b, out(c), Store::kOverwrite, finish);
}

// Blocks of a^T are packed once; panels of b one by one, each used while it is still in the first-level cache.
void gemm_at(ConstMat a, ConstMat b, Mat c, Store store, float* scratch) {
  const std::int64_t depth = a.rows;
  const std::int64_t depth_part = part_of(depth, kDepthBlock, 1);
  for (std::int64_t k0 = 0; k0 < std::max<std::int64_t>(depth, 1); k0 += depth_part) {
    const std::int64_t kc = std::min(depth_part, depth - k0);
    float* panel = scratch;
    float* rows_packed = scratch + kc * kPanel;
    for (std::int64_t i0 = 0; i0 < c.rows; i0 += kRowsTransposed) {
      const std::int64_t i1 = std::min(c.rows, i0 + kRowsTransposed);
      pack_rows(a.block(k0, kc, i0, i1 - i0), a.cols - i0, rows_packed);
      TileArgs t = transposed_tile(kc, kRowBlock, c, k0 > 0 || store == Store::kAdd);
      t.b = panel;
      for (std::int64_t j = 0; j < c.cols; j += kPanel) {
        const std::int64_t cols = std::min(kPanel, c.cols - j);
        pack(b.block(k0, kc, j, cols), panel);
        t.a = rows_packed;
        t.c = c.row(i0) + j;
        packed_rows(t, i1 - i0, cols);
      }
    }
  }
}

void gemm_at_packed(ConstMat a, Packed b, Mat c, Store store) {
  TileArgs t = transposed_tile(a.rows, a.stride, c, store == Store::kAdd);
  for (std::int64_t j = 0; j < c.cols; j += kPanel) {
    t.a = a.data;
    t.b = b.cols_from(j).data;
    t.c = c.data + j;
    row_blocks(t, c.rows, std::min(kPanel, c.cols - j));
  }
}

// Panels of b as they are; blocks of a^T packed.
void gemm_at_right_panels(ConstMat a, Panels b, Mat c, float* scratch) {
  const std::int64_t depth_part = part_of(a.rows, kDepthBlock, 1);
  for (std::int64_t k0 = 0; k0 < a.rows; k0 += depth_part) {
    const std::int64_t kc = std::min(depth_part, a.rows - k0);
    TileArgs t = transposed_tile(kc, kRowBlock, c, true);
    for (std::int64_t i0 = 0; i0 < c.rows; i0 += kRowsTransposed) {
      const std::int64_t i1 = std::min(c.rows, i0 + kRowsTransposed);
      pack_rows(a.block(k0, kc, i0, i1 - i0), a.cols - i0, scratch);
      for (std::int64_t j = 0; j < c.cols; j += kPanel) {
        t.b = &b(k0, j);
        t.a = scratch;
        t.c = c.row(i0) + j;
        packed_rows(t, i1 - i0, std::min(kPanel, c.cols - j));
      }
    }
  }
}

// Columns of a stand side by side in a panel, so each panel is cut into blocks of nearly equal size. Some panels of b are
// packed at once and used for all columns of a, of which kColumnsShared at a time stay in the second-level cache.
void gemm_at_left_panels(Panels a, ConstMat b, Mat c, float* scratch) {
  const std::int64_t depth_part = part_of(a.rows, kSharedDepth, 1);
  const std::int64_t cols_part = part_of(c.cols, kColumnsPacked, kPanel);
  for (std::int64_t k0 = 0; k0 < a.rows; k0 += depth_part) {
    const std::int64_t kc = std::min(depth_part, a.rows - k0);
    TileArgs t = transposed_tile(kc, kPanel, c, true);
    for (std::int64_t j0 = 0; j0 < c.cols; j0 += cols_part) {
      const std::int64_t j1 = std::min(c.cols, j0 + cols_part);
      pack(b.block(k0, kc, j0, j1 - j0), scratch);
      for (std::int64_t i0 = 0; i0 < c.rows; i0 += kColumnsShared) {
        const std::int64_t i1 = std::min(c.rows, i0 + kColumnsShared);
        for (std::int64_t j = j0; j < j1; j += kPanel) {
          t.b = Packed(scratch, kc).cols_from(j - j0).data;
          for (std::int64_t p = i0; p < i1; p += kPanel) {
            t.a = &a(k0, p);
            t.c = c.row(p) + j;
            row_blocks(t, std::min(kPanel, i1 - p), std::min(kPanel, j1 - j));
          }
        }
      }
    }
  }
}

std::int64_t gemm_at_scratch(std::int64_t depth) {
  const std::int64_t packs_rows = std::min(depth, kDepthBlock) * (kRowsTransposed + kPanel) + 2 * kCopied + 16;
  return std::max(packs_rows, packed_size(std::min(depth, kSharedDepth), kColumnsPacked));
}

}  // namespace locus::kernels
