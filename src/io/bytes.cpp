#include "io/bytes.h"

#include <fmt/format.h>

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

}  // namespace locus
