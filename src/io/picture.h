// A small PNG writer (8-bit palette) over zlib, for matrices that would be too many rectangles.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/matrix.h"
#include "io/colour_map.h"

namespace locus {

// Palette indices, row-major (height, width); index -1 is transparent.
struct IndexImage {
  int width = 0;
  int height = 0;
  std::vector<std::int16_t> pixels;
};

// Deterministic bytes. Indices 0..254 name 255 of the 256 colours of `palette` (255 shares the last), so that one
// palette place stays free for "transparent".
std::vector<unsigned char> encode_png(const IndexImage& image, const std::array<Rgb, 256>& palette);

// One pixel per entry, each repeated `scale` times in both directions (readers that smooth enlarged images stay sharp).
IndexImage matrix_image(ConstMatD values, double lo, double hi, int scale);

}  // namespace locus
