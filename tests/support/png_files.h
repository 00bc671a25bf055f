// PNG files piece by piece, for tests.
#pragma once

#include <cstdint>
#include <string>

#include "io/bytes.h"
#include "io/compress.h"

namespace locus::png_files {

inline std::string number(std::size_t v) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(v >> shift & 255);
  return out;
}

inline std::string chunk(const std::string& type, const std::string& data) {
  return number(data.size()) + type + data + number(crc32_of(bytes_of(type + data)));
}

// Signature and header of a grey picture: a file up to its chunks of pixels.
inline std::string grey_front(std::size_t width, std::size_t height, int bits) {
  const std::string header = number(width) + number(height) + static_cast<char>(bits) + std::string(4, '\0');
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header);
}

// Rows of `width` pixels, 8 or 16 bits each.
inline std::string grey(const std::string& pixels, std::size_t width, int bits = 8) {
  const std::size_t row = width * static_cast<std::size_t>(bits) / 8;
  std::string raw;
  for (std::size_t at = 0; at < pixels.size(); at += row) raw += '\0' + pixels.substr(at, row);
  const std::string packed(as_text(deflate_all(bytes_of(raw), DeflateFormat::kZlib)));
  return grey_front(width, pixels.size() / row, bits) + chunk("IDAT", packed) + chunk("IEND", "");
}

}  // namespace locus::png_files
