// What analyses need to know of the data a run was trained on: dataset.safetensors.
#pragma once

#include <filesystem>

#include "core/token_info.h"

namespace locus {

void write_dataset_info(const std::filesystem::path& file, const TokenInfo& info);
TokenInfo read_dataset_info(const std::filesystem::path& file);  // IoError

}  // namespace locus
