// The wire format of protocol buffers, as far as small messages need it: a writer of fields, and a reader that walks them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io/bytes.h"

namespace locus {

// Fields in the order they are added; numbers of fields are 1 .. 2^29 - 1.
class ProtoMessage {
 public:
  ProtoMessage& integer(int field, std::int64_t value);   // int32, int64
  ProtoMessage& number(int field, double value);          // double
  ProtoMessage& number(int field, float value);           // float
  ProtoMessage& text(int field, std::string_view value);  // string, bytes
  ProtoMessage& message(int field, const ProtoMessage& value) { return text(field, value.bytes_); }
  ProtoMessage& numbers(int field, std::span<const double> values);  // repeated double, packed

  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value);
  void key(int field, int wire_type);
  std::string bytes_;
};

// The last value of an integer field on the message's own level; none when it is not there. IoError for what is no message.
std::optional<std::int64_t> proto_integer(ByteSpan message, int field, std::string_view name);

}  // namespace locus
