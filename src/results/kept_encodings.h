// The learned encoding of a kept run beside its numbers: the tensors of the encoding before and after training, so that a
// question to P or P - P0 that comes up later needs no training.
#pragma once

#include <filesystem>
#include <string>

#include "run/run_reader.h"

namespace locus {

// The file beside a kept result: "x.json" has "x.safetensors".
std::filesystem::path kept_encoding_file(const std::filesystem::path& kept_result);

// Writes tensors "init.<name>" and "final.<name>" of a trained encoding. Returns "" or a note why there are none; an
// encoding that is not trained has none and needs no note.
std::string keep_encoding(const RunReader& run, const std::filesystem::path& kept_result);

void remove_kept_encoding(const std::filesystem::path& kept_result);

}  // namespace locus
