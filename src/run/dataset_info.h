// What analyses need to know of the data a run was trained on: dataset.safetensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/matrix.h"

namespace locus {

// T tokens; every part may be empty.
struct DatasetInfo {
  std::vector<std::string> token_names;  // (T)
  std::vector<std::int32_t> labels;      // (T) module or network of each token
  std::vector<std::string> label_names;
  std::vector<std::int32_t> hemispheres;  // (T)
  MatrixD coordinates;                    // (T, X)
  MatrixD graph;                          // (T, T)
  std::map<std::string, MatrixD> truths;  // (T, T) by name: "W", "correlation"
};

void write_dataset_info(const std::filesystem::path& file, const DatasetInfo& info);
DatasetInfo read_dataset_info(const std::filesystem::path& file);  // IoError

}  // namespace locus
