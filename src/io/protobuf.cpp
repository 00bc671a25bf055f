#include "io/protobuf.h"

#include "core/error.h"

namespace locus {
namespace {

constexpr int kVarint = 0;
constexpr int kFixed64 = 1;
constexpr int kLength = 2;
constexpr int kFixed32 = 5;
constexpr int kVarintBytes = 10;

std::uint64_t read_varint(ByteReader& in) {
  std::uint64_t value = 0;
  for (int i = 0; i < kVarintBytes; ++i) {
    const auto byte = in.number<std::uint8_t>("a number of a message");
    value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) return value;
  }
  throw IoError({.what = "a number in a message has no end", .where = in.name()});
}

template <class T>
void put_raw(std::string& out, T value) {
  const auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
  out.append(raw.data(), raw.size());
}

}  // namespace

void ProtoMessage::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
  bytes_ += static_cast<char>(value);
}

void ProtoMessage::key(int field, int wire_type) {
  varint(static_cast<std::uint64_t>(field) << 3 | static_cast<unsigned>(wire_type));
}

ProtoMessage& ProtoMessage::integer(int field, std::int64_t value) {
  key(field, kVarint);
  varint(static_cast<std::uint64_t>(value));
  return *this;
}

ProtoMessage& ProtoMessage::number(int field, double value) {
  key(field, kFixed64);
  put_raw(bytes_, value);
  return *this;
}

ProtoMessage& ProtoMessage::number(int field, float value) {
  key(field, kFixed32);
  put_raw(bytes_, value);
  return *this;
}

ProtoMessage& ProtoMessage::text(int field, std::string_view value) {
  key(field, kLength);
  varint(value.size());
  bytes_ += value;
  return *this;
}

ProtoMessage& ProtoMessage::numbers(int field, std::span<const double> values) {
  return text(field, as_text(std::as_bytes(values)));
}

std::optional<std::int64_t> proto_integer(ByteSpan message, int field, std::string_view name) {
  ByteReader in(message, name);
  std::optional<std::int64_t> found;
  while (in.remaining() > 0) {
    const std::uint64_t key = read_varint(in);
    switch (key & 7) {
      case kVarint: {
        const std::uint64_t value = read_varint(in);
        if (key >> 3 == static_cast<std::uint64_t>(field)) found = static_cast<std::int64_t>(value);
        break;
      }
      case kFixed64:
        in.take(sizeof(double), "a field of a message");
        break;
      case kLength:
        in.take(read_varint(in), "a field of a message");
        break;
      case kFixed32:
        in.take(sizeof(float), "a field of a message");
        break;
      default:
        throw IoError({.what = "a field of a message has an unknown kind", .where = in.name()});
    }
  }
  return found;
}

}  // namespace locus
