#include "io/npy.h"

#include <array>

#include <zlib.h>

#include <cmath>

#include "core/error.h"
#include "core/rng.h"
#include "io/array.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "tests/io/support.h"

namespace locus {
namespace {

using io_test::error_text;
using io_test::Scratch;

std::string npy_text(const std::string& dict, const std::string& data, char major = 1) {
  const std::string header = dict + "\n";
  std::string text = std::string("\x93NUMPY") + major + '\0';
  const auto length = std::bit_cast<std::array<char, 4>>(static_cast<std::uint32_t>(header.size()));
  return text + std::string(length.data(), major == 1 ? 2 : 4) + header + data;
}

template <class T>
void expect_round_trip(std::vector<std::int64_t> shape, std::uint64_t seed) {
  Rng rng(seed, "npy");
  std::size_t count = 1;
  for (const auto d : shape) count *= static_cast<std::size_t>(d);
  std::vector<T> values(count);
  for (T& v : values) v = static_cast<T>(rng.next_u32() % 200);
  const NdArray array = parse_npy(encode_npy(tensor_view<T>("", shape, values)), "memory");
  EXPECT_EQ(array.shape, shape);
  EXPECT_EQ(array.values, std::vector<double>(values.begin(), values.end()));
}

TEST(NpyTest, limits_count_doubles_whatever_is_stored) {
  const std::vector<std::uint8_t> bytes(1000, 1);
  const io_test::Scratch scratch;
  MatrixOptions options;
  options.limits.array_bytes = 7999;
  write_npy(scratch / "x.npy", tensor_view<std::uint8_t>("x", {100, 10}, bytes));
  const std::vector<TensorView> arrays = {tensor_view<std::uint8_t>("x", {100, 10}, bytes)};
  write_npz(scratch / "x.npz", arrays, NpzCompression::kDeflate);
  write_safetensors(scratch / "x.safetensors", arrays);
  for (const char* file : {"x.npy", "x.npz", "x.safetensors"}) {
    EXPECT_NE(io_test::error_text([&] { read_matrix(scratch / file, options); }).find("too large"), std::string::npos)
        << file;
    EXPECT_EQ(read_matrix(scratch / file).values.rows(), 100) << file;
  }
}

TEST(NpyTest, round_trips_every_type_and_rank) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    expect_round_trip<double>({3, 4}, seed);
    expect_round_trip<float>({}, seed);
    expect_round_trip<std::int64_t>({7}, seed);
    expect_round_trip<std::int32_t>({2, 3, 4}, seed);
    expect_round_trip<std::int16_t>({0, 3}, seed);
    expect_round_trip<std::uint8_t>({1, 1, 1, 5}, seed);
    expect_round_trip<std::uint16_t>({2, 2}, seed);
    expect_round_trip<std::uint32_t>({2, 2}, seed);
    expect_round_trip<std::uint64_t>({2, 2}, seed);
    expect_round_trip<std::int8_t>({2, 2}, seed);
  }
}

TEST(NpyTest, data_begin_at_a_multiple_of_64) {
  for (std::int64_t n = 1; n < 2000000000; n *= 7) {
    const Bytes bytes = encode_npy(tensor_view<double>("", {0, n}, std::span<const double>()));
    EXPECT_EQ(bytes.size() % 64, 0u);
  }
}

TEST(NpyTest, reads_big_endian_fortran_order_and_later_versions) {
  const std::string big("\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\xff\xfe", 12);
  const std::string text = npy_text("{'shape': (2L, 3), 'descr': '>i2', 'fortran_order': True}", big, 2);
  const NdArray array = parse_npy(bytes_of(text), "x");
  EXPECT_EQ(array.values, (std::vector<double>{1, 3, 5, 2, 4, -2}));
  const std::string half =
      npy_text("{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }", std::string("\x00\x3c\x00\xc0\x01\x00", 6), 3);
  EXPECT_EQ(parse_npy(bytes_of(half), "x").values, (std::vector<double>{1, -2, std::ldexp(1.0, -24)}));
}

TEST(NpyTest, hostile_headers_get_a_clear_error) {
  const std::pair<std::string, const char*> cases[] = {
      {"nothing", "NPY"},
      {npy_text("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", "short"), "ends inside"},
      {npy_text("{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }", ""), "dimension"},
      {npy_text("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999), }", ""), "too large"},
      {npy_text("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }", ""), "dimension"},
      {npy_text("{'descr': '<f8', 'fortran_order': False, 'shape': (100000000,), }", ""), "ends inside"},
      {npy_text("{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", std::string(16, '\0')), "element type"},
      {npy_text("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", std::string(16, '\0')), "element type"},
      {npy_text("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", std::string(16, '\0')), "structured"},
      {npy_text("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,), }", std::string(16, '\0')), "fortran_order"},
      {npy_text("{'descr': '<f8', 'shape': (1,), }", std::string(16, '\0')), "missing"},
      {npy_text("{'descr': '<f8', 'descr': '<f8'}", std::string(16, '\0')), "unexpected key"},
      {npy_text("{'descr': '<f8", std::string(16, '\0')), "quote"},
      {npy_text("{", ""), "quoted"},
      {npy_text("{}", "", 9), "version"},
      {std::string("\x93NUMPY\x01\x00\xff\xff{}", 12), "ends inside"},
  };
  for (const auto& [text, message] : cases) {
    const std::string got = error_text([&, t = text] { parse_npy(bytes_of(t), "a.npy"); });
    EXPECT_NE(got.find(message), std::string::npos) << "expected '" << message << "' in: " << got;
  }
}

TEST(NpyTest, to_matrix_takes_ranks_up_to_two) {
  EXPECT_EQ(to_matrix({{3}, {1, 2, 3}, ""}, "x").rows(), 3);
  EXPECT_EQ(to_matrix({{}, {1}, ""}, "x").cols(), 1);
  EXPECT_EQ(to_matrix({{1, 2, 1, 3}, std::vector<double>(6), ""}, "x").cols(), 3);
  EXPECT_THROW(to_matrix({{2, 2, 2}, std::vector<double>(8), ""}, "x"), DataError);
}

std::vector<double> ramp(std::size_t n) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(i) / 3;
  return values;
}

TEST(NpzTest, round_trips_stored_and_deflated_with_equal_bytes_each_time) {
  const auto a = ramp(600);
  const std::vector<float> b = {1, 2};
  const std::vector<TensorView> arrays = {tensor_view<double>("a", {20, 30}, a), tensor_view<float>("b", {2}, b)};
  for (const auto compression : {NpzCompression::kStored, NpzCompression::kDeflate}) {
    const Bytes bytes = encode_npz(arrays, compression);
    EXPECT_EQ(bytes, encode_npz(arrays, compression));
    const auto entries = parse_npz(bytes, "x.npz");
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].name, "a");
    EXPECT_EQ(entries[0].array.values, a);
    EXPECT_EQ(parse_npz(bytes, "x.npz", "b").at(0).array.values, (std::vector<double>{1, 2}));
    EXPECT_NE(error_text([&] { parse_npz(bytes, "x.npz", "c"); }).find("one of a, b"), std::string::npos);
  }
}

TEST(NpzTest, truncations_and_flipped_bits_never_pass_as_other_values) {
  const auto a = ramp(50);
  const std::vector<TensorView> arrays = {tensor_view<double>("a", {50}, a)};
  for (const auto compression : {NpzCompression::kStored, NpzCompression::kDeflate}) {
    const Bytes good = encode_npz(arrays, compression);
    for (std::size_t n = 0; n < good.size(); ++n) {
      EXPECT_THROW(parse_npz(ByteSpan(good.data(), n), "cut"), IoError) << n;
    }
    for (std::size_t i = 0; i < good.size(); ++i) {
      Bytes bad = good;
      bad[i] ^= std::byte{4};
      try {
        for (const NpzEntry& e : parse_npz(bad, "bad")) {
          ASSERT_EQ(e.array.values, a) << "byte " << i;
        }
      } catch (const IoError&) {
      }
    }
  }
}

TEST(NpzTest, a_bomb_is_refused_before_it_is_unpacked) {
  const std::vector<std::uint8_t> zeros(std::size_t{40} << 20);
  const std::vector<TensorView> arrays = {tensor_view<std::uint8_t>("a", {static_cast<std::int64_t>(zeros.size())}, zeros)};
  const Bytes bytes = encode_npz(arrays, NpzCompression::kDeflate);
  EXPECT_LT(bytes.size(), 100000u);
  ReadLimits limits;
  limits.array_bytes = 1 << 20;
  EXPECT_NE(error_text([&] { parse_npz(bytes, "bomb", {}, limits); }).find("too large"), std::string::npos);
}

TEST(NpyTest, numpy_reads_ours_and_we_read_numpys) {
  LOCUS_NEEDS_PYTHON("numpy");
  const Scratch scratch;
  const auto a = ramp(12);
  const std::array<bool, 3> flags = {true, false, true};
  write_npy(scratch / "ours.npy", tensor_view<double>("", {3, 4}, a));
  const std::vector<TensorView> arrays = {tensor_view<double>("a", {3, 4}, a), tensor_view<bool>("f", {3}, flags)};
  write_npz(scratch / "ours.npz", arrays, NpzCompression::kDeflate);
  write_npz(scratch / "stored.npz", arrays);
  write_file_atomic(scratch / "t.py", std::string_view(R"(
import numpy as np, os, sys
os.chdir(sys.argv[1])
want = np.arange(12).reshape(3, 4) / 3
assert np.array_equal(np.load('ours.npy'), want)
for f in ['ours.npz', 'stored.npz']:
    z = np.load(f)
    assert sorted(z.files) == ['a', 'f'] and np.array_equal(z['a'], want) and z['f'].tolist() == [True, False, True]
    assert z['f'].dtype == bool
x = np.arange(24).reshape(2, 3, 4)
for t in ['<f4', '>f4', '<f8', '>f8', '>f2', 'i1', '<i2', '>i4', '>i8', 'u1', '>u2', '<u4', '>u8']:
    np.save('c_%s.npy' % t.replace('<', 'l').replace('>', 'b'), x.astype(t))
    np.save('f_%s.npy' % t.replace('<', 'l').replace('>', 'b'), np.asfortranarray(x.astype(t)))
np.savez('np.npz', x=x, y=want)
np.savez_compressed('npc.npz', x=x, y=want)
)"));
  const auto output =
      io_test::run_command("/usr/bin/python3 " + (scratch / "t.py").string() + " " + scratch.path().string());
  ASSERT_EQ(output.status, 0) << output.text;
  std::vector<double> want(24);
  for (std::size_t i = 0; i < 24; ++i) want[i] = static_cast<double>(i);
  int files = 0;
  for (const auto& path : expand_glob((scratch / "[cf]_*.npy").string())) {
    const NdArray array = read_npy(path);
    EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 3, 4})) << path;
    EXPECT_EQ(array.values, want) << path;
    ++files;
  }
  EXPECT_EQ(files, 26);
  for (const char* name : {"np.npz", "npc.npz"}) {
    const auto entries = read_npz(scratch / name);
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].array.values, want);
    EXPECT_EQ(entries[1].array.values, a);
  }
}

}  // namespace
}  // namespace locus
