#include "io/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "core/text.h"
#include "io/file.h"

namespace locus {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxRank = 32;

struct NpyHeader {
  std::string descr;
  bool fortran = false;
  std::vector<std::int64_t> shape;
};

// Reads the header's Python dictionary: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class DictParser {
 public:
  DictParser(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    unsigned seen = 0;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      const unsigned field = key == "descr" ? 1 : key == "fortran_order" ? 2 : key == "shape" ? 4 : 0;
      if (field == 0 || (seen & field) != 0) fail("unexpected key '" + key + "'");
      seen |= field;
      if (field == 1) header.descr = descr();
      if (field == 2) header.fortran = boolean();
      if (field == 4) header.shape = tuple();
      if (!accept(',') && peek() != '}') fail("a comma is missing");
    }
    if (seen != 7) fail("descr, fortran_order or shape is missing");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw IoError({.what = "damaged NPY header: " + what,
                   .where = std::string(name_),
                   .hint = "save the array again with numpy.save"});
  }
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}' expected at character {}", c, at_));
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("a quoted text is missing");
    const std::size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) fail("a quote is not closed");
    std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }
  std::string descr() {
    if (peek() == '[') fail("structured arrays (several fields an element) are not supported");
    return quoted();
  }
  bool boolean() {
    peek();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    }
    fail("fortran_order must be True or False");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!accept(')')) {
      peek();
      std::int64_t value = 0;
      const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (code != std::errc() || value < 0) fail("a dimension is no whole number >= 0");
      at_ = static_cast<std::size_t>(end - text_.data());
      accept('L');
      values.push_back(value);
      if (values.size() > kMaxRank) fail("too many dimensions");
      if (!accept(',') && peek() != ')') fail("a comma is missing in the shape");
    }
    return values;
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
};

struct StoredType {
  DType dtype = DType::kF64;
  bool swap = false;
};

StoredType stored_type(const std::string& descr, std::string_view name) {
  const auto unsupported = [&]() -> IoError {
    return IoError({.what = "unsupported element type in an NPY array",
                    .where = std::string(name),
                    .got = descr,
                    .expected = "real numbers or booleans: f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1",
                    .hint = "convert with array.astype('f8') and save again"});
  };
  if (descr.size() != 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos) throw unsupported();
  static constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"f2", DType::kF16}, {"f4", DType::kF32}, {"f8", DType::kF64}, {"i1", DType::kI8},
      {"i2", DType::kI16}, {"i4", DType::kI32}, {"i8", DType::kI64}, {"u1", DType::kU8},
      {"u2", DType::kU16}, {"u4", DType::kU32}, {"u8", DType::kU64}, {"b1", DType::kBool}};
  for (const auto& [spelling, dtype] : kTypes) {
    if (spelling == std::string_view(descr).substr(1)) return {dtype, descr[0] == '>'};
  }
  throw unsupported();
}

std::string spelled(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "|b1";
    case DType::kU8:
      return "|u1";
    case DType::kI8:
      return "|i1";
    case DType::kBF16:
      LOCUS_CHECK(false, "NPY does not know BF16");
      return {};
    default: {
      const char kind = dtype_name(dtype)[0];
      return fmt::format("<{}{}", kind == 'F' ? 'f' : kind == 'U' ? 'u' : 'i', dtype_size(dtype));
    }
  }
}

}  // namespace

NdArray parse_npy(ByteSpan bytes, std::string_view name, const ReadLimits& limits) {
  ByteReader reader(bytes, name);
  if (as_text(reader.take(kMagic.size(), "the magic number")) != kMagic) {
    throw IoError({.what = "not an NPY file", .where = std::string(name), .hint = "it does not begin with \\x93NUMPY"});
  }
  const auto major = reader.number<std::uint8_t>("the version");
  reader.number<std::uint8_t>("the version");
  if (major < 1 || major > 3) {
    throw IoError(
        {.what = "unknown NPY version", .where = std::string(name), .got = std::to_string(major), .expected = "1 to 3"});
  }
  const std::uint64_t length =
      major == 1 ? reader.number<std::uint16_t>("the header length") : reader.number<std::uint32_t>("the header length");
  const NpyHeader header = DictParser(as_text(reader.take(length, "the header")), name).parse();
  const StoredType type = stored_type(header.descr, name);
  const std::uint64_t count = checked_count(header.shape, name, limits);
  const ByteSpan data = reader.take(count * dtype_size(type.dtype), "the array of shape " + shape_text(header.shape));
  NdArray array{.shape = header.shape, .values = std::vector<double>(count), .stored_type = header.descr};
  convert_to_doubles(type.dtype, data, type.swap, array.values);
  if (header.fortran && count > 0) array.values = fortran_to_c_order(array.values, array.shape);
  return array;
}

NdArray read_npy(const std::filesystem::path& path, const ReadLimits& limits) {
  return parse_npy(read_file(path, limits.file_bytes), path.string(), limits);
}

Bytes encode_npy(const TensorView& array) {
  check_tensor_view(array);
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", spelled(array.dtype), shape_text(array.shape));
  // The data begin at a multiple of 64, as NumPy does for memory mapping.
  dict.append(63 - (kMagic.size() + 4 + dict.size()) % 64, ' ');
  dict += '\n';
  Bytes out;
  out.reserve(kMagic.size() + 4 + dict.size() + array.bytes.size());
  append(out, bytes_of(kMagic));
  append_number<std::uint16_t>(out, 1);  // version 1.0
  append_number<std::uint16_t>(out, static_cast<std::uint16_t>(dict.size()));
  append(out, bytes_of(dict));
  append(out, array.bytes);
  return out;
}

void write_npy(const std::filesystem::path& path, const TensorView& array) { write_file_atomic(path, encode_npy(array)); }

void write_npy(const std::filesystem::path& path, ConstMatD matrix) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(matrix.rows * matrix.cols));
  for (std::ptrdiff_t r = 0; r < matrix.rows; ++r) values.insert(values.end(), matrix.row(r), matrix.row(r) + matrix.cols);
  write_npy(path, tensor_view<double>("", {matrix.rows, matrix.cols}, values));
}

MatrixD to_matrix(const NdArray& array, std::string_view where) {
  std::vector<std::int64_t> shape = array.shape;
  // Axes of length 1 beyond two carry nothing.
  for (std::size_t a = shape.size(); a-- > 0 && shape.size() > 2;) {
    if (shape[a] == 1) shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(a));
  }
  if (shape.size() > 2) {
    throw DataError({.what = "a matrix is needed",
                     .where = std::string(where),
                     .got = "an array of shape " + shape_text(array.shape),
                     .hint = "choose or save a two-dimensional part of it"});
  }
  while (shape.size() < 2) shape.push_back(1);
  MatrixD matrix(shape[0], shape[1]);
  matrix.values() = array.values;
  return matrix;
}

}  // namespace locus
