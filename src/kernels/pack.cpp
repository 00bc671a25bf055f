#include "kernels/pack.h"

#include <algorithm>

#include "kernels/gemm.h"

namespace locus::kernels {
namespace {

using simd::kLanes;

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

constexpr std::int64_t kBlocksAtOnce = 8;

}  // namespace

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
    const std::int64_t whole_cols = cols / kSquare * kSquare;
    const std::int64_t whole_depth = depth / kSquare * kSquare;
    for (std::int64_t k = 0; k < whole_depth; k += kSquare) {
      for (std::int64_t i = 0; i < whole_cols; i += kSquare) {
        transpose_square(bt.row(j + i) + k, bt.stride, out + k * kPanel + i, kPanel);
      }
    }
    for (std::int64_t k = 0; k < depth; ++k) {
      for (std::int64_t i = k < whole_depth ? whole_cols : 0; i < cols; ++i) out[k * kPanel + i] = bt(j + i, k);
      std::fill(out + k * kPanel + cols, out + (k + 1) * kPanel, 0.0f);
    }
  }
}

}  // namespace locus::kernels
