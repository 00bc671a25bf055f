// NIfTI-1 and NIfTI-2 images (.nii, .nii.gz) of either byte order, with their extensions.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes.h"
#include "io/dtype.h"
#include "io/limits.h"

namespace locus {

struct NiftiHeader {
  int version = 1;
  bool swap = false;                // stored in the other byte order
  std::vector<std::int64_t> shape;  // dim[1..dim[0]]
  DType dtype = DType::kF32;
  std::uint64_t data_offset = 0;
  double slope = 1;  // value = stored * slope + intercept; 1 and 0 when the file asks for no scaling
  double intercept = 0;
  std::array<double, 8> pixdim{};
  int intent_code = 0;
  int qform_code = 0;
  int sform_code = 0;
  std::array<double, 12> sform{};  // 3 x 4, voxel to world, row by row
  std::string intent_name;
  std::string description;
};

struct NiftiExtension {
  int code = 0;
  Bytes content;
};

struct NiftiImage {
  NiftiHeader header;
  std::vector<NiftiExtension> extensions;
  std::vector<double> values;  // in file order: the first axis runs fastest
};

// Gzipped bytes are recognised by their magic.
NiftiImage parse_nifti(ByteSpan bytes, std::string_view name, const ReadLimits& limits = {});
NiftiImage read_nifti(const std::filesystem::path& path, const ReadLimits& limits = {});

bool looks_like_nifti(ByteSpan bytes);  // plain or gzipped

}  // namespace locus
