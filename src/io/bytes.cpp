#include "io/bytes.h"

#include <fmt/core.h>

#include "core/error.h"

namespace locus {
namespace {

constexpr const char* kTruncatedHint = "the file is truncated or damaged: copy or make it again";

}  // namespace

void ByteReader::seek(std::uint64_t position, std::string_view what) {
  if (position > bytes_.size()) {
    throw IoError({.what = fmt::format("{} lies beyond the end of the file", what),
                   .where = name_,
                   .got = fmt::format("offset {} in {} bytes", position, bytes_.size()),
                   .hint = kTruncatedHint});
  }
  position_ = position;
}

ByteSpan ByteReader::take(std::uint64_t count, std::string_view what) {
  if (count > remaining()) {
    throw IoError({.what = fmt::format("the file ends inside {}", what),
                   .where = name_,
                   .got = fmt::format("{} bytes left at offset {}", remaining(), position_),
                   .expected = fmt::format("{} bytes", count),
                   .hint = kTruncatedHint});
  }
  const ByteSpan part = bytes_.subspan(position_, count);
  position_ += count;
  return part;
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
  } else if (c < 0x10000) {
    out += {static_cast<char>(0xe0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
  } else if (c < 0x110000) {
    out += {static_cast<char>(0xf0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 63)),
            static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
  }
}

}  // namespace locus
