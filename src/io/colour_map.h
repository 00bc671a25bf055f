// Two perceptually ordered colour maps for matrices.
#pragma once

#include <array>
#include <cstdint>

namespace locus {

struct Rgb {
  std::uint8_t r = 0, g = 0, b = 0;
  bool operator==(const Rgb&) const = default;
};

enum class ColourMap { kSequential, kDiverging };
const std::array<Rgb, 256>& colour_map(ColourMap map);

// 0..255 for a value in [lo, hi], clipped; NaN is not a colour and gives -1.
int colour_index(double value, double lo, double hi);

}  // namespace locus
