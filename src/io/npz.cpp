// Archives of npy arrays over the zip reader and writer.
#include <fmt/core.h>

#include "core/error.h"
#include "core/text.h"
#include "io/file.h"
#include "io/npy.h"
#include "io/zip.h"

namespace locus {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr std::uint64_t kMemberFrontBytes = 64 * 1024;

std::string array_name(const std::string& entry) {
  return entry.ends_with(kSuffix) ? entry.substr(0, entry.size() - kSuffix.size()) : entry;
}

}  // namespace

std::vector<std::string> npz_names(ByteSpan bytes, std::string_view name, const ReadLimits&) {
  std::vector<std::string> names;
  for (const ZipEntry& entry : zip_entries(bytes, name)) names.push_back(array_name(entry.name));
  return names;
}

std::vector<NpzEntry> list_npz(ByteSpan bytes, std::string_view name) {
  std::vector<NpzEntry> out;
  for (const ZipEntry& entry : zip_entries(bytes, name)) {
    const Bytes front = zip_front(bytes, entry, name, kMemberFrontBytes);
    out.push_back({array_name(entry.name), npy_front(front, fmt::format("{}: {}", name, entry.name))});
  }
  return out;
}

std::vector<NpzEntry> parse_npz(ByteSpan bytes, std::string_view name, std::string_view only, const ReadLimits& limits) {
  std::vector<NpzEntry> arrays;
  std::vector<std::string> names;
  // Entries may share their data in a hostile archive, so the bound is on the sum of what is allocated.
  ReadLimits left = limits.for_file(bytes.size());
  for (const ZipEntry& entry : zip_entries(bytes, name)) {
    names.push_back(array_name(entry.name));
    if (!only.empty() && names.back() != only) continue;
    NpyReader reader(fmt::format("{}: {}", name, entry.name), left, entry.size);
    zip_pieces(bytes, entry, name, left.array_bytes + kMemberFrontBytes, [&](ByteSpan piece) { reader.add(piece); });
    arrays.push_back({names.back(), reader.finish()});
    left.array_bytes -= std::min<std::uint64_t>(left.array_bytes, arrays.back().array.values.size() * sizeof(double));
  }
  if (!only.empty() && arrays.empty()) {
    const std::string near = nearest_name(only, names);
    throw IoError({.what = "no array of this name in the NPZ file",
                   .where = std::string(name),
                   .got = std::string(only),
                   .expected = "one of " + join(names, ", "),
                   .hint = near.empty() ? "" : "did you mean " + near + "?"});
  }
  return arrays;
}

std::vector<std::string> parse_npz_texts(ByteSpan bytes, std::string_view name, std::string_view only,
                                         const ReadLimits& limits) {
  const ReadLimits bounds = limits.for_file(bytes.size());
  for (const ZipEntry& entry : zip_entries(bytes, name)) {
    if (array_name(entry.name) != only) continue;
    Bytes content;
    zip_pieces(bytes, entry, name, bounds.header_bytes, [&](ByteSpan piece) { append(content, piece); });
    return npy_texts(content, fmt::format("{}: {}", name, entry.name), bounds);
  }
  return {};
}

std::vector<NpzEntry> read_npz(const std::filesystem::path& path, std::string_view only, const ReadLimits& limits) {
  return parse_npz(read_file(path, limits.file_bytes), path.string(), only, limits);
}

Bytes encode_npz(std::span<const TensorView> arrays, NpzCompression compression) {
  std::vector<ZipInput> files;
  for (const TensorView& array : arrays) {
    LOCUS_CHECK(!array.name.empty(), "arrays of an NPZ file need names");
    files.push_back({array.name + std::string(kSuffix), encode_npy(array)});
  }
  return zip_encode(files, compression == NpzCompression::kDeflate);
}

void write_npz(const std::filesystem::path& path, std::span<const TensorView> arrays, NpzCompression compression) {
  write_file_atomic(path, encode_npz(arrays, compression));
}

}  // namespace locus
