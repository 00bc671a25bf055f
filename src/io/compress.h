// Inflate and deflate over zlib with a bound on the output, so that a small file cannot fill the memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "io/bytes.h"

namespace locus {

enum class DeflateFormat { kRaw, kZlib, kGzip };

// The whole stream; IoError when it is damaged, ends early or would give more than `max_bytes`.
Bytes inflate_all(ByteSpan compressed, DeflateFormat format, std::uint64_t max_bytes, std::string_view name);

// The first bytes of a stream, at most `max_bytes`; a stream that ends early just gives fewer.
Bytes inflate_prefix(ByteSpan compressed, DeflateFormat format, std::uint64_t max_bytes, std::string_view name);

// Level 6, no names or times inside: the same input gives the same bytes.
Bytes deflate_all(ByteSpan bytes, DeflateFormat format);

std::uint32_t crc32_of(ByteSpan bytes);

}  // namespace locus
