#include "io/safetensors.h"

#include <array>
#include <cmath>

#include "core/rng.h"
#include "io/file.h"
#include "tests/io/support.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

using io_test::error_text;
using io_test::Scratch;

struct Sample {
  std::vector<float> floats = {1.5f, -2.0f, 0.1f, 3.0f, 4.0f, 5.0f};
  std::vector<double> doubles = {1e300, -0.25};
  std::vector<std::int64_t> longs = {INT64_MIN, 7};
  std::vector<std::int32_t> ints = {-5};
  std::vector<std::uint8_t> bytes = {1, 2, 255};
  std::array<bool, 2> flags = {true, false};
  std::vector<TensorView> views() const {
    return {tensor_view<float>("blocks.0.attn.weight", {2, 3}, floats),
            tensor_view<double>("d", {2}, doubles),
            tensor_view<std::int64_t>("l", {1, 2}, longs),
            tensor_view<std::int32_t>("scalar", {}, ints),
            tensor_view<std::uint8_t>("rng \"quoted\" ü", {3}, bytes),
            tensor_view<float>("empty", {0, 4}, std::span<const float>()),
            tensor_view<bool>("flags", {2}, flags)};
  }
};

TEST(SafetensorsTest, round_trip_keeps_order_types_shapes_and_bytes) {
  const Scratch scratch;
  const Sample sample;
  const TensorMetadata metadata = {{"format", "pt"}, {"step", "12"}};
  write_safetensors(scratch / "m.safetensors", sample.views(), metadata);
  const TensorFile file = read_safetensors(scratch / "m.safetensors");
  EXPECT_TRUE(file.verified);
  EXPECT_EQ(file.metadata, metadata);
  const auto views = sample.views();
  ASSERT_EQ(file.tensors.size(), views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Tensor& t = file.at(views[i].name);
    EXPECT_EQ(t.dtype, views[i].dtype);
    EXPECT_EQ(t.shape, views[i].shape);
    EXPECT_TRUE(std::equal(t.bytes.begin(), t.bytes.end(), views[i].bytes.begin(), views[i].bytes.end()));
  }
  EXPECT_EQ(file.tensors[0].name, "blocks.0.attn.weight");
  EXPECT_EQ(file.at("l").as<std::int64_t>()[0], INT64_MIN);
  EXPECT_THROW(file.at("l").as<float>(), IoError);
  EXPECT_NE(error_text([&] { file.at("blocks.0.attn.weigth"); }).find("did you mean blocks.0.attn.weight"),
            std::string::npos);
}

TEST(SafetensorsTest, the_same_content_gives_the_same_bytes_and_a_header_padded_to_8) {
  const Scratch scratch;
  const Sample sample;
  write_safetensors(scratch / "a", sample.views(), {{"k", "v"}});
  write_safetensors(scratch / "b", sample.views(), {{"k", "v"}});
  const Bytes a = read_file(scratch / "a");
  EXPECT_EQ(a, read_file(scratch / "b"));
  EXPECT_EQ(load_number<std::uint64_t>(a.data()) % 8, 0u);
}

TEST(SafetensorsTest, any_single_flipped_bit_is_found) {
  const Scratch scratch;
  const Sample sample;
  write_safetensors(scratch / "a", sample.views(), {{"step", "12"}});
  const Bytes good = read_file(scratch / "a");
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bad = good;
      bad[i] ^= std::byte{1} << bit;
      bool found = false;
      try {
        found = !parse_safetensors(bad, "bad").verified;  // the checksum's own key was hit
      } catch (const IoError&) {
        found = true;
      }
      ASSERT_TRUE(found) << "byte " << i << " bit " << bit;
    }
  }
}

TEST(SafetensorsTest, every_truncation_is_an_error) {
  const Scratch scratch;
  const Sample sample;
  write_safetensors(scratch / "a", sample.views());
  const Bytes good = read_file(scratch / "a");
  for (std::size_t n = 0; n < good.size(); ++n) {
    EXPECT_THROW(parse_safetensors(ByteSpan(good.data(), n), "cut"), IoError) << n;
  }
}

std::string raw_file(const std::string& header, std::size_t data_bytes) {
  const auto length = std::bit_cast<std::array<char, 8>>(static_cast<std::uint64_t>(header.size()));
  return std::string(length.data(), 8) + header + std::string(data_bytes, '\0');
}

TEST(SafetensorsTest, foreign_files_without_checksum_are_read) {
  const std::string text = raw_file(
      R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},"a":{"data_offsets":[0,4],"shape":[2,1],"dtype":"F16"}}  )",
      8);
  const TensorFile file = parse_safetensors(bytes_of(text), "foreign");
  EXPECT_FALSE(file.verified);
  ASSERT_EQ(file.tensors.size(), 2u);
  EXPECT_EQ(file.tensors[0].name, "a") << "in the order of the data";
  EXPECT_EQ(file.tensors[0].to_doubles(), (std::vector<double>{0, 0}));
}

TEST(SafetensorsTest, any_nonzero_byte_is_true) {
  std::string text = raw_file(R"({"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", 2);
  text.back() = '\x7f';
  const TensorFile file = parse_safetensors(bytes_of(text), "x");
  EXPECT_FALSE(file.at("a").as<bool>()[0]);
  EXPECT_TRUE(file.at("a").as<bool>()[1]);
  EXPECT_EQ(file.at("a").bytes[1], std::byte{1});
}

struct BadHeader {
  const char* name;
  const char* header;
  std::size_t data_bytes;
  const char* message;
};

TEST(SafetensorsTest, hostile_headers_get_a_clear_error) {
  const BadHeader cases[] = {
      {"no_json", "not json", 0, "no JSON"},
      {"array", "[1]", 0, "no JSON object"},
      {"open_brace", "{", 0, "no JSON"},
      {"trailing_garbage", "{} x", 0, "no JSON"},
      {"number_for_tensor", R"({"a":5})", 0, "unexpected number"},
      {"missing_field", R"({"a":{"dtype":"F32","shape":[1]}})", 4, "lacks"},
      {"unknown_field", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", 4, "unknown field"},
      {"unknown_dtype", R"({"a":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}})", 4, "element type"},
      {"duplicate",
       R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2,
       "twice"},
      {"negative", R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "negative"},
      {"fraction", R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4, "whole number"},
      {"overflow", R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})", 4, "impossible shape"},
      {"outside", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4, "outside"},
      {"reversed", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "outside"},
      {"hole", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "hole"},
      {"overlap",
       R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})", 6,
       "overlap"},
      {"tail", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 6, "no tensor"},
      {"wrong_size", R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,4]}})", 4, "do not fit"},
      {"three_offsets", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,2,4]}})", 4, "two numbers"},
      {"metadata_number", R"({"__metadata__":{"a":1}})", 0, "unexpected number"},
      {"wrong_checksum", R"({"__metadata__":{"locus.sha256":"00"}})", 0, "checksum"},
  };
  for (const BadHeader& c : cases) {
    const std::string text = raw_file(c.header, c.data_bytes);
    const std::string message = error_text([&] { parse_safetensors(bytes_of(text), "file.safetensors"); });
    EXPECT_NE(message.find(c.message), std::string::npos) << c.name << ": " << message;
    EXPECT_NE(message.find("file.safetensors"), std::string::npos) << c.name;
  }
  std::string huge = raw_file("{}", 0);
  huge[6] = '\x7f';
  EXPECT_NE(error_text([&] { parse_safetensors(bytes_of(huge), "x"); }).find("header length"), std::string::npos);
}

TEST(SafetensorsTest, a_foreign_reader_sees_the_same) {
  LOCUS_NEEDS_PYTHON("json");
  const Scratch scratch;
  const Sample sample;
  write_safetensors(scratch / "m.safetensors", sample.views(), {{"format", "pt"}});
  const auto output = io_test::run_command("/usr/bin/python3 " + locus::test::source_dir() +
                                           "/tests/io/read_safetensors.py " + (scratch / "m.safetensors").string());
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_NE(output.text.find("metadata {\"format\": \"pt\"}"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("blocks.0.attn.weight F32 [2, 3] [1.5, -2.0, 0.10000000149011612, 3.0, 4.0, 5.0]"),
            std::string::npos)
      << output.text;
  EXPECT_NE(output.text.find("scalar I32 [] [-5.0]"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("empty F32 [0, 4] []"), std::string::npos) << output.text;
}

}  // namespace
}  // namespace locus
