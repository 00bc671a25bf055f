// Bounds every reader keeps to, so that a hostile file cannot ask for unbounded memory or time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace locus {

// 8 GB, or a quarter of the memory this process may use where that is less: a reader holds an array up to three times.
std::uint64_t largest_array_bytes();

struct ReadLimits {
  std::uint64_t file_bytes = std::uint64_t{16} << 30;     // the file itself
  std::uint64_t array_bytes = largest_array_bytes();      // one array after decompression or conversion to doubles
  std::uint64_t header_bytes = std::uint64_t{128} << 20;  // JSON or XML headers

  // The same for a file of this size: what comes out of it as doubles may exceed it 64-fold beyond a free 256 MB, its
  // header 4-fold beyond 8 MB. So a file below 1 MB stays below 1 GB with all copies that reading makes.
  ReadLimits for_file(std::uint64_t bytes) const;
};

// Deflate cannot expand by more than this; a larger declared size is a lie.
inline constexpr std::uint64_t kMaxDeflateRatio = 1032;

// Product of the dimensions; nothing when one is negative or the product exceeds 2^63 - 1.
inline std::optional<std::uint64_t> checked_product(std::span<const std::int64_t> shape) {
  std::uint64_t product = 1;
  bool has_zero = false;
  for (const std::int64_t d : shape) {
    if (d < 0) return std::nullopt;
    if (d == 0) {
      has_zero = true;
      continue;
    }
    if (product > static_cast<std::uint64_t>(INT64_MAX) / static_cast<std::uint64_t>(d)) return std::nullopt;
    product *= static_cast<std::uint64_t>(d);
  }
  return has_zero ? 0 : product;
}

// Elements of an array of this shape; IoError naming `where` when they exceed limits.array_bytes as doubles.
std::uint64_t checked_count(std::span<const std::int64_t> shape, std::string_view where, const ReadLimits& limits);

}  // namespace locus
