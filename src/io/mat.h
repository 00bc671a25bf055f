// MATLAB files: v4 and v5/v7 by our own bounded parser, v7.3 through HDF5 (which stores the axes reversed).
// Shapes are as MATLAB shows them; values are C-order (row-major) doubles.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes.h"
#include "io/limits.h"
#include "io/npy.h"

namespace locus {

struct MatVariable {
  std::string name;
  std::vector<std::int64_t> shape;
  std::string class_name;  // "double", "single", "int8" ... "logical", "char", "cell", "struct", "sparse"
  bool numeric = false;    // real numbers that read_mat gives out (full or sparse)
};

struct MatArray {
  MatVariable variable;
  NdArray array;
};

std::vector<MatVariable> list_mat(const std::filesystem::path& path, const ReadLimits& limits = {});

// The variable `name`, or without a name the only numeric matrix (both sides longer than 1), else the only numeric variable.
MatArray read_mat(const std::filesystem::path& path, std::string_view name = {}, const ReadLimits& limits = {});

// A cell of texts (v5 and v7.3), one an element in MATLAB's order; empty when the variable is something else.
std::vector<std::string> read_mat_texts(const std::filesystem::path& path, std::string_view name,
                                        const ReadLimits& limits = {});

// Versions 4 and 5 in memory.
std::vector<MatVariable> list_mat5(ByteSpan bytes, std::string_view file, const ReadLimits& limits = {});
MatArray parse_mat5(ByteSpan bytes, std::string_view file, std::string_view name = {}, const ReadLimits& limits = {});

}  // namespace locus
