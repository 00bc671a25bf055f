#include "io/nifti.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.h"
#include "io/compress.h"
#include "io/file.h"

namespace locus {
namespace {

constexpr std::size_t kSize1 = 348;
constexpr std::size_t kSize2 = 540;
constexpr std::size_t kMaxExtensions = 10000;
// More than any sane gap after the data of a gzipped image.
constexpr std::uint64_t kTailBytes = std::uint64_t{1} << 20;

[[noreturn]] void throw_nifti(std::string_view name, std::string what, std::string got = {}, std::string hint = {}) {
  if (hint.empty()) hint = "the file is truncated, damaged or no NIfTI image";
  throw IoError({.what = std::move(what), .where = std::string(name), .got = std::move(got), .hint = std::move(hint)});
}

// 1 or 2 for the two versions (by the stated header size, in either byte order), 0 for neither.
int version_of(ByteSpan head, bool& swap) {
  if (head.size() < 4) return 0;
  for (const bool swapped : {false, true}) {
    const auto size = load_number<std::uint32_t>(head.data(), swapped);
    swap = swapped;
    if (size == kSize1) return 1;
    if (size == kSize2) return 2;
  }
  return 0;
}

std::optional<DType> dtype_of_code(int code) {
  switch (code) {
    case 2:
      return DType::kU8;
    case 4:
      return DType::kI16;
    case 8:
      return DType::kI32;
    case 16:
      return DType::kF32;
    case 64:
      return DType::kF64;
    case 256:
      return DType::kI8;
    case 512:
      return DType::kU16;
    case 768:
      return DType::kU32;
    case 1024:
      return DType::kI64;
    case 1280:
      return DType::kU64;
    default:
      return std::nullopt;
  }
}

std::string fixed_text(ByteSpan bytes) {
  const std::string_view text = as_text(bytes);
  return std::string(text.substr(0, text.find('\0')));
}

struct RawHeader {
  std::array<std::int64_t, 8> dim{};
  int datatype = 0;
  double offset = 0;
  double slope = 0;
  double intercept = 0;
};

RawHeader read_version1(ByteSpan b, NiftiHeader& h) {
  const bool swap = h.swap;
  RawHeader raw;
  for (std::size_t i = 0; i < 8; ++i) {
    raw.dim[i] = load_number<std::int16_t>(b.data() + 40 + 2 * i, swap);
    h.pixdim[i] = load_number<float>(b.data() + 76 + 4 * i, swap);
  }
  raw.datatype = load_number<std::int16_t>(b.data() + 70, swap);
  raw.offset = load_number<float>(b.data() + 108, swap);
  raw.slope = load_number<float>(b.data() + 112, swap);
  raw.intercept = load_number<float>(b.data() + 116, swap);
  h.intent_code = load_number<std::int16_t>(b.data() + 68, swap);
  h.qform_code = load_number<std::int16_t>(b.data() + 252, swap);
  h.sform_code = load_number<std::int16_t>(b.data() + 254, swap);
  for (std::size_t i = 0; i < 12; ++i) h.sform[i] = load_number<float>(b.data() + 280 + 4 * i, swap);
  h.description = fixed_text(b.subspan(148, 80));
  h.intent_name = fixed_text(b.subspan(328, 16));
  return raw;
}

RawHeader read_version2(ByteSpan b, NiftiHeader& h) {
  const bool swap = h.swap;
  RawHeader raw;
  for (std::size_t i = 0; i < 8; ++i) {
    raw.dim[i] = load_number<std::int64_t>(b.data() + 16 + 8 * i, swap);
    h.pixdim[i] = load_number<double>(b.data() + 104 + 8 * i, swap);
  }
  raw.datatype = load_number<std::int16_t>(b.data() + 12, swap);
  raw.offset = static_cast<double>(load_number<std::int64_t>(b.data() + 168, swap));
  raw.slope = load_number<double>(b.data() + 176, swap);
  raw.intercept = load_number<double>(b.data() + 184, swap);
  h.intent_code = load_number<std::int32_t>(b.data() + 504, swap);
  h.qform_code = load_number<std::int32_t>(b.data() + 344, swap);
  h.sform_code = load_number<std::int32_t>(b.data() + 348, swap);
  for (std::size_t i = 0; i < 12; ++i) h.sform[i] = load_number<double>(b.data() + 400 + 8 * i, swap);
  h.description = fixed_text(b.subspan(240, 80));
  h.intent_name = fixed_text(b.subspan(508, 16));
  return raw;
}

void check_magic(ByteSpan head, int version, std::string_view name) {
  const std::string_view magic = as_text(version == 1 ? head.subspan(344, 4) : head.subspan(4, 4));
  if (magic.starts_with("ni")) {
    throw_nifti(name, "the image's data stand in a second file (.img)", {}, "convert the pair to one .nii file");
  }
  if (magic != (version == 1 ? std::string_view("n+1\0", 4) : std::string_view("n+2\0", 4))) {
    throw_nifti(name, "not a NIfTI image: wrong magic");
  }
}

NiftiHeader parse_header(ByteSpan head, std::string_view name) {
  NiftiHeader h;
  h.version = version_of(head, h.swap);
  if (h.version == 0) throw_nifti(name, "not a NIfTI image: wrong header size");
  const std::size_t size = h.version == 1 ? kSize1 : kSize2;
  ByteReader(head, name).take(size, "the NIfTI header");
  check_magic(head, h.version, name);
  RawHeader raw = h.version == 1 ? read_version1(head, h) : read_version2(head, h);
  if (raw.dim[0] < 1 || raw.dim[0] > 7) throw_nifti(name, "impossible number of axes", std::to_string(raw.dim[0]));
  h.shape.assign(raw.dim.begin() + 1, raw.dim.begin() + 1 + raw.dim[0]);
  if (!checked_product(h.shape)) throw_nifti(name, "impossible dimensions", shape_text(h.shape));
  const auto dtype = dtype_of_code(raw.datatype);
  if (!dtype) {
    throw_nifti(name, "unsupported NIfTI data type (complex, colour or 128-bit)", std::to_string(raw.datatype),
                "convert the image to float");
  }
  h.dtype = *dtype;
  if (raw.offset == 0) raw.offset = static_cast<double>(size + 4);  // some writers leave it out
  if (!(raw.offset >= static_cast<double>(size) && raw.offset < 1e15)) {
    throw_nifti(name, "impossible data offset", fmt::format("{}", raw.offset));
  }
  h.data_offset = static_cast<std::uint64_t>(raw.offset);
  if (std::isfinite(raw.slope) && raw.slope != 0) {
    if (!std::isfinite(raw.intercept)) throw_nifti(name, "the scaling intercept is not finite");
    h.slope = raw.slope;
    h.intercept = raw.intercept;
  }
  return h;
}

std::vector<NiftiExtension> parse_extensions(ByteSpan bytes, const NiftiHeader& h, std::string_view name) {
  std::vector<NiftiExtension> extensions;
  ByteReader reader(bytes.first(std::min<std::uint64_t>(h.data_offset, bytes.size())), name, h.swap);
  reader.seek(h.version == 1 ? kSize1 : kSize2, "the extensions");
  if (reader.remaining() < 4 || reader.take(4, "the extensions")[0] == std::byte{0}) return extensions;
  while (reader.remaining() >= 8) {
    const auto size = reader.number<std::int32_t>("an extension");
    const auto code = reader.number<std::int32_t>("an extension");
    if (size < 8) {
      if (size == 0 && code == 0) break;  // padding up to the data
      throw_nifti(name, "impossible size of an extension", std::to_string(size));
    }
    const ByteSpan content = reader.take(static_cast<std::uint64_t>(size) - 8, "an extension");
    extensions.push_back({code, Bytes(content.begin(), content.end())});
    if (extensions.size() > kMaxExtensions) throw_nifti(name, "too many extensions");
  }
  return extensions;
}

}  // namespace

bool looks_like_nifti(ByteSpan bytes) {
  Bytes unpacked;
  if (is_gzip(bytes)) {
    try {
      unpacked = inflate_prefix(bytes, DeflateFormat::kGzip, 4, "");
    } catch (const IoError&) {
      return false;
    }
    bytes = unpacked;
  }
  bool swap = false;
  return version_of(bytes, swap) != 0;
}

NiftiImage parse_nifti(ByteSpan bytes, std::string_view name, const ReadLimits& given) {
  NiftiImage image;
  Bytes unpacked;
  const ReadLimits limits = given.for_file(bytes.size());
  if (is_gzip(bytes)) {
    const Bytes head = inflate_prefix(bytes, DeflateFormat::kGzip, kSize2, name);
    const NiftiHeader h = parse_header(head, name);
    if (h.data_offset > limits.header_bytes) {
      throw_nifti(name, "impossible data offset", std::to_string(h.data_offset));
    }
    const std::uint64_t needed = h.data_offset + checked_count(h.shape, name, limits) * dtype_size(h.dtype);
    if (needed / kMaxDeflateRatio > bytes.size()) {
      throw_nifti(name, "the image declares more than the file holds", "shape " + shape_text(h.shape));
    }
    unpacked.reserve(needed);
    inflate_pieces(bytes, DeflateFormat::kGzip, needed + kTailBytes, name, [&](ByteSpan piece) { append(unpacked, piece); });
    bytes = unpacked;
  }
  image.header = parse_header(bytes, name);
  const NiftiHeader& h = image.header;
  const std::uint64_t count = checked_count(h.shape, name, limits);
  ByteReader reader(bytes, name, h.swap);
  reader.seek(h.data_offset, "the image data");
  const ByteSpan data = reader.take(count * dtype_size(h.dtype), "the image data of shape " + shape_text(h.shape));
  image.extensions = parse_extensions(bytes, h, name);
  image.values.resize(count);
  convert_to_doubles(h.dtype, data, h.swap, image.values);
  if (h.slope != 1 || h.intercept != 0) {
    for (double& v : image.values) v = v * h.slope + h.intercept;
  }
  return image;
}

NiftiImage read_nifti(const std::filesystem::path& path, const ReadLimits& limits) {
  return parse_nifti(read_file(path, limits.file_bytes), path.string(), limits);
}

}  // namespace locus
