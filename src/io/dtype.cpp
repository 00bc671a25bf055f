#include "io/dtype.h"

#include <fmt/core.h>

#include <array>
#include <cmath>

#include "core/error.h"
#include "io/limits.h"

namespace locus {
namespace {

struct DTypeRow {
  DType type;
  std::string_view name;
  std::size_t size;
};

constexpr std::array<DTypeRow, 13> kDTypes = {{{DType::kBool, "BOOL", 1},
                                               {DType::kU8, "U8", 1},
                                               {DType::kI8, "I8", 1},
                                               {DType::kU16, "U16", 2},
                                               {DType::kI16, "I16", 2},
                                               {DType::kF16, "F16", 2},
                                               {DType::kBF16, "BF16", 2},
                                               {DType::kU32, "U32", 4},
                                               {DType::kI32, "I32", 4},
                                               {DType::kF32, "F32", 4},
                                               {DType::kU64, "U64", 8},
                                               {DType::kI64, "I64", 8},
                                               {DType::kF64, "F64", 8}}};

const DTypeRow& row_of(DType type) { return kDTypes.at(static_cast<std::size_t>(type)); }

template <class T>
void convert_as(ByteSpan bytes, bool swap, std::span<double> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<double>(load_number<T>(bytes.data() + i * sizeof(T), swap));
  }
}

}  // namespace

std::size_t dtype_size(DType type) { return row_of(type).size; }
std::string_view dtype_name(DType type) { return row_of(type).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

double float16_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  double magnitude = 0;
  if (exponent == 31) {
    magnitude = mantissa == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    magnitude = std::ldexp(mantissa, -24);
  } else {
    magnitude = std::ldexp(mantissa + 1024, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

void convert_to_doubles(DType type, ByteSpan bytes, bool swap, std::span<double> out) {
  LOCUS_CHECK(bytes.size() / dtype_size(type) >= out.size(), "too few bytes to convert");
  switch (type) {
    case DType::kBool:
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = bytes[i] == std::byte{0} ? 0.0 : 1.0;
      return;
    case DType::kU8:
      return convert_as<std::uint8_t>(bytes, swap, out);
    case DType::kI8:
      return convert_as<std::int8_t>(bytes, swap, out);
    case DType::kU16:
      return convert_as<std::uint16_t>(bytes, swap, out);
    case DType::kI16:
      return convert_as<std::int16_t>(bytes, swap, out);
    case DType::kU32:
      return convert_as<std::uint32_t>(bytes, swap, out);
    case DType::kI32:
      return convert_as<std::int32_t>(bytes, swap, out);
    case DType::kU64:
      return convert_as<std::uint64_t>(bytes, swap, out);
    case DType::kI64:
      return convert_as<std::int64_t>(bytes, swap, out);
    case DType::kF32:
      return convert_as<float>(bytes, swap, out);
    case DType::kF64:
      return convert_as<double>(bytes, swap, out);
    case DType::kF16:
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = float16_value(load_number<std::uint16_t>(bytes.data() + 2 * i, swap));
      }
      return;
    case DType::kBF16:
      for (std::size_t i = 0; i < out.size(); ++i) {
        const std::uint32_t high = load_number<std::uint16_t>(bytes.data() + 2 * i, swap);
        out[i] = std::bit_cast<float>(high << 16);
      }
      return;
  }
}

std::vector<double> fortran_to_c_order(std::span<const double> in, std::span<const std::int64_t> shape) {
  std::vector<double> out(in.size());
  if (out.empty()) return out;
  const std::size_t rank = shape.size();
  std::vector<std::size_t> stride(rank);
  std::size_t step = 1;
  for (std::size_t a = 0; a < rank; ++a) {
    stride[a] = step;
    step *= static_cast<std::size_t>(shape[a]);
  }
  std::vector<std::int64_t> index(rank, 0);
  std::size_t from = 0;
  for (double& value : out) {
    value = in[from];
    for (std::size_t a = rank; a-- > 0;) {
      from += stride[a];
      if (++index[a] < shape[a]) break;
      from -= stride[a] * static_cast<std::size_t>(shape[a]);
      index[a] = 0;
    }
  }
  return out;
}

std::vector<double> fortran_to_c_order(DType type, ByteSpan bytes, bool swap, std::span<const std::int64_t> shape) {
  std::size_t count = 1, others = 1;
  for (const std::int64_t d : shape) count *= static_cast<std::size_t>(d);
  std::vector<double> out(count);
  if (count == 0) return out;
  const std::size_t length = shape.empty() ? 1 : static_cast<std::size_t>(shape[0]), size = dtype_size(type);
  others = count / length;
  // One run along the first axis at a time: contiguous in the file, `others` apart in C order.
  std::vector<double> run(length);
  std::vector<std::size_t> index(shape.size(), 0);
  for (std::size_t r = 0; r < others; ++r) {
    convert_to_doubles(type, bytes.subspan(r * length * size, length * size), swap, run);
    std::size_t to = 0;
    for (std::size_t a = 1; a < shape.size(); ++a) to = to * static_cast<std::size_t>(shape[a]) + index[a];
    for (std::size_t i = 0; i < length; ++i) out[i * others + to] = run[i];
    for (std::size_t a = 1; a < shape.size() && ++index[a] == static_cast<std::size_t>(shape[a]); ++a) index[a] = 0;
  }
  return out;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  if (shape.size() == 1) return fmt::format("({},)", shape[0]);
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + ")";
}

void check_tensor_view(const TensorView& view) {
  const auto count = checked_product(view.shape);
  LOCUS_CHECK(
      count && *count * dtype_size(view.dtype) == view.bytes.size(),
      fmt::format("array '{}' of shape {} does not fit its {} bytes", view.name, shape_text(view.shape), view.bytes.size()));
}

}  // namespace locus
