// Named tensors in one file (the safetensors layout): 8-byte header length, JSON header, data.
// Our writer adds a SHA-256 of header and data to the metadata; the reader checks it where present, so that a flipped
// bit is found. Files of others have none and are read as they are.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "io/bytes.h"
#include "io/dtype.h"
#include "io/limits.h"

namespace locus {

inline constexpr const char* kChecksumKey = "locus.sha256";

// A named C-order array that owns its bytes.
struct Tensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  Bytes bytes;

  std::size_t count() const { return bytes.size() / dtype_size(dtype); }
  TensorView view() const { return {name, dtype, shape, bytes}; }
  std::vector<double> to_doubles() const;

  // The elements in place; IoError when the stored type is another.
  template <class T>
  std::span<const T> as() const {
    require_dtype(dtype_of<T>());
    return {reinterpret_cast<const T*>(bytes.data()), count()};
  }

 private:
  void require_dtype(DType expected) const;
};

using TensorMetadata = std::map<std::string, std::string>;

struct TensorFile {
  std::string source;           // file name, for messages
  std::vector<Tensor> tensors;  // in the order of their data
  TensorMetadata metadata;      // without the checksum
  bool verified = false;        // a checksum was there and fits; demand it of our own checkpoints

  const Tensor* find(std::string_view name) const;  // nullptr when absent
  const Tensor& at(std::string_view name) const;    // IoError naming the nearest when absent
};

TensorFile parse_safetensors(ByteSpan bytes, std::string_view name, const ReadLimits& limits = {});
TensorFile read_safetensors(const std::filesystem::path& path, const ReadLimits& limits = {});

// The same tensors and metadata give the same bytes. Atomic (see write_file_atomic); returns the checksum.
std::string write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                              const TensorMetadata& metadata = {});

// The 8-byte length and the padded JSON header that go before the tensors' bytes.
std::string safetensors_header(std::span<const TensorView> tensors, const TensorMetadata& metadata);

}  // namespace locus
