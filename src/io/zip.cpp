#include "io/zip.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "io/compress.h"

namespace locus {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50;
constexpr std::uint32_t kCentral = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kEnd64Locator = 0x07064b50;
constexpr std::uint16_t kZip64Extra = 1;
constexpr std::uint32_t kFull32 = 0xffffffff;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kCentralSize = 46;

[[noreturn]] void throw_zip(std::string_view name, std::string what, std::string got = {}) {
  throw IoError({.what = std::move(what),
                 .where = std::string(name),
                 .got = std::move(got),
                 .hint = "the file is truncated, damaged or not a zip archive (NPZ): make it again"});
}

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
};

Directory find_directory(ByteSpan archive, std::string_view name) {
  // The end record is followed by a comment of at most 65535 bytes.
  if (archive.size() < kEndSize) throw_zip(name, "too short for a zip archive");
  const std::size_t lowest = archive.size() - std::min<std::size_t>(archive.size(), kEndSize + 65535);
  std::size_t at = archive.size() - kEndSize;
  while (load_number<std::uint32_t>(archive.data() + at) != kEnd) {
    if (at == lowest) throw_zip(name, "no zip directory");
    --at;
  }
  ByteReader reader(archive, name);
  reader.seek(at + 10, "the zip directory");
  Directory directory;
  directory.count = reader.number<std::uint16_t>("the zip directory");
  reader.number<std::uint32_t>("the zip directory");
  directory.offset = reader.number<std::uint32_t>("the zip directory");
  const bool zip64 = directory.count == 0xffff || directory.offset == kFull32;
  if (zip64 && at >= 20 && load_number<std::uint32_t>(archive.data() + at - 20) == kEnd64Locator) {
    reader.seek(load_number<std::uint64_t>(archive.data() + at - 12), "the zip64 directory");
    if (reader.number<std::uint32_t>("the zip64 directory") != kEnd64) throw_zip(name, "damaged zip64 directory");
    reader.take(28, "the zip64 directory");
    directory.count = reader.number<std::uint64_t>("the zip64 directory");
    reader.number<std::uint64_t>("the zip64 directory");
    directory.offset = reader.number<std::uint64_t>("the zip64 directory");
  }
  return directory;
}

// Sizes and offset beyond 32 bits stand in an extra field, in this order, only those that overflowed.
void apply_zip64(ZipEntry& entry, ByteSpan extra, std::string_view name) {
  ByteReader fields(extra, name);
  while (fields.remaining() >= 4) {
    const auto id = fields.number<std::uint16_t>("a zip extra field");
    const auto size = fields.number<std::uint16_t>("a zip extra field");
    if (size > fields.remaining()) return;
    ByteReader field(fields.take(size, "a zip extra field"), name);
    if (id != kZip64Extra) continue;
    for (std::uint64_t* value : {&entry.size, &entry.packed_size, &entry.offset}) {
      if (*value == kFull32) *value = field.number<std::uint64_t>("a zip64 size");
    }
    return;
  }
}

// The entry's bytes as they are stored.
ByteSpan packed_data(ByteSpan archive, const ZipEntry& entry, const std::string& where) {
  if ((entry.flags & 1) != 0) throw_zip(where, "the entry is encrypted");
  if (entry.method != 0 && entry.method != 8)
    throw_zip(where, "unknown compression method (only stored and deflate)", std::to_string(entry.method));
  ByteReader reader(archive, where);
  reader.seek(entry.offset, "the entry");
  if (reader.number<std::uint32_t>("the entry's header") != kLocal) throw_zip(where, "damaged entry header");
  reader.take(22, "the entry's header");
  const auto name_size = reader.number<std::uint16_t>("the entry's header");
  const auto extra_size = reader.number<std::uint16_t>("the entry's header");
  reader.take(std::uint64_t{name_size} + extra_size, "the entry's header");
  return reader.take(entry.packed_size, "the entry's data");
}

}  // namespace

std::vector<ZipEntry> zip_entries(ByteSpan archive, std::string_view name) {
  const Directory directory = find_directory(archive, name);
  if (directory.count > archive.size() / kCentralSize) {
    throw_zip(name, "more entries than the file can hold", std::to_string(directory.count));
  }
  ByteReader reader(archive, name);
  reader.seek(directory.offset, "the zip directory");
  std::vector<ZipEntry> entries;
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    if (reader.number<std::uint32_t>("a zip entry") != kCentral) throw_zip(name, "damaged zip directory");
    reader.take(4, "a zip entry");
    ZipEntry entry;
    entry.flags = reader.number<std::uint16_t>("a zip entry");
    entry.method = reader.number<std::uint16_t>("a zip entry");
    reader.take(4, "a zip entry");
    entry.crc = reader.number<std::uint32_t>("a zip entry");
    entry.packed_size = reader.number<std::uint32_t>("a zip entry");
    entry.size = reader.number<std::uint32_t>("a zip entry");
    const auto name_size = reader.number<std::uint16_t>("a zip entry");
    const auto extra_size = reader.number<std::uint16_t>("a zip entry");
    const auto comment_size = reader.number<std::uint16_t>("a zip entry");
    reader.take(8, "a zip entry");
    entry.offset = reader.number<std::uint32_t>("a zip entry");
    entry.name = as_text(reader.take(name_size, "the name of a zip entry"));
    apply_zip64(entry, reader.take(extra_size, "a zip extra field"), name);
    reader.take(comment_size, "a zip comment");
    entries.push_back(std::move(entry));
  }
  return entries;
}

void zip_pieces(ByteSpan archive, const ZipEntry& entry, std::string_view name, std::uint64_t max_bytes,
                const PieceSink& sink) {
  const std::string where = fmt::format("{}: entry '{}'", name, entry.name);
  if (entry.size > max_bytes) throw_zip(where, "the entry is too large", human_bytes(static_cast<double>(entry.size)));
  const ByteSpan packed = packed_data(archive, entry, where);
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  const auto checked = [&](ByteSpan piece) {
    size += piece.size();
    crc = crc32_of(piece, crc);
    sink(piece);
  };
  if (entry.method == 0) {
    if (packed.size() == entry.size) checked(packed);
  } else {
    if (entry.size / kMaxDeflateRatio > packed.size()) throw_zip(where, "the entry's size is impossible");
    inflate_pieces(packed, DeflateFormat::kRaw, entry.size, where, checked);
  }
  if (size != entry.size) throw_zip(where, "the entry has another size than stated");
  if (crc != entry.crc) throw_zip(where, "the entry's checksum (CRC-32) is wrong");
}

Bytes zip_front(ByteSpan archive, const ZipEntry& entry, std::string_view name, std::uint64_t max_bytes) {
  const std::string where = fmt::format("{}: entry '{}'", name, entry.name);
  const ByteSpan packed = packed_data(archive, entry, where);
  if (entry.method == 8) return inflate_prefix(packed, DeflateFormat::kRaw, max_bytes, where);
  const ByteSpan front = packed.first(std::min<std::uint64_t>(packed.size(), max_bytes));
  return {front.begin(), front.end()};
}

Bytes zip_encode(std::span<const ZipInput> files, bool deflated) {
  Bytes out;
  Bytes directory;
  for (const ZipInput& file : files) {
    const Bytes packed = deflated ? deflate_all(file.content, DeflateFormat::kRaw) : Bytes();
    const ByteSpan data = deflated ? ByteSpan(packed) : ByteSpan(file.content);
    if (file.content.size() >= kFull32 || out.size() + data.size() >= kFull32) {
      throw IoError(
          {.what = "an NPZ above 4 GB cannot be written", .got = file.name, .hint = "write one NPY file per array instead"});
    }
    // The fields that local header and directory share.
    Bytes common;
    append_number<std::uint16_t>(common, 20);      // version needed: 2.0
    append_number<std::uint16_t>(common, 0x0800);  // names are UTF-8
    append_number<std::uint16_t>(common, deflated ? 8 : 0);
    append_number<std::uint16_t>(common, 0);       // 00:00:00
    append_number<std::uint16_t>(common, 0x0021);  // 1980-01-01
    append_number<std::uint32_t>(common, crc32_of(file.content));
    append_number<std::uint32_t>(common, static_cast<std::uint32_t>(data.size()));
    append_number<std::uint32_t>(common, static_cast<std::uint32_t>(file.content.size()));
    append_number<std::uint16_t>(common, static_cast<std::uint16_t>(file.name.size()));
    append_number<std::uint16_t>(common, 0);  // no extra field
    append_number(directory, kCentral);
    append_number<std::uint16_t>(directory, 20);
    append(directory, common);
    append(directory, Bytes(6));                           // comment size, disk, internal attributes
    append_number<std::uint32_t>(directory, 0600u << 16);  // Unix mode
    append_number<std::uint32_t>(directory, static_cast<std::uint32_t>(out.size()));
    append(directory, bytes_of(file.name));
    append_number(out, kLocal);
    append(out, common);
    append(out, bytes_of(file.name));
    append(out, data);
  }
  LOCUS_CHECK(files.size() < 0xffff, "too many entries for a zip archive");
  const auto offset = static_cast<std::uint32_t>(out.size());
  append(out, directory);
  append_number(out, kEnd);
  append_number<std::uint32_t>(out, 0);  // disks
  append_number<std::uint16_t>(out, static_cast<std::uint16_t>(files.size()));
  append_number<std::uint16_t>(out, static_cast<std::uint16_t>(files.size()));
  append_number<std::uint32_t>(out, static_cast<std::uint32_t>(directory.size()));
  append_number<std::uint32_t>(out, offset);
  append_number<std::uint16_t>(out, 0);  // no comment
  return out;
}

}  // namespace locus
