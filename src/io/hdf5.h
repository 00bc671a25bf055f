// HDF5 data sets as arrays of doubles. The library is not thread-safe: one lock guards every call.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/limits.h"
#include "io/npy.h"

namespace locus {

struct Hdf5Dataset {
  std::string name;  // path from the root without the leading slash: "restdata", "group/x"
  std::vector<std::int64_t> shape;
  std::string type;  // "f8", "i4", "u1", or "text", "compound", ... for what is no number
  bool numeric = false;
  std::string matlab_class;  // "double", "cell", ... in a MATLAB v7.3 file, else empty
};

bool is_hdf5(const std::filesystem::path& path);

std::vector<Hdf5Dataset> list_hdf5(const std::filesystem::path& path, const ReadLimits& limits = {});

// The data set `name`, or without a name the only numeric one of two axes (else the only numeric one at all).
// IoError names what there is when the choice is not clear.
struct Hdf5Array {
  Hdf5Dataset dataset;
  NdArray array;
};
// IoError also for data that stand in other files (external storage, virtual sources), which no hash of this file covers,
// and for parts that were never written, which would read as zeros.
Hdf5Array read_hdf5(const std::filesystem::path& path, std::string_view name = {}, const ReadLimits& limits = {});

// A data set of texts, or of characters that MATLAB keeps behind references (cell), one an element; empty when it is
// neither. IoError when they are too long together.
std::vector<std::string> read_hdf5_texts(const std::filesystem::path& path, std::string_view name,
                                         const ReadLimits& limits = {});

}  // namespace locus
