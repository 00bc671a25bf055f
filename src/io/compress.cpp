#include "io/compress.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "core/error.h"
#include "core/text.h"

namespace locus {
namespace {

constexpr std::size_t kStep = std::size_t{1} << 20;

int window_bits(DeflateFormat format) {
  switch (format) {
    case DeflateFormat::kRaw:
      return -MAX_WBITS;
    case DeflateFormat::kZlib:
      return MAX_WBITS;
    case DeflateFormat::kGzip:
      return MAX_WBITS + 16;
  }
  return MAX_WBITS;
}

struct Inflater {
  z_stream stream{};
  explicit Inflater(DeflateFormat format) {
    LOCUS_CHECK(inflateInit2(&stream, window_bits(format)) == Z_OK, "zlib cannot start");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

uInt chunk(std::size_t n) { return static_cast<uInt>(std::min<std::size_t>(n, std::numeric_limits<uInt>::max() / 2)); }

// A gzip file may be several members one after the other: go on while another begins.
bool next_member(Inflater& inflater, ByteSpan compressed, std::size_t used, DeflateFormat format) {
  const bool more = format == DeflateFormat::kGzip && compressed.size() - used >= 2 && compressed[used] == std::byte{0x1f} &&
                    compressed[used + 1] == std::byte{0x8b};
  return more && inflateReset(&inflater.stream) == Z_OK;
}

enum class End { kComplete, kTooLong, kTooShort };

// Gives the sink at most `max_bytes`.
End run_inflate(ByteSpan compressed, DeflateFormat format, std::uint64_t max_bytes, std::string_view name,
                const PieceSink& sink) {
  Inflater inflater(format);
  z_stream& z = inflater.stream;
  Bytes piece(std::min<std::uint64_t>(max_bytes, kStep));
  std::size_t used = 0;
  std::uint64_t given = 0;
  while (given < max_bytes) {
    const uInt in = chunk(compressed.size() - used);
    const uInt out = chunk(std::min<std::uint64_t>(piece.size(), max_bytes - given));
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(compressed.data() + used));
    z.avail_in = in;
    z.next_out = reinterpret_cast<Bytef*>(piece.data());
    z.avail_out = out;
    const int code = inflate(&z, Z_NO_FLUSH);
    used += in - z.avail_in;
    if (const uInt made = out - z.avail_out; made > 0) {
      sink(ByteSpan(piece).first(made));
      given += made;
    }
    if (code == Z_STREAM_END) {
      if (next_member(inflater, compressed, used, format)) continue;
      return End::kComplete;
    }
    if (code == Z_BUF_ERROR || (code == Z_OK && in == z.avail_in && out == z.avail_out)) return End::kTooShort;
    if (code != Z_OK) {
      throw IoError({.what = "the compressed data are damaged",
                     .where = std::string(name),
                     .got = z.msg != nullptr ? z.msg : "zlib error " + std::to_string(code),
                     .hint = "copy or make the file again"});
    }
  }
  return End::kTooLong;
}

}  // namespace

void inflate_pieces(ByteSpan compressed, DeflateFormat format, std::uint64_t max_bytes, std::string_view name,
                    const PieceSink& sink) {
  std::uint64_t given = 0;
  // One byte above the bound shows whether the stream goes on.
  const End end = run_inflate(compressed, format, max_bytes + 1, name, [&](ByteSpan piece) {
    given += piece.size();
    if (given <= max_bytes) sink(piece);
  });
  if (given > max_bytes || end == End::kTooLong) {
    throw IoError({.what = "the compressed data expand to more than allowed",
                   .where = std::string(name),
                   .expected = "at most " + human_bytes(static_cast<double>(max_bytes)),
                   .hint = "the file is damaged, or made to fill the memory"});
  }
  if (end == End::kTooShort) {
    throw IoError({.what = "the compressed data end too early",
                   .where = std::string(name),
                   .hint = "the file is truncated: copy or make it again"});
  }
}

Bytes inflate_all(ByteSpan compressed, DeflateFormat format, std::uint64_t max_bytes, std::string_view name) {
  Bytes whole;
  inflate_pieces(compressed, format, max_bytes, name, [&](ByteSpan piece) { append(whole, piece); });
  return whole;
}

Bytes inflate_prefix(ByteSpan compressed, DeflateFormat format, std::uint64_t max_bytes, std::string_view name) {
  Bytes front;
  run_inflate(compressed, format, max_bytes, name, [&](ByteSpan piece) { append(front, piece); });
  return front;
}

Bytes deflate_all(ByteSpan bytes, DeflateFormat format) {
  z_stream z{};
  LOCUS_CHECK(deflateInit2(&z, 6, Z_DEFLATED, window_bits(format), 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib cannot start");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&z, deflateEnd);
  Bytes out(deflateBound(&z, bytes.size()) + 32);
  std::size_t used = 0;
  std::size_t filled = 0;
  int code = Z_OK;
  while (code != Z_STREAM_END) {
    const uInt in = chunk(bytes.size() - used);
    const uInt room = chunk(out.size() - filled);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data() + used));
    z.avail_in = in;
    z.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
    z.avail_out = room;
    code = deflate(&z, used + in == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    used += in - z.avail_in;
    filled += room - z.avail_out;
    LOCUS_CHECK(code == Z_OK || code == Z_STREAM_END, "zlib cannot deflate");
  }
  out.resize(filled);
  return out;
}

std::uint32_t crc32_of(ByteSpan bytes, std::uint32_t before) {
  uLong crc = before;
  while (!bytes.empty()) {
    const uInt n = chunk(bytes.size());
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), n);
    bytes = bytes.subspan(n);
  }
  return static_cast<std::uint32_t>(crc);
}

}  // namespace locus
