// IDX and PNG: files that other programs wrote, and what is refused.
#include "fuzz/targets.h"
#include "io/array.h"
#include "io/compress.h"
#include "io/file.h"
#include "io/idx.h"
#include "io/png.h"
#include "tests/io/support.h"
#include "tests/support/png_files.h"

namespace locus {
namespace {

using io_test::error_text;
using Shape = std::vector<std::int64_t>;
namespace fs = std::filesystem;

const fs::path kCorpus = fs::path(locus::test::source_dir()) / "fuzz/corpus";

NdArray corpus_png(const std::string& name) { return read_png(kCorpus / "png" / name); }

TEST(IdxTest, mnists_digits_are_read_as_they_were_published) {
  LOCUS_NEEDS_SHARED_DATA();
  const fs::path folder = io_test::shared_data() / "images";
  EXPECT_EQ(detect_format(folder / "t10k-images-idx3-ubyte.gz"), FileFormat::kIdx);
  const NdArray images = read_array(folder / "t10k-images-idx3-ubyte.gz");
  const NdArray labels = read_array(folder / "t10k-labels-idx1-ubyte.gz");
  EXPECT_EQ(images.shape, (Shape{10000, 28, 28}));
  ASSERT_EQ(labels.shape, (Shape{10000}));
  // The first labels of MNIST's test set, and how often each digit is in it.
  const std::vector<double> first(labels.values.begin(), labels.values.begin() + 10);
  EXPECT_EQ(first, (std::vector<double>{7, 2, 1, 0, 4, 1, 4, 9, 5, 9}));
  std::vector<int> count(10);
  for (const double v : labels.values) ++count[static_cast<std::size_t>(v)];
  EXPECT_EQ(count, (std::vector<int>{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}));
  EXPECT_EQ(*std::max_element(images.values.begin(), images.values.end()), 255);
}

TEST(IdxTest, numbers_are_big_endian_and_gzip_changes_nothing) {
  EXPECT_EQ(read_idx(kCorpus / "idx/shorts").values, (std::vector<double>{1, -2}));
  EXPECT_EQ(read_idx(kCorpus / "idx/doubles").shape, (Shape{1, 2}));
  const NdArray plain = read_idx(kCorpus / "idx/bytes");
  EXPECT_EQ(plain.shape, (Shape{2, 2, 2}));
  EXPECT_EQ(plain.values, (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}));
  const Bytes packed = deflate_all(read_file(kCorpus / "idx/bytes"), DeflateFormat::kGzip);
  EXPECT_EQ(parse_idx(packed, "x").values, plain.values);
}

TEST(IdxTest, wrong_sizes_and_types_are_told) {
  EXPECT_NE(error_text([] { read_idx(kCorpus / "idx/cut"); }).find("size does not fit its axes"), std::string::npos);
  EXPECT_NE(error_text([] { read_idx(kCorpus / "idx/too_long"); }).find("3 bytes of numbers"), std::string::npos);
  EXPECT_NE(error_text([] { read_idx(kCorpus / "idx/huge"); }).find("too large"), std::string::npos);
  EXPECT_NE(error_text([] { read_idx(kCorpus / "idx/type"); }).find("no IDX file"), std::string::npos);
}

TEST(PngTest, every_kind_of_pixel_is_read) {
  EXPECT_EQ(detect_format(kCorpus / "png/grey"), FileFormat::kPng);
  const NdArray grey = corpus_png("grey");
  EXPECT_EQ(grey.shape, (Shape{2, 2}));
  EXPECT_EQ(grey.values, (std::vector<double>{1, 255, 2, 3}));
  EXPECT_EQ(corpus_png("grey16").values, (std::vector<double>{256, 65535}));
  EXPECT_EQ(corpus_png("bits").values, (std::vector<double>{255, 0, 255}));
  const NdArray colour = corpus_png("colour");
  EXPECT_EQ(colour.shape, (Shape{2, 1, 3}));
  EXPECT_EQ(colour.values, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(corpus_png("palette").values, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(corpus_png("opaque").values, (std::vector<double>{1, 2, 3}));
}

// A picture of the corpus with a chunk more, right behind its header.
Bytes with_chunk(const std::string& name, const std::string& type, const std::string& data) {
  constexpr std::ptrdiff_t kHeaderEnd = 33;
  const std::string chunk = png_files::chunk(type, data);
  Bytes file = read_file(kCorpus / "png" / name);
  const ByteSpan more = bytes_of(chunk);
  file.insert(file.begin() + kHeaderEnd, more.begin(), more.end());
  return file;
}

TEST(PngTest, gamma_and_colour_spaces_change_no_number) {
  const std::string linear("\x00\x01\x86\xa0", 4), screen("\x00\x00\xb1\x8f", 4), mac("\x00\x00\xd6\xd8", 4);
  for (const char* name : {"grey", "grey16", "colour", "palette", "bits", "opaque"}) {
    const std::vector<double> plain = corpus_png(name).values;
    for (const std::string& gamma : {linear, screen, mac})
      EXPECT_EQ(parse_png(with_chunk(name, "gAMA", gamma), name).values, plain) << name;
    EXPECT_EQ(parse_png(with_chunk(name, "sRGB", std::string(1, '\0')), name).values, plain) << name;
    EXPECT_EQ(parse_png(with_chunk(name, "tIME", "\x07\xe8\x01\x01\x01\x01\x01"), name).values, plain) << name;
  }
}

TEST(PngTest, what_cannot_be_numbers_is_refused) {
  EXPECT_NE(error_text([] { corpus_png("transparent"); }).find("row 1, column 1"), std::string::npos);
  EXPECT_FALSE(error_text([] { corpus_png("huge"); }).empty());
  EXPECT_FALSE(error_text([] { corpus_png("short_data"); }).empty());
  EXPECT_FALSE(error_text([] { corpus_png("cut"); }).empty());
  EXPECT_NE(error_text([] { parse_png(bytes_of("hello, hello"), "x"); }).find("no PNG"), std::string::npos);
}

TEST(PngTest, a_large_picture_of_nothing_does_not_fill_the_memory) {
  ReadLimits small;
  small.array_bytes = 16;
  EXPECT_NE(error_text([&] { read_png(kCorpus / "png/grey", small); }).find("too large"), std::string::npos);
}

}  // namespace
}  // namespace locus
