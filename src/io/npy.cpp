#include "io/npy.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/error.h"
#include "core/text.h"
#include "io/file.h"

namespace locus {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kMaxRank = 32;
// NumPy writes headers of 128 bytes; a record of many fields may have a longer one.
constexpr std::uint64_t kMaxHeader = std::uint64_t{1} << 20;
constexpr std::size_t kHeaderStep = 4096;
constexpr std::uint64_t kMaxText = 4096;

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

struct FoundHeader {
  NpyHeader header;
  std::uint64_t data = 0;  // where the values begin
};

// Nothing when `front` is too short but the file (of `size` bytes) may go on.
std::optional<FoundHeader> find_header(ByteSpan front, std::string_view name, std::uint64_t size) {
  ByteReader reader(front, name);
  if (front.size() >= kNpyMagic.size() && as_text(front.first(kNpyMagic.size())) != kNpyMagic) {
    throw IoError({.what = "not an NPY file", .where = std::string(name), .hint = "it does not begin with \\x93NUMPY"});
  }
  if (front.size() < 12 && front.size() < size) return std::nullopt;
  reader.take(kNpyMagic.size(), "the magic number");
  const auto major = reader.number<std::uint8_t>("the version");
  reader.number<std::uint8_t>("the version");
  if (major < 1 || major > 3) {
    throw IoError(
        {.what = "unknown NPY version", .where = std::string(name), .got = std::to_string(major), .expected = "1 to 3"});
  }
  const std::uint64_t length =
      major == 1 ? reader.number<std::uint16_t>("the header length") : reader.number<std::uint32_t>("the header length");
  if (length > kMaxHeader)
    throw IoError(
        {.what = "the NPY header is too long", .where = std::string(name), .got = human_bytes(static_cast<double>(length))});
  if (reader.remaining() < length && front.size() < size) return std::nullopt;
  FoundHeader found{DictParser(as_text(reader.take(length, "the header")), name).parse(), 0};
  found.data = reader.position();
  return found;
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

NpyReader::NpyReader(std::string_view name, const ReadLimits& limits, std::uint64_t bytes)
    : name_(name), limits_(limits), bytes_(bytes) {}

// False until all of the header is there.
bool NpyReader::parse_header() {
  const auto found = find_header(waiting_, name_, bytes_);
  if (!found) return false;
  const NpyHeader& header = found->header;
  const StoredType type = stored_type(header.descr, name_);
  const std::uint64_t count = checked_count(header.shape, name_, limits_);
  ByteReader rest(ByteSpan(), name_);
  if (count * dtype_size(type.dtype) > bytes_ - std::min(bytes_, found->data))
    rest.take(count * dtype_size(type.dtype), "the array of shape " + shape_text(header.shape));
  array_ = {.shape = header.shape, .values = std::vector<double>(count), .stored_type = header.descr};
  dtype_ = type.dtype;
  swap_ = type.swap;
  fortran_ = header.fortran;
  begun_ = true;
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(found->data));
  return true;
}

void NpyReader::add(ByteSpan piece) {
  while (!begun_ && !piece.empty()) {
    const std::size_t part = std::min<std::size_t>(piece.size(), kHeaderStep);
    append(waiting_, piece.first(part));
    piece = piece.subspan(part);
    if (!parse_header()) continue;
    const Bytes behind = std::move(waiting_);
    waiting_.clear();
    add(behind);
  }
  if (!begun_) return;
  const std::size_t size = dtype_size(dtype_);
  const auto convert = [&](ByteSpan bytes) {
    const std::uint64_t n = std::min<std::uint64_t>(bytes.size() / size, array_.values.size() - filled_);
    convert_to_doubles(dtype_, bytes.first(n * size), swap_, std::span(array_.values).subspan(filled_, n));
    filled_ += n;
  };
  // Elements may be cut at the edge of a piece.
  if (!waiting_.empty()) {
    const std::size_t missing = std::min(size - waiting_.size(), piece.size());
    append(waiting_, piece.first(missing));
    piece = piece.subspan(missing);
    if (waiting_.size() < size) return;
    convert(waiting_);
    waiting_.clear();
  }
  convert(piece);
  append(waiting_, piece.last(piece.size() % size));
}

NdArray NpyReader::finish() {
  if (!begun_) {
    ByteReader reader(waiting_, name_);
    reader.take(std::max<std::uint64_t>(waiting_.size() + 1, 10), "the header");
  }
  if (filled_ < array_.values.size())
    ByteReader(ByteSpan(), name_)
        .take((array_.values.size() - filled_) * dtype_size(dtype_), "the array of shape " + shape_text(array_.shape));
  if (fortran_ && !array_.values.empty()) array_.values = fortran_to_c_order(array_.values, array_.shape);
  return std::move(array_);
}

NdArray npy_front(ByteSpan front, std::string_view name) {
  const auto found = find_header(front, name, UINT64_MAX);
  if (!found) ByteReader(front, name).take(front.size() + 1, "the header");
  return {.shape = found->header.shape, .values = {}, .stored_type = found->header.descr};
}

std::vector<std::string> npy_texts(ByteSpan bytes, std::string_view name, const ReadLimits& limits) {
  const auto found = find_header(bytes, name, bytes.size());
  std::vector<std::string> out;
  if (!found) return out;
  const std::string& descr = found->header.descr;
  const std::size_t kind = descr.find_first_of("US");
  std::uint64_t length = 0;
  if (kind == std::string::npos || kind > 1) return out;
  const auto [end, code] = std::from_chars(descr.data() + kind + 1, descr.data() + descr.size(), length);
  if (code != std::errc() || end != descr.data() + descr.size() || length == 0 || length > kMaxText) return out;
  const bool wide = descr[kind] == 'U';
  const std::uint64_t count = checked_count(found->header.shape, name, limits), size = length * (wide ? 4 : 1);
  if (count > limits.array_bytes / size) checked_count(std::vector<std::int64_t>{INT64_MAX}, name, limits);
  ByteReader reader(bytes, name);
  reader.seek(found->data, "the texts");
  for (std::uint64_t i = 0; i < count; ++i) {
    const ByteSpan cell = reader.take(size, "the texts");
    std::string text;
    for (std::uint64_t c = 0; c < length; ++c) {
      if (wide) {
        append_utf8(text, load_number<std::uint32_t>(cell.data() + 4 * c, descr[0] == '>'));
      } else {
        text += static_cast<char>(cell[c]);
      }
    }
    text.resize(text.find_last_not_of('\0') + 1);
    out.push_back(std::move(text));
  }
  return out;
}

NdArray parse_npy(ByteSpan bytes, std::string_view name, const ReadLimits& limits) {
  NpyReader reader(name, limits, bytes.size());
  reader.add(bytes);
  return reader.finish();
}

NdArray read_npy(const std::filesystem::path& path, const ReadLimits& limits) {
  return parse_npy(read_file(path, limits.file_bytes), path.string(), limits);
}

Bytes encode_npy(const TensorView& array) {
  check_tensor_view(array);
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", spelled(array.dtype), shape_text(array.shape));
  // The data begin at a multiple of 64, as NumPy does for memory mapping.
  dict.append(63 - (kNpyMagic.size() + 4 + dict.size()) % 64, ' ');
  dict += '\n';
  Bytes out;
  out.reserve(kNpyMagic.size() + 4 + dict.size() + array.bytes.size());
  append(out, bytes_of(kNpyMagic));
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

MatrixD to_matrix(NdArray array, std::string_view where) {
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
  matrix.values() = std::move(array.values);
  return matrix;
}

}  // namespace locus
