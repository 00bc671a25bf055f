#include "io/picture.h"

#include <algorithm>

#include "core/error.h"
#include "io/compress.h"

namespace locus {
namespace {

using Buffer = std::vector<unsigned char>;

void put_u32(Buffer& out, std::uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<unsigned char>(v >> shift));
}

void put_chunk(Buffer& out, const char* type, const Buffer& data) {
  put_u32(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t start = out.size();
  out.insert(out.end(), type, type + 4);
  out.insert(out.end(), data.begin(), data.end());
  put_u32(out, crc32_of(std::as_bytes(std::span(out).subspan(start))));
}

Buffer zlib_of(const Buffer& raw) {
  const Bytes packed = deflate_all(std::as_bytes(std::span(raw)), DeflateFormat::kZlib);
  const auto* first = reinterpret_cast<const unsigned char*>(packed.data());
  return {first, first + packed.size()};
}

}  // namespace

std::vector<unsigned char> encode_png(const IndexImage& image, const std::array<Rgb, 256>& palette) {
  const auto width = static_cast<std::size_t>(image.width), height = static_cast<std::size_t>(image.height);
  LOCUS_CHECK(width > 0 && height > 0 && image.pixels.size() == width * height, "image size");
  Buffer out = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  Buffer header;
  put_u32(header, static_cast<std::uint32_t>(width));
  put_u32(header, static_cast<std::uint32_t>(height));
  header.insert(header.end(), {8, 3, 0, 0, 0});
  put_chunk(out, "IHDR", header);
  Buffer colours = {0, 0, 0};  // place 0 is transparent
  for (std::size_t i = 0; i < 255; ++i) colours.insert(colours.end(), {palette[i].r, palette[i].g, palette[i].b});
  for (std::size_t k = 0; k < 3; ++k)
    colours[3 * 255 + k] = k == 0 ? palette[255].r : k == 1 ? palette[255].g : palette[255].b;
  put_chunk(out, "PLTE", colours);
  put_chunk(out, "tRNS", {0});
  Buffer raw;
  raw.reserve((width + 1) * height);
  for (std::size_t r = 0; r < height; ++r) {
    raw.push_back(0);
    for (std::size_t c = 0; c < width; ++c) {
      const int index = image.pixels[r * width + c];
      raw.push_back(static_cast<unsigned char>(index < 0 ? 0 : std::min(index, 254) + 1));
    }
  }
  put_chunk(out, "IDAT", zlib_of(raw));
  put_chunk(out, "IEND", {});
  return out;
}

IndexImage matrix_image(ConstMatD values, double lo, double hi, int scale) {
  IndexImage image{static_cast<int>(values.cols) * scale, static_cast<int>(values.rows) * scale, {}};
  image.pixels.reserve(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height));
  for (std::ptrdiff_t r = 0; r < values.rows; ++r) {
    for (int repeat = 0; repeat < scale; ++repeat) {
      for (std::ptrdiff_t c = 0; c < values.cols; ++c) {
        const auto index = static_cast<std::int16_t>(colour_index(values(r, c), lo, hi));
        image.pixels.insert(image.pixels.end(), static_cast<std::size_t>(scale), index);
      }
    }
  }
  return image;
}

}  // namespace locus
