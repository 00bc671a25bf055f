// One front door: a matrix of numbers from any file format we read, chosen by the file's first bytes and its name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/matrix.h"
#include "io/limits.h"
#include "io/npy.h"
#include "io/table.h"

namespace locus {

enum class FileFormat { kHdf5, kMat, kNpy, kNpz, kSafetensors, kCifti, kIdx, kPng, kText };

std::string_view format_name(FileFormat format);  // "HDF5", "MAT", ...

// By magic where there is one, else by extension; text otherwise.
FileFormat detect_format(const std::filesystem::path& path);

struct MatrixOptions {
  std::string dataset = {};   // HDF5 data set, MATLAB variable, NPZ array or tensor; may be empty when only one fits
  NumericOptions table = {};  // for CSV and the like
  ReadLimits limits = {};
};

// As the file has it: nothing is transposed. MATLAB as MATLAB shows it, CIFTI parcels x time (see cifti.h). Names come from
// a table's header and first column, from CIFTI, or from an array of names or ids beside the matrix (axis_names.h).
struct NamedMatrix {
  MatrixD values;
  std::vector<std::string> row_names;  // empty when the file has none
  std::vector<std::string> column_names;
  std::string row_title = {};  // what a table's header calls the column of row names
  std::string dataset;         // which one was read; empty where a file holds one matrix
  std::string format;
  double row_step = 0;  // seconds (or other unit) between rows or columns where the file says so (CIFTI series), else 0
  double column_step = 0;
};

NamedMatrix read_matrix(const std::filesystem::path& path, const MatrixOptions& options = {});

// What a file of many arrays holds (HDF5, MAT, NPZ), in its order; empty for formats of one matrix.
struct ArrayEntry {
  std::string name;
  std::vector<std::int64_t> shape;
  std::string type;  // as the file calls it
};
std::vector<ArrayEntry> list_arrays(const std::filesystem::path& path, const ReadLimits& limits = {});

// An array of any rank (no text, no CIFTI names); for data sets such as regions x conditions x subjects.
NdArray read_array(const std::filesystem::path& path, const MatrixOptions& options = {});

}  // namespace locus
