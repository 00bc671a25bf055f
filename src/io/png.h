// Pictures in PNG files, through libpng, as arrays of numbers.
#pragma once

#include <filesystem>
#include <string_view>

#include "io/npy.h"

namespace locus {

bool looks_like_png(ByteSpan front);

// (height, width) of a grey picture, (height, width, 3) of a coloured one (a palette counts as colour): 0 to 255, or 0 to
// 65535 where the file has 16 bits. An opaque alpha channel is left out; transparent pixels have no value: IoError.
NdArray parse_png(ByteSpan bytes, std::string_view name, const ReadLimits& limits = {});
NdArray read_png(const std::filesystem::path& path, const ReadLimits& limits = {});

}  // namespace locus
