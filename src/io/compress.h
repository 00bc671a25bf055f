// Inflate and deflate over zlib with a bound on the output, so that a small file cannot fill the memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "io/bytes.h"

namespace locus {

enum class DeflateFormat { kRaw, kZlib, kGzip };

inline bool is_gzip(ByteSpan bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

// The whole stream; IoError when it is damaged, ends early or would give more than `max_bytes`.
Bytes inflate_all(ByteSpan compressed, DeflateFormat format, std::uint64_t max_bytes, std::string_view name);

// The same in pieces of at most 1 MB, so that the whole need not stand in memory.
using PieceSink = std::function<void(ByteSpan)>;
void inflate_pieces(ByteSpan compressed, DeflateFormat format, std::uint64_t max_bytes, std::string_view name,
                    const PieceSink& sink);

// The first bytes of a stream, at most `max_bytes`; a stream that ends early just gives fewer.
Bytes inflate_prefix(ByteSpan compressed, DeflateFormat format, std::uint64_t max_bytes, std::string_view name);

// Level 6, no names or times inside: the same input gives the same bytes.
Bytes deflate_all(ByteSpan bytes, DeflateFormat format);

// Of the bytes after those with the checksum `before`.
std::uint32_t crc32_of(ByteSpan bytes, std::uint32_t before = 0);

}  // namespace locus
