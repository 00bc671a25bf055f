#include "io/png.h"

#include <fmt/core.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/error.h"
#include "io/file.h"

namespace locus {
namespace {

constexpr std::array<std::uint8_t, 8> kPngMagic = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

[[noreturn]] void throw_png(std::string_view name, std::string what, std::string got, std::string hint = {}) {
  if (hint.empty()) hint = "the picture is truncated or damaged: copy or make it again";
  throw IoError({.what = std::move(what), .where = std::string(name), .got = std::move(got), .hint = std::move(hint)});
}

// The file without what it says of gamma and colour spaces: by those libpng would change numbers to look alike on a screen.
Bytes without_colour_spaces(ByteSpan bytes) {
  static constexpr std::array<std::string_view, 5> kLeftOut = {"gAMA", "cHRM", "sRGB", "iCCP", "cICP"};
  constexpr std::size_t kFrame = 12;  // length, type and checksum of a chunk
  Bytes out(bytes.begin(), bytes.begin() + kPngMagic.size());
  for (ByteSpan rest = bytes.subspan(kPngMagic.size()); !rest.empty();) {
    std::size_t size = rest.size();
    bool keep = true;
    if (rest.size() >= kFrame) {
      std::uint32_t length = 0;
      for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<std::uint32_t>(rest[i]);
      size = std::min(rest.size(), kFrame + std::size_t{length});
      keep = std::find(kLeftOut.begin(), kLeftOut.end(), as_text(rest.subspan(4, 4))) == kLeftOut.end();
    }
    if (keep) out.insert(out.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(size));
    rest = rest.subspan(size);
  }
  return out;
}

// Samples of T as libpng gives them: `stored` channels each, the last of them alpha where `alpha`.
template <class T>
void take_pixels(png_image& image, std::string_view name, bool alpha, NdArray& out) {
  const std::size_t stored = PNG_IMAGE_SAMPLE_CHANNELS(image.format);
  const std::size_t pixels = static_cast<std::size_t>(image.width) * image.height;
  std::vector<T> samples(pixels * stored);
  if (png_image_finish_read(&image, nullptr, samples.data(), 0, nullptr) == 0) {
    throw_png(name, "the picture cannot be read", image.message);
  }
  const std::size_t kept = alpha ? stored - 1 : stored;
  out.values.reserve(pixels * kept);
  for (std::size_t p = 0; p < pixels; ++p) {
    const T* pixel = samples.data() + p * stored;
    if (alpha && pixel[kept] != static_cast<T>(-1)) {
      throw_png(name, "the picture has transparent pixels, which have no value",
                fmt::format("row {}, column {}", p / image.width + 1, p % image.width + 1),
                "save it without transparency (an alpha channel that is opaque everywhere is fine)");
    }
    for (std::size_t c = 0; c < kept; ++c) out.values.push_back(static_cast<double>(pixel[c]));
  }
}

}  // namespace

bool looks_like_png(ByteSpan front) {
  if (front.size() < kPngMagic.size()) return false;
  for (std::size_t i = 0; i < kPngMagic.size(); ++i) {
    if (front[i] != static_cast<std::byte>(kPngMagic[i])) return false;
  }
  return true;
}

NdArray parse_png(ByteSpan bytes, std::string_view name, const ReadLimits& limits) {
  if (!looks_like_png(bytes)) throw_png(name, "this is no PNG picture", fmt::format("{} bytes", bytes.size()));
  const Bytes plain = without_colour_spaces(bytes);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, void (*)(png_image*)> guard(&image, png_image_free);
  if (png_image_begin_read_from_memory(&image, plain.data(), plain.size()) == 0) {
    throw_png(name, "the picture cannot be read", image.message);
  }
  const bool wide = (image.format & PNG_FORMAT_FLAG_LINEAR) != 0;
  const bool alpha = (image.format & PNG_FORMAT_FLAG_ALPHA) != 0;
  const bool colour = (image.format & PNG_FORMAT_FLAG_COLOR) != 0;
  NdArray out;
  out.shape = {image.height, image.width};
  if (colour) out.shape.push_back(3);
  // Room for the alpha channel, which is read and left out, is asked for as well.
  const std::vector<std::int64_t> stored = {image.height, image.width, colour ? 4 : 2};
  checked_count(stored, name, limits.for_file(bytes.size()));
  image.format =
      (colour ? PNG_FORMAT_FLAG_COLOR : 0) | (alpha ? PNG_FORMAT_FLAG_ALPHA : 0) | (wide ? PNG_FORMAT_FLAG_LINEAR : 0);
  out.stored_type = wide ? "U16" : "U8";
  if (wide) {
    take_pixels<std::uint16_t>(image, name, alpha, out);
  } else {
    take_pixels<std::uint8_t>(image, name, alpha, out);
  }
  return out;
}

NdArray read_png(const std::filesystem::path& path, const ReadLimits& limits) {
  return parse_png(read_file(path, limits.file_bytes), path.string(), limits);
}

}  // namespace locus
