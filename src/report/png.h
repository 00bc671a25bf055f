// Matrices within a page: pictures (io/picture.h) as text, and the values behind them.
#pragma once

#include <array>
#include <string>

#include "io/picture.h"

namespace locus::report {

std::string png_data_uri(const IndexImage& image, const std::array<Rgb, 256>& palette);

// Steps of packed values: enough for three decimals of a correlation, few enough to compress.
inline constexpr int kPackedSteps = 2500;

// zlib-compressed, base64, little-endian unsigned 16-bit numbers: 0..kPackedSteps over [lo, hi], clipped; 65535 is NaN.
// Row by row; of a symmetric matrix only the columns from the diagonal on.
std::string packed_values(ConstMatD values, double lo, double hi, bool symmetric);

}  // namespace locus::report
