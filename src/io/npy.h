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
MatrixD to_matrix(const NdArray& array, std::string_view where);

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
std::vector<std::string> npz_names(ByteSpan bytes, std::string_view name, const ReadLimits& limits = {});

enum class NpzCompression { kStored, kDeflate };
Bytes encode_npz(std::span<const TensorView> arrays, NpzCompression compression);
void write_npz(const std::filesystem::path& path, std::span<const TensorView> arrays,
               NpzCompression compression = NpzCompression::kStored);

}  // namespace locus
