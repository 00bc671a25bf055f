// IDX, the format of MNIST's files: a type, up to 255 axes, and numbers with the highest byte first; gzipped or plain.
#pragma once

#include <filesystem>
#include <string_view>

#include "io/npy.h"

namespace locus {

// By the first bytes, after unpacking where they are gzipped.
bool looks_like_idx(ByteSpan front);

// IoError for other types, a wrong size, and more than the limits allow.
NdArray parse_idx(ByteSpan bytes, std::string_view name, const ReadLimits& limits = {});
NdArray read_idx(const std::filesystem::path& path, const ReadLimits& limits = {});

}  // namespace locus
