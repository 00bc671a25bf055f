// Element types of stored arrays, and non-owning typed array views that writers take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/bytes.h"

namespace locus {

enum class DType { kBool, kU8, kI8, kU16, kI16, kF16, kBF16, kU32, kI32, kF32, kU64, kI64, kF64 };

std::size_t dtype_size(DType type);                           // bytes of one element
std::string_view dtype_name(DType type);                      // safetensors spelling: "F32"
std::optional<DType> dtype_from_name(std::string_view name);  // the reverse
double float16_value(std::uint16_t bits);                     // IEEE half

// `count` elements at `bytes` (of either byte order) to doubles; 64-bit integers beyond 2^53 are rounded.
void convert_to_doubles(DType type, ByteSpan bytes, bool swap, std::span<double> out);

// Values of an array of this shape from Fortran order (first axis fastest) to C order.
std::vector<double> fortran_to_c_order(std::span<const double> in, std::span<const std::int64_t> shape);

// The same straight from the stored bytes, so that the doubles stand in memory once.
std::vector<double> fortran_to_c_order(DType type, ByteSpan bytes, bool swap, std::span<const std::int64_t> shape);

template <class T>
constexpr DType dtype_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, bool>) return DType::kBool;
  if constexpr (std::is_same_v<U, std::uint8_t>) return DType::kU8;
  if constexpr (std::is_same_v<U, std::int8_t>) return DType::kI8;
  if constexpr (std::is_same_v<U, std::uint16_t>) return DType::kU16;
  if constexpr (std::is_same_v<U, std::int16_t>) return DType::kI16;
  if constexpr (std::is_same_v<U, std::uint32_t>) return DType::kU32;
  if constexpr (std::is_same_v<U, std::int32_t>) return DType::kI32;
  if constexpr (std::is_same_v<U, float>) return DType::kF32;
  if constexpr (std::is_same_v<U, std::uint64_t>) return DType::kU64;
  if constexpr (std::is_same_v<U, std::int64_t>) return DType::kI64;
  if constexpr (std::is_same_v<U, double>) return DType::kF64;
}

// A named C-order array that somebody else owns.
struct TensorView {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  ByteSpan bytes;  // dtype_size * product(shape)
};

template <class T>
TensorView tensor_view(std::string name, std::vector<std::int64_t> shape, std::span<const T> values) {
  return {std::move(name), dtype_of<T>(), std::move(shape), std::as_bytes(values)};
}

// "(3, 4)", "(7,)", "()"
std::string shape_text(std::span<const std::int64_t> shape);

// CHECKs that the bytes of a view fit its shape and type.
void check_tensor_view(const TensorView& view);

}  // namespace locus
