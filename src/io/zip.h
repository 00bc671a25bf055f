// The part of the zip format that NPZ needs: stored and deflated entries, zip64 when reading, no encryption.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes.h"
#include "io/compress.h"
#include "io/limits.h"

namespace locus {

struct ZipEntry {
  std::string name;
  std::uint16_t method = 0;  // 0 stored, 8 deflated
  std::uint16_t flags = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // of the local header
};

// The central directory, in file order.
std::vector<ZipEntry> zip_entries(ByteSpan archive, std::string_view name);

// The entry's content in pieces; IoError when it is larger than `max_bytes`, damaged (CRC, known after the last piece) or
// packed by another method.
void zip_pieces(ByteSpan archive, const ZipEntry& entry, std::string_view name, std::uint64_t max_bytes,
                const PieceSink& sink);

// Its first bytes, at most `max_bytes`, not checked against the CRC.
Bytes zip_front(ByteSpan archive, const ZipEntry& entry, std::string_view name, std::uint64_t max_bytes);

struct ZipInput {
  std::string name;
  Bytes content;
};

// Times are fixed (1980-01-01), so the same input gives the same bytes. IoError above 4 GB.
Bytes zip_encode(std::span<const ZipInput> files, bool deflated);

}  // namespace locus
