// NumPy's array files: NPY (versions 1 to 3) and NPZ (a zip of NPYs, stored or deflated).
// Reading gives C-order doubles whatever the stored type, byte order and axis order were. Written bytes are deterministic.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix.h"
#include "io/bytes.h"
#include "io/dtype.h"
#include "io/limits.h"

namespace locus {

// A C-order array of any rank. 64-bit integers beyond 2^53 are rounded.
struct NdArray {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  std::string stored_type;  // as the file spells it: "<f4"

  std::vector<float> to_floats() const { return {values.begin(), values.end()}; }
};

// Rank 2 as it is, rank 1 as one column, rank 0 as one value; DataError for more axes longer than 1.
MatrixD to_matrix(NdArray array, std::string_view where);

// Takes an NPY file piece by piece and converts as it goes: the raw bytes need not stand in memory beside the values.
class NpyReader {
 public:
  // `limits.array_bytes` bounds the values as doubles, `bytes` is the size that the file states.
  NpyReader(std::string_view name, const ReadLimits& limits, std::uint64_t bytes);
  void add(ByteSpan piece);
  NdArray finish();  // IoError when the file ended early

 private:
  bool parse_header();

  std::string name_;
  ReadLimits limits_;
  std::uint64_t bytes_;
  Bytes waiting_;  // the header, then less than one element
  NdArray array_;
  DType dtype_ = DType::kF64;
  bool swap_ = false, fortran_ = false, begun_ = false;
  std::uint64_t filled_ = 0;
};

// Shape and type from the front of a file (64 KB do for every array that NumPy writes); values stay empty.
NdArray npy_front(ByteSpan front, std::string_view name);

// Text of an array of strings ("<U7", "|S7"), one an element; empty when it holds no text. IoError above the limit.
std::vector<std::string> npy_texts(ByteSpan bytes, std::string_view name, const ReadLimits& limits = {});

NdArray parse_npy(ByteSpan bytes, std::string_view name, const ReadLimits& limits = {});
NdArray read_npy(const std::filesystem::path& path, const ReadLimits& limits = {});
Bytes encode_npy(const TensorView& array);  // not BF16, which NPY does not know
void write_npy(const std::filesystem::path& path, const TensorView& array);
void write_npy(const std::filesystem::path& path, ConstMatD matrix);

struct NpzEntry {
  std::string name;  // without ".npy"
  NdArray array;
};

// Reads only the entry `only` when it is not empty. IoError when it is absent.
std::vector<NpzEntry> parse_npz(ByteSpan bytes, std::string_view name, std::string_view only = {},
                                const ReadLimits& limits = {});
std::vector<NpzEntry> read_npz(const std::filesystem::path& path, std::string_view only = {}, const ReadLimits& limits = {});
// Names, shapes and types alone; values stay empty. Arrays of types that are no numbers are listed too.
std::vector<NpzEntry> list_npz(ByteSpan bytes, std::string_view name);
// The array of strings `only`.
std::vector<std::string> parse_npz_texts(ByteSpan bytes, std::string_view name, std::string_view only,
                                         const ReadLimits& limits = {});
std::vector<std::string> npz_names(ByteSpan bytes, std::string_view name, const ReadLimits& limits = {});

enum class NpzCompression { kStored, kDeflate };
Bytes encode_npz(std::span<const TensorView> arrays, NpzCompression compression);
void write_npz(const std::filesystem::path& path, std::span<const TensorView> arrays,
               NpzCompression compression = NpzCompression::kStored);

}  // namespace locus
