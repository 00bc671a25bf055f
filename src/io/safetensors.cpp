#include "io/safetensors.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "core/hash.h"
#include "core/text.h"
#include "io/file.h"

namespace locus {
namespace {

using SaxJson = nlohmann::json;

constexpr const char* kMetadataName = "__metadata__";
constexpr const char* kDamagedHint =
    "the file is damaged or not a safetensors file: use the previous checkpoint or make it again";

struct Entry {
  std::string name = {};
  std::string dtype = {};
  std::vector<std::int64_t> shape = {};
  std::vector<std::int64_t> offsets = {};
  unsigned seen = 0;  // bits: dtype, shape, offsets
};

// Takes the header's exact form and nothing else, so that hostile JSON builds no tree.
class HeaderHandler : public nlohmann::json_sax<SaxJson> {
 public:
  std::vector<Entry> entries;
  TensorMetadata metadata;
  std::string error;

  bool key(string_t& text) override {
    if (state_ == State::kTop) {
      if (!names_.insert(text).second) return fail("the name '" + text + "' stands twice in the header");
      if (text == kMetadataName) {
        next_ = State::kMetadata;
      } else {
        entries.push_back({.name = text});
        next_ = State::kTensor;
      }
      return true;
    }
    if (state_ == State::kMetadata) {
      metadata_key_ = text;
      return metadata.count(text) == 0 || fail("the metadata key '" + text + "' stands twice");
    }
    const unsigned field = text == "dtype" ? 1 : text == "shape" ? 2 : text == "data_offsets" ? 4 : 0;
    if (field == 0) return fail("unknown field '" + text + "' of a tensor");
    if ((entries.back().seen & field) != 0) return fail("the field '" + text + "' stands twice");
    entries.back().seen |= field;
    field_ = field;
    return true;
  }
  bool string(string_t& text) override {
    if (state_ == State::kMetadata) {
      metadata.emplace(metadata_key_, text);
      return true;
    }
    if (state_ != State::kTensor || field_ != 1) return fail("unexpected text in the header");
    entries.back().dtype = text;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (state_ != State::kArray || value > static_cast<std::uint64_t>(INT64_MAX))
      return fail("unexpected number in the header");
    (field_ == 2 ? entries.back().shape : entries.back().offsets).push_back(static_cast<std::int64_t>(value));
    return true;
  }
  bool number_integer(number_integer_t) override { return fail("a negative size or offset"); }
  bool number_float(number_float_t, const string_t&) override { return fail("a size or offset that is no whole number"); }
  bool boolean(bool) override { return fail("unexpected true/false in the header"); }
  bool null() override { return fail("unexpected null in the header"); }
  bool binary(binary_t&) override { return fail("unexpected binary value in the header"); }
  bool start_object(std::size_t) override {
    if (state_ == State::kStart) {
      state_ = State::kTop;
    } else if (state_ == State::kTop) {
      state_ = next_;
    } else {
      return fail("an object where none belongs");
    }
    return true;
  }
  bool end_object() override {
    if (state_ == State::kTensor && entries.back().seen != 7) {
      return fail("tensor '" + entries.back().name + "' lacks dtype, shape or data_offsets");
    }
    state_ = state_ == State::kTop ? State::kEnd : State::kTop;
    return true;
  }
  bool start_array(std::size_t) override {
    if (state_ != State::kTensor || field_ == 1) return fail("an array where none belongs");
    state_ = State::kArray;
    return true;
  }
  bool end_array() override {
    state_ = State::kTensor;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const SaxJson::exception&) override {
    return fail(fmt::format("the header is no JSON at byte {}", position));
  }

 private:
  enum class State { kStart, kTop, kMetadata, kTensor, kArray, kEnd };

  bool fail(std::string text) {
    if (error.empty()) error = std::move(text);
    return false;
  }

  State state_ = State::kStart;
  State next_ = State::kTop;
  unsigned field_ = 0;
  std::string metadata_key_;
  std::unordered_set<std::string> names_;
};

[[noreturn]] void throw_damaged(std::string_view name, std::string what, std::string got = {}, std::string expected = {}) {
  throw IoError({.what = std::move(what),
                 .where = std::string(name),
                 .got = std::move(got),
                 .expected = std::move(expected),
                 .hint = kDamagedHint});
}

// The tensor of one header entry, its place checked against the data section and the end of the tensor before it.
Tensor cut_tensor(Entry& entry, ByteSpan data, std::uint64_t& end, std::string_view file) {
  const std::string where = fmt::format("{}: tensor '{}'", file, entry.name);
  const auto dtype = dtype_from_name(entry.dtype);
  if (!dtype)
    throw_damaged(where, "unknown element type", entry.dtype, "one of F32 F64 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 BOOL");
  const auto count = checked_product(entry.shape);
  if (!count || *count > static_cast<std::uint64_t>(INT64_MAX) / 8) {
    throw_damaged(where, "impossible shape", shape_text(entry.shape));
  }
  if (entry.offsets.size() != 2) throw_damaged(where, "data_offsets must be two numbers");
  const auto begin = static_cast<std::uint64_t>(entry.offsets[0]);
  const auto stop = static_cast<std::uint64_t>(entry.offsets[1]);
  if (begin > stop || stop > data.size()) {
    throw_damaged(where, "the data lie outside of the file", fmt::format("bytes {} to {}", begin, stop),
                  fmt::format("within {} bytes of data", data.size()));
  }
  if (begin != end) {
    throw_damaged(where, begin < end ? "the data overlap another tensor" : "there is a hole before the data",
                  fmt::format("begins at {}", begin), fmt::format("begins at {}", end));
  }
  if (stop - begin != *count * dtype_size(*dtype)) {
    throw_damaged(where, "the data do not fit the shape", fmt::format("{} bytes", stop - begin),
                  fmt::format("{} bytes for {} {}", *count * dtype_size(*dtype), entry.dtype, shape_text(entry.shape)));
  }
  end = stop;
  const ByteSpan part = data.subspan(begin, stop - begin);
  Tensor tensor;
  tensor.name = std::move(entry.name);
  tensor.dtype = *dtype;
  tensor.shape = std::move(entry.shape);
  tensor.bytes.assign(part.begin(), part.end());
  if (*dtype == DType::kBool) {
    // Any byte but 0 means true; C++ knows only 0 and 1.
    for (std::byte& b : tensor.bytes) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
  }
  return tensor;
}

const std::string kUnsetChecksum(64, '0');

// The checksum covers the header (its own digits as zeros) and the data.
bool checksum_fits(std::string_view header, ByteSpan data, const std::string& stated) {
  const std::string entry = fmt::format("\"{}\":\"{}\"", kChecksumKey, stated);
  const std::size_t place = header.find(entry);
  if (stated.size() != kUnsetChecksum.size() || place == std::string_view::npos) return false;
  const std::size_t digits = place + entry.size() - 1 - stated.size();
  Sha256 hash;
  hash.update(header.substr(0, digits));
  hash.update(kUnsetChecksum);
  hash.update(header.substr(digits + stated.size()));
  hash.update(data);
  return hash.hex() == stated;
}

}  // namespace

std::vector<double> Tensor::to_doubles() const {
  std::vector<double> values(count());
  convert_to_doubles(dtype, bytes, false, values);
  return values;
}

void Tensor::require_dtype(DType expected) const {
  if (dtype == expected) return;
  throw IoError({.what = fmt::format("tensor '{}' has another element type", name),
                 .got = std::string(dtype_name(dtype)),
                 .expected = std::string(dtype_name(expected))});
}

const Tensor* TensorFile::find(std::string_view name) const {
  const auto it = std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == name; });
  return it == tensors.end() ? nullptr : &*it;
}

const Tensor& TensorFile::at(std::string_view name) const {
  if (const Tensor* tensor = find(name)) return *tensor;
  std::vector<std::string> names;
  for (const Tensor& t : tensors) names.push_back(t.name);
  const std::string near = nearest_name(name, names);
  throw IoError(
      {.what = "no tensor of this name",
       .where = source,
       .got = std::string(name),
       .hint = near.empty() ? fmt::format("the file holds {} tensors", names.size()) : "did you mean " + near + "?"});
}

TensorFile parse_safetensors(ByteSpan bytes, std::string_view name, const ReadLimits& limits) {
  ByteReader reader(bytes, name);
  const auto length = reader.number<std::uint64_t>("the header length");
  if (length > limits.header_bytes || length > reader.remaining()) {
    throw_damaged(name, "impossible header length", fmt::format("{} bytes", length),
                  fmt::format("at most {} bytes", std::min(limits.header_bytes, reader.remaining())));
  }
  const std::string_view header = as_text(reader.take(length, "the header"));
  if (header.empty() || header[0] != '{') throw_damaged(name, "the header is no JSON object");
  HeaderHandler handler;
  const bool parsed = SaxJson::sax_parse(header.begin(), header.end(), &handler);
  if (!parsed) throw_damaged(name, handler.error.empty() ? "the header is no JSON" : handler.error);

  TensorFile file;
  file.source = name;
  file.metadata = std::move(handler.metadata);
  std::stable_sort(handler.entries.begin(), handler.entries.end(),
                   [](const Entry& a, const Entry& b) { return a.offsets < b.offsets; });
  const ByteSpan data = bytes.subspan(reader.position());
  if (const auto it = file.metadata.find(kChecksumKey); it != file.metadata.end()) {
    if (!checksum_fits(header, data, it->second)) throw_damaged(name, "the checksum does not fit the content");
    file.metadata.erase(it);
    file.verified = true;
  }
  std::uint64_t end = 0;
  for (Entry& entry : handler.entries) file.tensors.push_back(cut_tensor(entry, data, end, name));
  if (end != data.size()) {
    throw_damaged(name, "bytes that belong to no tensor", fmt::format("{} bytes of data", data.size()),
                  fmt::format("{} bytes", end));
  }
  return file;
}

TensorFile read_safetensors(const std::filesystem::path& path, const ReadLimits& limits) {
  return parse_safetensors(read_file(path, limits.file_bytes), path.string(), limits);
}

std::string safetensors_header(std::span<const TensorView> tensors, const TensorMetadata& metadata) {
  std::string json = "{";
  try {
    if (!metadata.empty()) json += fmt::format("\"{}\":{}", kMetadataName, SaxJson(metadata).dump());
    std::uint64_t offset = 0;
    std::unordered_set<std::string> names;
    for (const TensorView& t : tensors) {
      check_tensor_view(t);
      LOCUS_CHECK(t.name != kMetadataName && names.insert(t.name).second, "tensor names must differ: " + t.name);
      std::string shape;
      for (const std::int64_t d : t.shape) shape += (shape.empty() ? "" : ",") + std::to_string(d);
      json += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", json.size() > 1 ? "," : "",
                          SaxJson(t.name).dump(), dtype_name(t.dtype), shape, offset, offset + t.bytes.size());
      offset += t.bytes.size();
    }
  } catch (const SaxJson::exception&) {
    throw IoError({.what = "a tensor name or metadata value is not UTF-8 text"});
  }
  json += "}";
  json.append((8 - json.size() % 8) % 8, ' ');
  const auto length = std::bit_cast<std::array<char, 8>>(static_cast<std::uint64_t>(json.size()));
  return std::string(length.data(), length.size()) + json;
}

std::string write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                              const TensorMetadata& metadata) {
  TensorMetadata with_checksum = metadata;
  with_checksum[kChecksumKey] = kUnsetChecksum;
  std::string header = safetensors_header(tensors, with_checksum);
  Sha256 hash;
  hash.update(std::string_view(header).substr(8));
  for (const TensorView& t : tensors) hash.update(t.bytes);
  std::string checksum = hash.hex();
  const std::string key = fmt::format("\"{}\":\"", kChecksumKey);
  header.replace(header.find(key + kUnsetChecksum) + key.size(), checksum.size(), checksum);
  std::vector<ByteSpan> parts = {bytes_of(header)};
  for (const TensorView& t : tensors) parts.push_back(t.bytes);
  write_file_atomic(path, parts);
  return checksum;
}

}  // namespace locus
