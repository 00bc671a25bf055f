// Files below 1 MB that ask for far more than they are: compressed zeros, lies about sizes, shared and nested content.
#pragma once

#include <zlib.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "io/compress.h"
#include "tests/support/foreign_files.h"
#include "tests/support/png_files.h"

namespace locus::bombs {

namespace fs = std::filesystem;

inline constexpr std::uint64_t kMega = std::uint64_t{1} << 20;

// `front` and then zeros up to `total` bytes as a deflate stream that expands about 1000-fold, made by repeating one block.
class ZeroStream {
 public:
  ZeroStream(const std::string& front, std::uint64_t total) : total_(total) {
    const std::string block(kBlock, '\0');
    std::string first = front + std::string((total - front.size()) % kBlock, '\0');
    const std::uint64_t blocks = (total - first.size()) / kBlock;
    raw_ = flushed(first);
    const std::string packed = flushed(block);
    for (std::uint64_t i = 0; i < blocks; ++i) raw_ += packed;
    raw_ += std::string("\x03\x00", 2);  // an empty last block
    crc_ = ::crc32(0, bytes(first), static_cast<uInt>(first.size()));
    adler_ = ::adler32(1, bytes(first), static_cast<uInt>(first.size()));
    const uLong crc = ::crc32(0, bytes(block), kBlock), adler = ::adler32(1, bytes(block), kBlock);
    for (std::uint64_t i = 0; i < blocks; ++i) {
      crc_ = ::crc32_combine(crc_, crc, kBlock);
      adler_ = ::adler32_combine(adler_, adler, kBlock);
    }
  }
  const std::string& raw() const { return raw_; }
  std::uint32_t crc() const { return static_cast<std::uint32_t>(crc_); }
  std::string zlib() const {
    std::string out = "\x78\x9c" + raw_;
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(adler_ >> shift & 255);
    return out;
  }
  std::string gzip() const {
    std::string out = std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + raw_;
    foreign::put(out, crc());
    foreign::put(out, static_cast<std::uint32_t>(total_));
    return out;
  }

 private:
  static constexpr uInt kBlock = 4 * kMega;
  static const Bytef* bytes(const std::string& s) { return reinterpret_cast<const Bytef*>(s.data()); }
  static std::string flushed(const std::string& text) {
    z_stream z{};
    deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&z, text.size()) + 64, '\0');
    z.next_in = const_cast<Bytef*>(bytes(text));
    z.avail_in = static_cast<uInt>(text.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    deflate(&z, Z_FULL_FLUSH);
    out.resize(out.size() - z.avail_out);
    deflateEnd(&z);
    return out;
  }

  std::uint64_t total_;
  std::string raw_;
  uLong crc_ = 0, adler_ = 0;
};

inline std::string npy_front(const std::string& type, const std::string& shape, bool fortran = false) {
  std::string dict =
      "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
  dict.append(63 - (10 + dict.size()) % 64, ' ');
  dict += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  foreign::put<std::uint16_t>(out, static_cast<std::uint16_t>(dict.size()));
  return out + dict;
}

// A zip of one deflated entry that `names` all point at.
inline std::string zip_of(const ZeroStream& stream, std::uint64_t size, const std::vector<std::string>& names) {
  const auto common = [&](std::string& out, std::size_t name_size) {
    for (const std::uint16_t v : {20, 0, 8, 0, 33}) foreign::put(out, v);
    foreign::put(out, stream.crc());
    foreign::put(out, static_cast<std::uint32_t>(stream.raw().size()));
    foreign::put(out, static_cast<std::uint32_t>(size));
    foreign::put(out, static_cast<std::uint16_t>(name_size));
    foreign::put<std::uint16_t>(out, 0);
  };
  std::string out = "PK\x03\x04";
  common(out, names[0].size());
  out += names[0] + stream.raw();
  const auto start = static_cast<std::uint32_t>(out.size());
  for (const std::string& name : names) {
    out += std::string("PK\x01\x02\x14\x00", 6);
    common(out, name.size());
    out += std::string(14, '\0') + name;  // comment, disk, attributes, offset 0
  }
  const auto length = static_cast<std::uint32_t>(out.size()) - start;
  out += std::string("PK\x05\x06\0\0\0\0", 8);
  foreign::put(out, static_cast<std::uint16_t>(names.size()));
  foreign::put(out, static_cast<std::uint16_t>(names.size()));
  foreign::put(out, length);
  foreign::put(out, start);
  foreign::put<std::uint16_t>(out, 0);
  return out;
}

inline std::string npz(const std::string& type, const std::string& shape, std::uint64_t values, bool fortran = false) {
  const std::string front = npy_front(type, shape, fortran);
  const std::uint64_t size = front.size() + values;
  return zip_of(ZeroStream(front, size), size, {"x.npy"});
}

// A compressed variable of MATLAB v5: `bytes` zeros of an element type (2: bytes, 9: doubles).
inline std::string mat(std::uint32_t kind, std::uint32_t element, std::int32_t rows, std::int32_t cols,
                       std::uint64_t bytes) {
  std::string front = foreign::mat_array(kind, rows, cols, "x", "");
  foreign::put(front, element);
  foreign::put(front, static_cast<std::uint32_t>(bytes));
  const auto size = static_cast<std::uint32_t>(front.size() - 8 + bytes);
  std::memcpy(front.data() + 4, &size, sizeof size);
  const std::string packed = ZeroStream(front, front.size() + bytes).zlib();
  std::string body;
  foreign::put<std::uint32_t>(body, 15);
  foreign::put(body, static_cast<std::uint32_t>(packed.size()));
  return foreign::mat_file(body + packed);
}

struct Hdf5Plan {
  std::vector<hsize_t> shape, chunk;
  int deflates = 1;
  std::uint64_t bytes = 0;  // that the first chunk's stream gives; 0: nothing is written
};

inline void hdf5(const fs::path& path, const Hdf5Plan& plan) {
  const foreign::Held file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  const foreign::Held properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const int rank = static_cast<int>(plan.shape.size());
  H5Pset_chunk(properties, rank, plan.chunk.data());
  for (int i = 0; i < plan.deflates; ++i) H5Pset_deflate(properties, 9);
  const std::vector<hsize_t> most(plan.shape.size(), H5S_UNLIMITED);
  const foreign::Held space(H5Screate_simple(rank, plan.shape.data(), most.data()), H5Sclose);
  const foreign::Held set(H5Dcreate2(file, "x", H5T_STD_U8LE, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose);
  if (plan.bytes == 0) return;
  const std::string packed = ZeroStream("", plan.bytes).zlib();
  std::vector<hsize_t> offset(plan.shape.size(), 0);
  while (true) {
    H5Dwrite_chunk(set, H5P_DEFAULT, 0, offset.data(), packed.size(), packed.data());
    std::size_t axis = offset.size();
    while (axis > 0 && (offset[axis - 1] += plan.chunk[axis - 1]) >= plan.shape[axis - 1]) offset[--axis] = 0;
    if (axis == 0) return;
  }
}

inline std::string cifti_zeros(std::int64_t columns, std::int64_t rows) {
  const std::string map = "\" SeriesStart=\"0\" SeriesStep=\"1\" SeriesUnit=\"SECOND\"/>";
  const auto series = [&](const char* dimension, std::int64_t n) {
    return std::string("<MatrixIndicesMap AppliesToMatrixDimension=\"") + dimension +
           "\" IndicesMapToDataType=\"CIFTI_INDEX_TYPE_SERIES\" NumberOfSeriesPoints=\"" + std::to_string(n) + map;
  };
  const std::string front = foreign::cifti_bytes(
      "<CIFTI Version=\"2\"><Matrix>" + series("0", columns) + series("1", rows) + "</Matrix></CIFTI>", columns, rows, 2);
  return ZeroStream(front, front.size() + static_cast<std::uint64_t>(columns * rows)).gzip();
}

// An XML description of many megabytes of empty tags.
inline std::string cifti_tags(std::uint64_t bytes) {
  std::string xml = "<CIFTI Version=\"2\"><Matrix>";
  while (xml.size() < bytes) xml += "<a/><a/><a/><a/><a/><a/><a/><a/>";
  xml += "</Matrix></CIFTI>";
  const std::string whole = foreign::cifti_bytes(xml, 1, 1, 2) + '\0';
  return std::string(as_text(deflate_all(bytes_of(whole), DeflateFormat::kGzip)));
}

// Bytes of zeros in the format of MNIST, gzipped.
inline std::string idx(const std::vector<std::uint32_t>& shape) {
  std::string front("\0\0\x08", 3);
  front += static_cast<char>(shape.size());
  std::uint64_t bytes = 1;
  for (const std::uint32_t n : shape) {
    front += png_files::number(n);
    bytes *= n;
  }
  return ZeroStream(front, front.size() + bytes).gzip();
}

// A black picture; its pixels, or a text beside them, unpack to `bytes`.
inline std::string png(std::uint64_t width, std::uint64_t height, const char* type, const std::string& front,
                       std::uint64_t bytes) {
  return png_files::grey_front(width, height, 8) + png_files::chunk(type, front + ZeroStream("", bytes).zlib()) +
         png_files::chunk("IEND", "");
}

inline std::string repeated(const std::string& part, std::uint64_t bytes) {
  std::string out;
  while (out.size() + part.size() <= bytes) out += part;
  return out;
}

// rows x columns of one digit.
inline std::string digits(std::uint64_t rows, std::uint64_t columns) {
  std::string out;
  for (std::uint64_t r = 0; r < rows; ++r) {
    for (std::uint64_t c = 0; c < columns; ++c) {
      out += static_cast<char>('0' + (r * r * 7 + c * c + r * c) % 10);
      out += c + 1 < columns ? ',' : '\n';
    }
  }
  return out;
}

struct Bomb {
  std::string file;
  std::function<void(const fs::path&)> write;
};

inline Bomb text(const std::string& file, const std::function<std::string()>& content) {
  return {file, [content](const fs::path& path) { write_file_atomic(path, content()); }};
}

// Above the limits and just below them, for every format that is read.
inline std::vector<Bomb> corpus() {
  return {
      text("bytes.npz", [] { return npz("|u1", "(30000, 30000)", 900'000'000); }),
      text("middle.npz", [] { return npz("|u1", "(20000, 10000)", 200'000'000); }),
      text("bytes_below.npz", [] { return npz("|u1", "(33000, 1000)", 33'000'000); }),
      text("doubles_below.npz", [] { return npz("<f8", "(33000, 1000)", 264'000'000); }),
      text("fortran_below.npz", [] { return npz("<f8", "(33000, 1000)", 264'000'000, true); }),
      text("square_below.npz", [] { return npz("|u1", "(5700, 5700)", 32'490'000); }),
      text("shared.npz",
           [] {
             const std::string front = npy_front("|u1", "(30000, 1000)");
             std::vector<std::string> names;
             for (int i = 0; i < 10000; ++i) names.push_back("a" + std::to_string(i) + ".npy");
             return zip_of(ZeroStream(front, front.size() + 30'000'000), front.size() + 30'000'000, names);
           }),
      text("names.npz", [] { return npz("<U4096", "(50000,)", 819'200'000); }),
      text("lie.npy", [] { return npy_front("|u1", "(900000000000,)") + std::string(100, '\0'); }),
      text("empty_axis.npy", [] { return npy_front("|u1", "(4000000000000, 0)"); }),
      text("header.npy", [] { return std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12) + std::string(900000, ' '); }),
      text("bytes.mat", [] { return mat(9, 2, 30000, 30000, 900'000'000); }),
      text("middle.mat", [] { return mat(9, 2, 20000, 10000, 200'000'000); }),
      text("bytes_below.mat", [] { return mat(9, 2, 33000, 1000, 33'000'000); }),
      text("doubles_below.mat", [] { return mat(6, 9, 33000, 1000, 264'000'000); }),
      text("sparse.mat", [] { return mat(5, 5, 30000, 30000, 100'000'000); }),
      text("variables.mat",
           [] {
             const std::string one = mat(9, 2, 1000, 1000, 1'000'000).substr(128);
             return foreign::mat_file(repeated(one, 900'000));
           }),
      {"bytes.h5",
       [](const fs::path& p) {
         hdf5(p, {{30000, 30000}, {30000, 30000}, 1, 900'000'000});
       }},
      {"middle.h5",
       [](const fs::path& p) {
         hdf5(p, {{40000, 12000}, {4000, 12000}, 1, 48'000'000});
       }},
      {"bytes_chunks.h5",
       [](const fs::path& p) {
         hdf5(p, {{30000, 30000}, {3000, 30000}, 1, 90'000'000});
       }},
      {"bytes_below.h5",
       [](const fs::path& p) {
         hdf5(p, {{33000, 1000}, {3300, 1000}, 1, 3'300'000});
       }},
      {"bytes_below.v73.mat",
       [](const fs::path& p) {
         hdf5(p, {{1000, 33000}, {100, 33000}, 1, 3'300'000});
       }},
      {"chunk_lies.h5",
       [](const fs::path& p) {
         hdf5(p, {{1000, 1000}, {1000, 1000}, 1, 900'000'000});
       }},
      {"chunks_lie.h5",
       [](const fs::path& p) {
         hdf5(p, {{1000, 160}, {10, 160}, 1, 8'000'000});
       }},
      {"chunk_larger_than_data.h5",
       [](const fs::path& p) {
         hdf5(p, {{100, 100}, {30000, 30000}, 1, 900'000'000});
       }},
      {"packed_twice.h5",
       [](const fs::path& p) {
         hdf5(p, {{5000, 5000}, {5000, 5000}, 2, 25'000'000});
       }},
      {"unwritten.h5",
       [](const fs::path& p) {
         hdf5(p, {{1 << 30, 1 << 20}, {1024, 1024}, 1, 0});
       }},
      {"unwritten_below.h5",
       [](const fs::path& p) {
         hdf5(p, {{33000, 1000}, {1000, 1000}, 1, 0});
       }},
      {"many_chunks.h5",
       [](const fs::path& p) {
         hdf5(p, {{6000}, {1}, 1, 1});
       }},
      text("zeros.ptseries.nii.gz", [] { return cifti_zeros(30000, 30000); }),
      text("middle.ptseries.nii.gz", [] { return cifti_zeros(20000, 10000); }),
      text("zeros_below.ptseries.nii.gz", [] { return cifti_zeros(33000, 1000); }),
      text("tags.ptseries.nii.gz", [] { return cifti_tags(100 * kMega); }),
      text("tags_below.ptseries.nii.gz", [] { return cifti_tags(8 * kMega); }),
      text("volume.nii.gz",
           [] {
             std::string front = foreign::cifti_bytes("", 30000, 30000, 2);
             front[540] = 0;  // no extension
             return ZeroStream(front, front.size() + 900'000'000).gzip();
           }),
      text("zeros.idx.gz",
           [] {
             return idx({30000, 30000});
           }),
      text("middle.idx.gz",
           [] {
             return idx({200, 1000, 1000});
           }),
      text("zeros_below.idx.gz",
           [] {
             return idx({33000, 1000});
           }),
      text("pictures_below.idx.gz",
           [] {
             return idx({33000, 10, 100});
           }),
      text("lie.idx", [] { return std::string("\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16); }),
      text("axes.idx", [] { return std::string("\0\0\x08\xff", 4) + std::string(900'000, '\0'); }),
      text("black.png", [] { return png(30000, 30000, "IDAT", "", 30001ULL * 30000); }),
      text("middle.png", [] { return png(20000, 5000, "IDAT", "", 20001ULL * 5000); }),
      text("black_below.png", [] { return png(4400, 4400, "IDAT", "", 4401ULL * 4400); }),
      text("pixels_lie.png", [] { return png(10, 10, "IDAT", "", 900'000'000); }),
      text("text.png", [] { return png(10, 10, "zTXt", std::string("x\0\0", 3), 900'000'000); }),
      text("profile.png", [] { return png(10, 10, "iCCP", std::string("x\0\0", 3), 900'000'000); }),
      text("chunks.png", [] { return png_files::grey_front(10, 10, 8) + repeated(png_files::chunk("abCd", ""), 900'000); }),
      text("commas.csv", [] { return repeated(",", 999'000); }),
      text("comma_rows.csv", [] { return repeated(",\n", 999'000); }),
      text("ones.csv", [] { return repeated("1\n", 999'000); }),
      text("wide.csv", [] { return digits(2, 240'000); }),
      text("wide20.csv", [] { return digits(20, 24'000); }),
      text("wide90.csv", [] { return digits(90, 5'000); }),
      text("quotes.csv", [] { return "\"" + repeated("\"\"", 990'000) + "\""; }),
      text("tensors.safetensors",
           [] {
             std::string header = "{";
             for (int i = 0; header.size() < 900'000; ++i)
               header +=
                   "\"t" + std::to_string(i) + "\":{\"dtype\":\"U8\",\"shape\":[0,1000000000000],\"data_offsets\":[0,0]},";
             header.back() = '}';
             std::string out;
             foreign::put(out, static_cast<std::uint64_t>(header.size()));
             return out + header;
           }),
      text("nested.safetensors",
           [] {
             const std::string header = "{\"x\":" + repeated("[", 900'000);
             std::string out;
             foreign::put(out, static_cast<std::uint64_t>(header.size()));
             return out + header;
           }),
      text("sizes.safetensors",
           [] {
             const std::string header =
                 "{\"x\":{\"dtype\":\"U8\",\"shape\":[" + repeated("1,", 900'000) + "1],\"data_offsets\":[0,1]}}";
             std::string out;
             foreign::put(out, static_cast<std::uint64_t>(header.size()));
             return out + header + "x";
           }),
  };
}

}  // namespace locus::bombs
