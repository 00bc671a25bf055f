#include "io/records.h"

#include <array>

#include "core/error.h"

namespace locus {
namespace {

// Castagnoli's polynomial, reflected.
constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0x82F63B78u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kTable = make_table();

template <class T>
void put(std::string& out, T value) {
  const auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
  out.append(raw.data(), raw.size());
}

void require_checksum(ByteSpan bytes, std::uint32_t stored, const ByteReader& file) {
  if (masked_crc32c(bytes) != stored) throw IoError({.what = "the checksum of a record does not fit", .where = file.name()});
}

}  // namespace

std::uint32_t crc32c_of(ByteSpan bytes) {
  std::uint32_t c = 0xFFFFFFFFu;
  for (const std::byte b : bytes) c = kTable[(c ^ static_cast<std::uint32_t>(b)) & 0xFF] ^ (c >> 8);
  return c ^ 0xFFFFFFFFu;
}

// Masked, because a checksum over bytes that hold checksums would mean little.
std::uint32_t masked_crc32c(ByteSpan bytes) {
  const std::uint32_t c = crc32c_of(bytes);
  return (c >> 15 | c << 17) + 0xA282EAD8u;
}

std::string record_of(std::string_view payload) {
  std::string out;
  put(out, static_cast<std::uint64_t>(payload.size()));
  put(out, masked_crc32c(bytes_of(out)));
  out += payload;
  put(out, masked_crc32c(bytes_of(payload)));
  return out;
}

std::optional<ByteSpan> next_record(ByteReader& file) {
  if (file.remaining() == 0) return std::nullopt;
  const ByteSpan length = file.take(sizeof(std::uint64_t), "the length of a record");
  require_checksum(length, file.number<std::uint32_t>("the checksum of a record's length"), file);
  const ByteSpan payload = file.take(load_number<std::uint64_t>(length.data()), "a record");
  require_checksum(payload, file.number<std::uint32_t>("the checksum of a record"), file);
  return payload;
}

}  // namespace locus
