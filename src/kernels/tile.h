// Sizes of the matrix product's tiles, by instruction set. For the files that are compiled once per instruction set, alone.
#pragma once

#include <cstdint>

namespace locus::kernels {

// kPanel: columns of B a panel, two registers. kRowBlock: rows of A a register tile. kDepthBlock: depth of a panel, which
// stays in the first-level cache (20 to 24 kB).
#if defined(__AVX512F__)
inline constexpr std::int64_t kPanel = 32;
inline constexpr std::int64_t kRowBlock = 12;  // 24 accumulators of 32 registers
inline constexpr std::int64_t kDepthBlock = 192;
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

}  // namespace locus::kernels
