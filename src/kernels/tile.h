// Sizes of the matrix product's tiles, by instruction set. For the files that are compiled once per instruction set, alone.
#pragma once

#include <cstdint>

namespace locus::kernels {

// kPanel: columns of B a panel, two registers. kRowBlock: rows of A a register tile. kDepthBlock: depth of a panel, which
// stays in the first-level cache (20 kB). A panel of AVX-512 stays in the second, which easily gives 128 bytes for 24
// multiply-adds of whole registers: products of 512 x 2048 run at 109 GFLOP/s with 512, at 105 with 192 (peak 116).
#if defined(__AVX512F__)
inline constexpr std::int64_t kPanel = 32;
inline constexpr std::int64_t kRowBlock = 12;  // 24 accumulators of 32 registers
inline constexpr std::int64_t kDepthBlock = 512;
#elif defined(__AVX2__) || defined(__aarch64__)
inline constexpr std::int64_t kPanel = 16;
inline constexpr std::int64_t kRowBlock = 6;  // 12 accumulators of 16 registers; on ARM 24 of 32
inline constexpr std::int64_t kDepthBlock = 320;
#else
inline constexpr std::int64_t kPanel = 8;
inline constexpr std::int64_t kRowBlock = 6;  // 12 accumulators of 16 registers
inline constexpr std::int64_t kDepthBlock = 640;
#endif

inline constexpr std::int64_t kRowsInCache = 192;  // rows of A a block: 192 x 320 floats stay in the second-level cache

inline constexpr std::int64_t kRowsTransposed = 324;  // rows of A^T packed at once; more share one packing of B

// Whether the next panel is fetched while one is in use. Weights that come from the third-level cache are then multiplied
// 8 % faster by tiles of AVX2; panels of AVX-512 are too large for two to stay in the first-level cache.
inline constexpr bool kFetchesAhead = kPanel <= 16;

// Products whose A is in panels too. Their depth: 192 would let a panel of A and one of B share the first-level cache, but
// the result is then read and written more often; 512 is 3 to 8 % faster with AVX2 and AVX-512. Columns of A that stay in
// the second-level cache, and columns of B packed at once.
inline constexpr std::int64_t kSharedDepth = 512;
inline constexpr std::int64_t kColumnsShared = 320;
inline constexpr std::int64_t kColumnsPacked = 352;

}  // namespace locus::kernels
