// Archives of npy arrays over the zip reader and writer.
#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"
#include "io/file.h"
#include "io/npy.h"
#include "io/zip.h"

namespace locus {
namespace {

constexpr std::string_view kSuffix = ".npy";

std::string array_name(const std::string& entry) {
  return entry.ends_with(kSuffix) ? entry.substr(0, entry.size() - kSuffix.size()) : entry;
}

}  // namespace

std::vector<std::string> npz_names(ByteSpan bytes, std::string_view name, const ReadLimits&) {
  std::vector<std::string> names;
  for (const ZipEntry& entry : zip_entries(bytes, name)) names.push_back(array_name(entry.name));
  return names;
}

std::vector<NpzEntry> parse_npz(ByteSpan bytes, std::string_view name, std::string_view only, const ReadLimits& limits) {
  std::vector<NpzEntry> arrays;
  std::vector<std::string> names;
  std::uint64_t total = 0;
  for (const ZipEntry& entry : zip_entries(bytes, name)) {
    names.push_back(array_name(entry.name));
    if (!only.empty() && names.back() != only) continue;
    // Entries may share their data in a hostile archive, so the bound is on the sum.
    total += std::min(entry.size, limits.array_bytes + 1);
    if (total > limits.array_bytes) {
      throw IoError({.what = "the arrays are too large together",
                     .where = std::string(name),
                     .expected = "at most " + human_bytes(static_cast<double>(limits.array_bytes))});
    }
    const Bytes content = zip_extract(bytes, entry, name, limits.array_bytes);
    arrays.push_back({names.back(), parse_npy(content, fmt::format("{}: {}", name, entry.name), limits)});
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
