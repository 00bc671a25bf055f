#include "io/array.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>

#include "core/error.h"
#include "core/text.h"
#include "io/axis_names.h"
#include "io/cifti.h"
#include "io/file.h"
#include "io/hdf5.h"
#include "io/idx.h"
#include "io/mat.h"
#include "io/nifti.h"
#include "io/png.h"
#include "io/safetensors.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFrontBytes = 4096;

Bytes front_of(const fs::path& path) {
  require_regular_file(path);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) read_file(path);
  Bytes front(kFrontBytes);
  stream.read(reinterpret_cast<char*>(front.data()), static_cast<std::streamsize>(front.size()));
  front.resize(static_cast<std::size_t>(stream.gcount()));
  return front;
}

bool looks_like_safetensors(ByteSpan front) {
  return front.size() >= 10 && load_number<std::uint64_t>(front.data()) < (std::uint64_t{1} << 40) &&
         front[8] == std::byte{'{'};
}

const NpzEntry& only_array(const std::vector<NpzEntry>& entries, const fs::path& path) {
  if (entries.size() == 1) return entries[0];
  const NpzEntry* matrix = nullptr;
  std::vector<std::string> names;
  int matrices = 0;
  for (const NpzEntry& e : entries) {
    names.push_back(e.name + " " + shape_text(e.array.shape));
    if (e.array.shape.size() != 2) continue;
    ++matrices;
    matrix = &e;
  }
  if (matrices == 1) return *matrix;
  throw IoError({.what = "which array is meant?",
                 .where = path.string(),
                 .got = names.empty() ? "no arrays" : join(names, "; "),
                 .hint = "name the array, e.g. dataset = \"x\""});
}

struct FoundArray {
  NdArray array;
  std::string dataset;
};

// Shapes first: only the array that is wanted is unpacked.
FoundArray find_npz(const fs::path& path, const MatrixOptions& options) {
  const Bytes bytes = read_file(path, options.limits.file_bytes);
  const std::string name = path.string();
  std::string wanted = options.dataset;
  if (wanted.empty()) wanted = only_array(list_npz(bytes, name), path).name;
  std::vector<NpzEntry> entries = parse_npz(bytes, name, wanted, options.limits);
  if (entries.size() != 1) {
    throw IoError({.what = "two arrays have this name", .where = name, .got = wanted, .hint = "make the file again"});
  }
  return {std::move(entries[0].array), wanted};
}

FoundArray find_tensor(const fs::path& path, const MatrixOptions& options) {
  const TensorFile file = read_safetensors(path, options.limits);
  std::string wanted = options.dataset;
  if (wanted.empty()) {
    std::vector<NpzEntry> shapes;
    for (const Tensor& t : file.tensors) shapes.push_back({t.name, {t.shape, {}, ""}});
    wanted = only_array(shapes, path).name;
  }
  const Tensor& t = file.at(wanted);
  checked_count(t.shape, fmt::format("{}: tensor '{}'", path.string(), wanted), options.limits);
  return {{t.shape, t.to_doubles(), std::string(dtype_name(t.dtype))}, wanted};
}

FoundArray find_array(const fs::path& path, FileFormat format, const MatrixOptions& options) {
  switch (format) {
    case FileFormat::kHdf5: {
      Hdf5Array found = read_hdf5(path, options.dataset, options.limits);
      return {std::move(found.array), found.dataset.name};
    }
    case FileFormat::kMat: {
      MatArray found = read_mat(path, options.dataset, options.limits);
      return {std::move(found.array), found.variable.name};
    }
    case FileFormat::kNpy:
      return {read_npy(path, options.limits), ""};
    case FileFormat::kNpz:
      return find_npz(path, options);
    case FileFormat::kSafetensors:
      return find_tensor(path, options);
    case FileFormat::kIdx:
      return {read_idx(path, options.limits), ""};
    case FileFormat::kPng:
      return {read_png(path, options.limits), ""};
    default:
      break;
  }
  LOCUS_CHECK(false, "not an array format");
  return {};
}

NamedMatrix from_cifti(const fs::path& path, const MatrixOptions& options) {
  CiftiFile file = read_cifti(path, options.limits);
  NamedMatrix matrix;
  matrix.values = std::move(file.values);
  matrix.row_names = file.rows.names();
  matrix.column_names = file.columns.names();
  if (file.rows.kind == CiftiKind::kSeries) matrix.row_step = file.rows.series.step;
  if (file.columns.kind == CiftiKind::kSeries) matrix.column_step = file.columns.series.step;
  return matrix;
}

}  // namespace

std::string_view format_name(FileFormat format) {
  switch (format) {
    case FileFormat::kHdf5:
      return "HDF5";
    case FileFormat::kMat:
      return "MAT";
    case FileFormat::kNpy:
      return "NPY";
    case FileFormat::kNpz:
      return "NPZ";
    case FileFormat::kSafetensors:
      return "safetensors";
    case FileFormat::kCifti:
      return "CIFTI";
    case FileFormat::kIdx:
      return "IDX";
    case FileFormat::kPng:
      return "PNG";
    case FileFormat::kText:
      return "text";
  }
  return "?";
}

FileFormat detect_format(const fs::path& path) {
  const Bytes front = front_of(path);
  const std::string_view text = as_text(front);
  const std::string name = to_lower(path.filename().string());
  if (name.ends_with(".mat") || text.starts_with("MATLAB ")) return FileFormat::kMat;
  if (text.starts_with("\x93NUMPY")) return FileFormat::kNpy;
  if (text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06")) return FileFormat::kNpz;
  if (text.starts_with("\x89HDF\r\n\x1a\n")) return FileFormat::kHdf5;
  if (looks_like_png(front)) return FileFormat::kPng;
  if (looks_like_nifti(front)) return FileFormat::kCifti;
  if (looks_like_idx(front)) return FileFormat::kIdx;
  if (looks_like_safetensors(front)) return FileFormat::kSafetensors;
  // A damaged file keeps the reader of its name, which then says what is wrong.
  static constexpr std::pair<std::string_view, FileFormat> kExtensions[] = {
      {".h5", FileFormat::kHdf5},     {".hdf5", FileFormat::kHdf5},    {".hdf", FileFormat::kHdf5},
      {".npy", FileFormat::kNpy},     {".npz", FileFormat::kNpz},      {".safetensors", FileFormat::kSafetensors},
      {".nii", FileFormat::kCifti},   {".nii.gz", FileFormat::kCifti}, {".png", FileFormat::kPng},
      {".idx", FileFormat::kIdx},     {".idx.gz", FileFormat::kIdx},   {"-ubyte", FileFormat::kIdx},
      {"-ubyte.gz", FileFormat::kIdx}};
  for (const auto& [extension, format] : kExtensions) {
    if (name.ends_with(extension)) return format;
  }
  // HDF5 may begin with a user block.
  if (text.find('\0') != std::string_view::npos && is_hdf5(path)) return FileFormat::kHdf5;
  return FileFormat::kText;
}

NamedMatrix read_matrix(const fs::path& path, const MatrixOptions& options) {
  const FileFormat format = detect_format(path);
  NamedMatrix matrix;
  if (format == FileFormat::kText) {
    NumericOptions table_options = options.table;
    table_options.table.limits = options.limits;
    NumericTable table = read_numeric_table(path, table_options);
    matrix.values = std::move(table.values);
    matrix.row_names = std::move(table.row_names);
    matrix.column_names = std::move(table.column_names);
    matrix.row_title = std::move(table.row_title);
  } else if (format == FileFormat::kCifti) {
    matrix = from_cifti(path, options);
  } else {
    FoundArray found = find_array(path, format, options);
    matrix.values = to_matrix(std::move(found.array), path.string());
    matrix.dataset = std::move(found.dataset);
    name_axes(matrix, path, options.limits);
  }
  matrix.format = format_name(format);
  return matrix;
}

NdArray read_array(const fs::path& path, const MatrixOptions& options) {
  const FileFormat format = detect_format(path);
  if (format == FileFormat::kText || format == FileFormat::kCifti) {
    const NamedMatrix matrix = read_matrix(path, options);
    return {{matrix.values.rows(), matrix.values.cols()}, matrix.values.values(), "f8"};
  }
  return find_array(path, format, options).array;
}

std::vector<ArrayEntry> list_arrays(const std::filesystem::path& path, const ReadLimits& limits) {
  std::vector<ArrayEntry> out;
  switch (detect_format(path)) {
    case FileFormat::kHdf5:
      for (Hdf5Dataset& d : list_hdf5(path, limits))
        out.push_back({std::move(d.name), std::move(d.shape), std::move(d.type)});
      break;
    case FileFormat::kMat:
      for (MatVariable& v : list_mat(path, limits))
        out.push_back({std::move(v.name), std::move(v.shape), std::move(v.class_name)});
      break;
    case FileFormat::kNpz:
      for (NpzEntry& e : list_npz(read_file(path, limits.file_bytes), path.string()))
        out.push_back({std::move(e.name), std::move(e.array.shape), std::move(e.array.stored_type)});
      break;
    case FileFormat::kNpy:
    case FileFormat::kSafetensors:
    case FileFormat::kCifti:
    case FileFormat::kIdx:
    case FileFormat::kPng:
    case FileFormat::kText:
      break;
  }
  return out;
}

}  // namespace locus
