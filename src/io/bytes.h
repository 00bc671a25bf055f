// A bounds-checked cursor over the bytes of a file, with numbers of either byte order.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace locus {

static_assert(std::endian::native == std::endian::little, "readers and writers assume a little-endian host");

using Bytes = std::vector<std::byte>;
using ByteSpan = std::span<const std::byte>;

inline ByteSpan bytes_of(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }
inline std::string_view as_text(ByteSpan bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
// The character of this code; nothing for what is none.
void append_utf8(std::string& out, std::uint32_t code);
inline void append(Bytes& out, ByteSpan bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

template <class T>
T byte_swapped(T value) {
  if constexpr (sizeof(T) == 1) {
    return value;
  } else {
    auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(raw[i], raw[sizeof(T) - 1 - i]);
    return std::bit_cast<T>(raw);
  }
}

// Reads a T at p (any alignment); `swap` when the file's byte order is not the host's.
template <class T>
T load_number(const std::byte* p, bool swap = false) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, p, sizeof(T));
  return swap ? byte_swapped(value) : value;
}

template <class T>
void append_number(Bytes& out, T value) {
  const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  out.insert(out.end(), raw.begin(), raw.end());
}

// Every read past the end throws IoError that names the file and what was being read.
class ByteReader {
 public:
  ByteReader(ByteSpan bytes, std::string_view name, bool swap = false) : bytes_(bytes), name_(name), swap_(swap) {}

  std::uint64_t size() const { return bytes_.size(); }
  std::uint64_t position() const { return position_; }
  std::uint64_t remaining() const { return bytes_.size() - position_; }
  const std::string& name() const { return name_; }
  bool swap() const { return swap_; }
  void set_swap(bool swap) { swap_ = swap; }

  void seek(std::uint64_t position, std::string_view what);
  ByteSpan take(std::uint64_t count, std::string_view what);

  template <class T>
  T number(std::string_view what) {
    return load_number<T>(take(sizeof(T), what).data(), swap_);
  }

 private:
  ByteSpan bytes_;
  std::string name_;
  std::uint64_t position_ = 0;
  bool swap_ = false;
};

}  // namespace locus
