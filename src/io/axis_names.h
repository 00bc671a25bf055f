// Names of rows or columns that NPZ, MATLAB and HDF5 files hold in an array of their own beside the matrix.
#pragma once

#include <filesystem>

#include "io/array.h"

namespace locus {

// Fills the names of an axis from an array called names, regions, region_ids, channels, columns and the like that holds as
// many different texts or whole numbers as the axis is long; texts go before numbers. Nothing where there is none.
void name_axes(NamedMatrix& matrix, const std::filesystem::path& path, const ReadLimits& limits);

// The texts of an array of strings (NPZ, HDF5, MATLAB cell); empty for other formats and arrays.
std::vector<std::string> read_texts(const std::filesystem::path& path, const std::string& array, const ReadLimits& limits);

}  // namespace locus
