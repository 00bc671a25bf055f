#include "io/mat5.h"

#include <fmt/core.h>

#include <array>
#include <optional>

#include "core/error.h"
#include "io/compress.h"

namespace locus {
namespace {

constexpr std::uint64_t kHeaderSize = 128;
constexpr std::uint32_t kMatrix = 14;
constexpr std::uint32_t kCompressed = 15;
constexpr std::size_t kMaxVariables = 100000;
constexpr std::size_t kMostDimensions = 32;
// Flags, dimensions and name stand at the front of a variable.
constexpr std::uint64_t kHeadBytes = 64 * 1024;
constexpr std::uint64_t kMaxPadding = 64;

constexpr std::array<std::string_view, 18> kClasses = {"?",      "cell",   "struct", "object", "char",     "sparse",
                                                       "double", "single", "int8",   "uint8",  "int16",    "uint16",
                                                       "int32",  "uint32", "int64",  "uint64", "function", "opaque"};
constexpr std::uint32_t kSparseClass = 5;

[[noreturn]] void throw_mat(std::string_view where, std::string what, std::string got = {}) {
  throw IoError({.what = std::move(what),
                 .where = std::string(where),
                 .got = std::move(got),
                 .hint = "the file is truncated, damaged or no MATLAB file: save it again (save -v7)"});
}

struct Element {
  std::uint32_t type = 0;
  ByteSpan data;
};

// An element is a tag and data padded to 8 bytes; up to 4 bytes may stand inside of the tag.
Element next_element(ByteReader& reader, std::string_view what) {
  const auto word = reader.number<std::uint32_t>(what);
  if ((word >> 16) != 0) {
    const std::uint32_t size = word >> 16;
    const ByteSpan data = reader.take(4, what);
    if (size > 4) throw_mat(reader.name(), fmt::format("damaged element: {}", what));
    return {word & 0xffff, data.first(size)};
  }
  const auto size = reader.number<std::uint32_t>(what);
  const Element element{word, reader.take(size, what)};
  const std::uint64_t padding = (8 - size % 8) % 8;
  reader.take(std::min(padding, reader.remaining()), what);
  return element;
}

std::optional<DType> dtype_of_element(std::uint32_t type) {
  switch (type) {
    case 1:
      return DType::kI8;
    case 2:
      return DType::kU8;
    case 3:
      return DType::kI16;
    case 4:
      return DType::kU16;
    case 5:
      return DType::kI32;
    case 6:
      return DType::kU32;
    case 7:
      return DType::kF32;
    case 9:
      return DType::kF64;
    case 12:
      return DType::kI64;
    case 13:
      return DType::kU64;
    default:
      return std::nullopt;
  }
}

// The type of an element that holds at least `count` numbers.
DType checked_dtype(const Element& element, std::uint64_t count, std::string_view where) {
  const auto dtype = dtype_of_element(element.type);
  if (!dtype) throw_mat(where, "values of an unknown type", std::to_string(element.type));
  if (element.data.size() / dtype_size(*dtype) < count) {
    throw_mat(where, "fewer values than the shape needs", fmt::format("{} bytes for {} values", element.data.size(), count));
  }
  return *dtype;
}

std::vector<double> numbers_of(const Element& element, std::uint64_t count, bool swap, std::string_view where) {
  const DType dtype = checked_dtype(element, count, where);
  std::vector<double> values(count);
  convert_to_doubles(dtype, element.data, swap, values);
  return values;
}

struct Head {
  MatVariable variable;
  std::uint32_t class_code = 0;
  bool complex = false;
};

// Flags, dimensions and name of an miMATRIX element; the reader then stands before the values.
Head read_head(ByteReader& reader) {
  Head head;
  const Element flags = next_element(reader, "the array flags");
  if (flags.data.size() < 8) throw_mat(reader.name(), "damaged array flags");
  const auto word = load_number<std::uint32_t>(flags.data.data(), reader.swap());
  head.class_code = word & 0xff;
  head.complex = (word & 0x0800) != 0;
  const bool logical = (word & 0x0200) != 0;
  if (head.class_code == 0 || head.class_code >= kClasses.size()) {
    throw_mat(reader.name(), "unknown array class", std::to_string(head.class_code));
  }
  head.variable.class_name = logical && head.class_code >= 6 ? "logical" : std::string(kClasses[head.class_code]);
  if (head.complex) head.variable.class_name = "complex " + head.variable.class_name;
  head.variable.numeric = head.class_code >= kSparseClass && head.class_code <= 15 && !head.complex;
  // Opaque objects have no dimensions; what follows is their name.
  if (head.class_code != 17) {
    const Element dims = next_element(reader, "the dimensions");
    if (dims.data.size() % 4 != 0 || dims.data.size() / 4 > kMostDimensions) throw_mat(reader.name(), "damaged dimensions");
    for (std::size_t i = 0; i < dims.data.size(); i += 4) {
      head.variable.shape.push_back(load_number<std::int32_t>(dims.data.data() + i, reader.swap()));
    }
    if (!checked_product(head.variable.shape)) {
      throw_mat(reader.name(), "impossible dimensions", shape_text(head.variable.shape));
    }
  }
  const Element name = next_element(reader, "the variable's name");
  head.variable.name = as_text(name.data.first(std::min<std::size_t>(name.data.size(), 1024)));
  return head;
}

std::vector<double> load_sparse(ByteReader& reader, const MatVariable& variable, std::string_view where) {
  if (variable.shape.size() != 2) throw_mat(where, "a sparse matrix must have two axes");
  const auto rows = static_cast<std::uint64_t>(variable.shape[0]);
  const auto cols = static_cast<std::uint64_t>(variable.shape[1]);
  const Element ir = next_element(reader, "the sparse rows");
  const Element jc = next_element(reader, "the sparse columns");
  const Element pr = next_element(reader, "the sparse values");
  const std::vector<double> starts = numbers_of(jc, cols + 1, reader.swap(), where);
  // Negated, so that NaN is refused too: damaged files may give positions as fractions.
  if (!(starts.back() >= 0 && starts.back() <= static_cast<double>(ir.data.size())))
    throw_mat(where, "damaged sparse matrix");
  const auto count = static_cast<std::uint64_t>(starts.back());
  const std::vector<double> row_of = numbers_of(ir, count, reader.swap(), where);
  // MATLAB tags the values of a logical sparse matrix as doubles but writes one byte each.
  const bool byte_values = pr.type == 9 && pr.data.size() == count && count > 0;
  const std::vector<double> values = numbers_of({byte_values ? 2 : pr.type, pr.data}, count, reader.swap(), where);
  std::vector<double> dense(rows * cols);
  for (std::uint64_t c = 0; c < cols; ++c) {
    if (!(starts[c] >= 0 && starts[c] <= starts[c + 1] && starts[c + 1] <= static_cast<double>(count))) {
      throw_mat(where, "damaged sparse matrix");
    }
    for (auto i = static_cast<std::uint64_t>(starts[c]); i < static_cast<std::uint64_t>(starts[c + 1]); ++i) {
      if (!(row_of[i] >= 0 && row_of[i] < static_cast<double>(rows))) throw_mat(where, "damaged sparse matrix");
      dense[static_cast<std::uint64_t>(row_of[i]) * cols + c] = values[i];
    }
  }
  return dense;
}

// 16 is UTF-8; MATLAB itself writes 16-bit characters (4), Octave and SciPy bytes.
std::string characters_of(const Element& element, bool swap) {
  std::string text;
  if (element.type == 16 || element.type == 1 || element.type == 2) return std::string(as_text(element.data));
  const std::size_t size = element.type == 18 || element.type == 6 ? 4 : 2;
  for (std::size_t i = 0; i + size <= element.data.size(); i += size) {
    append_utf8(text, size == 4 ? load_number<std::uint32_t>(element.data.data() + i, swap)
                                : load_number<std::uint16_t>(element.data.data() + i, swap));
  }
  return text;
}

// The miMATRIX element inside of a compressed one, whole or only its front.
Bytes unpacked(ByteSpan packed, bool swap, bool whole, std::string_view where, const ReadLimits& limits) {
  const Bytes tag = inflate_prefix(packed, DeflateFormat::kZlib, 8, where);
  if (tag.size() < 8 || load_number<std::uint32_t>(tag.data(), swap) != kMatrix) throw_mat(where, "no array inside");
  const std::uint64_t size = load_number<std::uint32_t>(tag.data() + 4, swap);
  if (!whole) return inflate_prefix(packed, DeflateFormat::kZlib, std::min(size + 8, kHeadBytes), where);
  if (size > limits.array_bytes || size / kMaxDeflateRatio > packed.size()) {
    throw_mat(where, "the variable declares an impossible size", fmt::format("{} bytes", size));
  }
  Bytes content;
  content.reserve(size + 8);
  inflate_pieces(packed, DeflateFormat::kZlib, size + 8 + kMaxPadding, where, [&](ByteSpan piece) {
    append(content, piece.first(std::min<std::uint64_t>(piece.size(), size + 8 - content.size())));
  });
  return content;
}

}  // namespace

std::vector<Mat5Entry> scan_mat5(ByteSpan bytes, std::string_view file) {
  ByteReader reader(bytes, file);
  const std::string_view order = as_text(reader.take(kHeaderSize, "the header")).substr(126, 2);
  if (order != "IM" && order != "MI") throw_mat(file, "not a MATLAB v5 file");
  reader.set_swap(order == "MI");
  std::vector<Mat5Entry> entries;
  while (reader.remaining() >= 8) {
    const auto type = reader.number<std::uint32_t>("a variable");
    const auto size = reader.number<std::uint32_t>("a variable");
    const ByteSpan content = reader.take(size, "a variable");
    if (type != kMatrix && type != kCompressed) continue;
    if (type == kMatrix) reader.take(std::min<std::uint64_t>((8 - size % 8) % 8, reader.remaining()), "a variable");
    Mat5Entry entry{.variable = {}, .content = content, .compressed = type == kCompressed, .swap = reader.swap()};
    const Bytes front = entry.compressed ? unpacked(content, entry.swap, false, file, {}) : Bytes();
    ByteReader inner(entry.compressed ? ByteSpan(front).subspan(8) : content, file, entry.swap);
    entry.variable = read_head(inner).variable;
    // MATLAB keeps its subsystem data in a nameless variable.
    if (!entry.variable.name.empty()) entries.push_back(std::move(entry));
    if (entries.size() > kMaxVariables) throw_mat(file, "too many variables");
  }
  return entries;
}

NdArray load_mat5(const Mat5Entry& entry, std::string_view where, const ReadLimits& limits) {
  const std::uint64_t count = checked_count(entry.variable.shape, where, limits);
  const Bytes whole = entry.compressed ? unpacked(entry.content, entry.swap, true, where, limits) : Bytes();
  ByteReader reader(entry.compressed ? ByteSpan(whole).subspan(8) : entry.content, where, entry.swap);
  const Head head = read_head(reader);
  NdArray array{.shape = head.variable.shape, .values = {}, .stored_type = head.variable.class_name};
  if (head.class_code == kSparseClass) {
    array.values = load_sparse(reader, head.variable, where);
    return array;
  }
  const Element values = next_element(reader, "the values");
  array.values = fortran_to_c_order(checked_dtype(values, count, where), values.data, entry.swap, array.shape);
  return array;
}

std::vector<std::string> load_mat5_texts(const Mat5Entry& entry, std::string_view where, const ReadLimits& limits) {
  const Bytes whole = entry.compressed ? unpacked(entry.content, entry.swap, true, where, limits) : Bytes();
  ByteReader reader(entry.compressed ? ByteSpan(whole).subspan(8) : entry.content, where, entry.swap);
  std::vector<std::string> out;
  if (read_head(reader).variable.class_name != "cell") return out;
  while (reader.remaining() >= 8) {
    const Element element = next_element(reader, "a cell");
    if (element.type != kMatrix) throw_mat(where, "damaged cell");
    ByteReader inner(element.data, where, entry.swap);
    if (element.data.empty()) {
      out.emplace_back();
      continue;
    }
    if (read_head(inner).variable.class_name != "char") return {};
    out.push_back(characters_of(next_element(inner, "the characters of a cell"), entry.swap));
  }
  return out;
}

std::vector<Mat5Entry> scan_mat4(ByteSpan bytes, std::string_view file) {
  ByteReader reader(bytes, file);
  std::vector<Mat5Entry> entries;
  while (reader.remaining() >= 20) {
    Mat5Entry entry;
    entry.version4 = true;
    const ByteSpan head = reader.take(20, "a variable");
    // The type is below 5000 in the file's own byte order.
    entry.swap = load_number<std::uint32_t>(head.data()) > 5000;
    const auto number = [&](std::size_t i) { return load_number<std::int32_t>(head.data() + 4 * i, entry.swap); };
    const std::int32_t code = number(0);
    if (code < 0 || code > 5000 || number(1) < 0 || number(2) < 0 || number(4) < 1 || number(4) > 4096) {
      throw_mat(file, "damaged MATLAB v4 header");
    }
    static constexpr std::array<DType, 6> kTypes = {DType::kF64, DType::kF32, DType::kI32,
                                                    DType::kI16, DType::kU16, DType::kU8};
    const int type = (code / 10) % 10;
    const int kind = code % 10;
    if (type > 5 || kind > 2) throw_mat(file, "damaged MATLAB v4 header");
    entry.type = static_cast<int>(kTypes[static_cast<std::size_t>(type)]);
    const bool complex = number(3) != 0;
    entry.variable.shape = {number(1), number(2)};
    entry.variable.class_name = kind == 1 ? "char" : kind == 2 ? "sparse" : complex ? "complex" : "double";
    entry.variable.numeric = kind == 0 && !complex;
    const std::string_view name = as_text(reader.take(static_cast<std::uint64_t>(number(4)), "the variable's name"));
    entry.variable.name = name.substr(0, name.find('\0'));
    const std::uint64_t count = *checked_product(entry.variable.shape);
    const std::uint64_t size = dtype_size(kTypes[static_cast<std::size_t>(type)]) * (complex ? 2 : 1);
    entry.content = reader.take(count > reader.remaining() ? UINT64_MAX : count * size, "the values");
    entries.push_back(std::move(entry));
    if (entries.size() > kMaxVariables) throw_mat(file, "too many variables");
  }
  return entries;
}

NdArray load_mat4(const Mat5Entry& entry, std::string_view where, const ReadLimits& limits) {
  const auto dtype = static_cast<DType>(entry.type);
  checked_count(entry.variable.shape, where, limits);
  return {entry.variable.shape, fortran_to_c_order(dtype, entry.content, entry.swap, entry.variable.shape),
          entry.variable.class_name};
}

}  // namespace locus
