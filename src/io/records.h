// Records with checksums, one after another (the TFRecord format): length, masked CRC-32C of it, the bytes, masked CRC-32C
// of them. A reader sees where a file was cut or damaged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/bytes.h"

namespace locus {

std::uint32_t crc32c_of(ByteSpan bytes);
std::uint32_t masked_crc32c(ByteSpan bytes);  // as the format stores it

std::string record_of(std::string_view payload);

// The next record's bytes; none at the end. IoError for a record that is cut or whose checksum does not fit.
std::optional<ByteSpan> next_record(ByteReader& file);

}  // namespace locus
