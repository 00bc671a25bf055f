#include "io/idx.h"

#include <fmt/core.h>

#include <optional>

#include "core/error.h"
#include "io/compress.h"
#include "io/file.h"

namespace locus {
namespace {

constexpr std::size_t kMagicBytes = 4;
constexpr std::size_t kMostAxes = 8;  // of what we read; the format has room for 255

std::optional<DType> dtype_of_code(std::byte code) {
  switch (static_cast<int>(code)) {
    case 0x08:
      return DType::kU8;
    case 0x09:
      return DType::kI8;
    case 0x0B:
      return DType::kI16;
    case 0x0C:
      return DType::kI32;
    case 0x0D:
      return DType::kF32;
    case 0x0E:
      return DType::kF64;
    default:
      return std::nullopt;
  }
}

bool has_magic(ByteSpan b) {
  return b.size() >= kMagicBytes && b[0] == std::byte{0} && b[1] == std::byte{0} && dtype_of_code(b[2]).has_value() &&
         b[3] != std::byte{0} && static_cast<std::size_t>(b[3]) <= kMostAxes;
}

[[noreturn]] void throw_idx(std::string_view name, std::string what, std::string got, std::string expected = {}) {
  throw IoError({.what = std::move(what),
                 .where = std::string(name),
                 .got = std::move(got),
                 .expected = std::move(expected),
                 .hint = "the file is truncated, damaged or no IDX file (MNIST's format): copy it again"});
}

NdArray parse_plain(ByteSpan bytes, std::string_view name, const ReadLimits& limits) {
  if (!has_magic(bytes)) throw_idx(name, "this is no IDX file", fmt::format("{} bytes", bytes.size()));
  const DType type = *dtype_of_code(bytes[2]);
  ByteReader reader(bytes, name, true);
  reader.seek(kMagicBytes, "the axes");
  NdArray array;
  for (int axis = 0; axis < static_cast<int>(bytes[3]); ++axis) {
    array.shape.push_back(reader.number<std::uint32_t>("the length of an axis"));
  }
  const std::uint64_t count = checked_count(array.shape, name, limits);
  if (reader.remaining() != count * dtype_size(type)) {
    throw_idx(name, "the file's size does not fit its axes", fmt::format("{} bytes of numbers", reader.remaining()),
              fmt::format("{} for shape {}", count * dtype_size(type), shape_text(array.shape)));
  }
  array.stored_type = dtype_name(type);
  array.values.resize(count);
  convert_to_doubles(type, reader.take(reader.remaining(), "the numbers"), true, array.values);
  return array;
}

}  // namespace

bool looks_like_idx(ByteSpan front) {
  if (!is_gzip(front)) return has_magic(front);
  try {
    return has_magic(inflate_prefix(front, DeflateFormat::kGzip, kMagicBytes, "front"));
  } catch (const IoError&) {
    return false;
  }
}

NdArray parse_idx(ByteSpan bytes, std::string_view name, const ReadLimits& limits) {
  const ReadLimits bounds = limits.for_file(bytes.size());
  if (!is_gzip(bytes)) return parse_plain(bytes, name, bounds);
  // The axes tell how much is to come, before any of it is unpacked.
  const Bytes front = inflate_prefix(bytes, DeflateFormat::kGzip, kMagicBytes + 4 * kMostAxes, name);
  if (!has_magic(front)) throw_idx(name, "this is no IDX file", "gzipped data of another kind");
  const auto axes = static_cast<std::size_t>(front[3]);
  std::vector<std::int64_t> shape;
  ByteReader reader(front, name, true);
  reader.seek(kMagicBytes, "the axes");
  for (std::size_t axis = 0; axis < axes; ++axis) shape.push_back(reader.number<std::uint32_t>("the length of an axis"));
  const std::uint64_t size =
      kMagicBytes + 4 * axes + checked_count(shape, name, bounds) * dtype_size(*dtype_of_code(front[2]));
  return parse_plain(inflate_all(bytes, DeflateFormat::kGzip, size, name), name, bounds);
}

NdArray read_idx(const std::filesystem::path& path, const ReadLimits& limits) {
  return parse_idx(read_file(path, limits.file_bytes), path.string(), limits);
}

}  // namespace locus
