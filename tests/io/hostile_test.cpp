// Broken and hostile files through the front door: each a clear error, in bounded memory and time.
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>

#include "io/array.h"
#include "io/compress.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "tests/io/support.h"

namespace locus {
namespace {

using io_test::error_text;
using io_test::Scratch;

struct Case {
  const char* file;
  std::string content;
  const char* message;  // part of the error
};

template <class T>
void store(std::string& text, std::size_t at, T value) {
  std::memcpy(text.data() + at, &value, sizeof value);
}

// A NIfTI-1 header of this shape and type, one file, data at 352.
std::string nifti(std::initializer_list<std::int16_t> shape, std::int16_t type, std::size_t data_bytes) {
  std::string text(352 + data_bytes, '\0');
  store<std::int32_t>(text, 0, 348);
  store<std::int16_t>(text, 40, static_cast<std::int16_t>(shape.size()));
  std::size_t at = 42;
  for (const std::int16_t d : shape) {
    store(text, at, d);
    at += 2;
  }
  store(text, 70, type);
  store<float>(text, 108, 352.0f);
  text.replace(344, 4, "n+1\0", 4);
  return text;
}

std::string mat5(const std::string& body) {
  std::string text = "MATLAB 5.0 MAT-file";
  text.resize(124, ' ');
  return text + std::string("\0\1IM", 4) + body;
}

// flags(class), dimensions, the name "x", then 8 bytes of doubles.
std::string mat5_array(std::uint32_t kind, std::int32_t rows, std::int32_t cols) {
  std::string body(72, '\0');
  const std::uint32_t words[] = {14, 64, 6, 8, kind, 0, 5, 8};
  std::memcpy(body.data(), words, sizeof words);
  store(body, 32, rows);
  store(body, 36, cols);
  store<std::uint32_t>(body, 40, 0x00010001);
  body[44] = 'x';
  store<std::uint32_t>(body, 48, 9);
  store<std::uint32_t>(body, 52, 8);
  return mat5(body);
}

std::string gzip(const std::string& text) {
  const Bytes packed = deflate_all(bytes_of(text), DeflateFormat::kGzip);
  return std::string(as_text(packed));
}

std::string npy(const std::string& shape, std::size_t data_bytes) {
  const std::string dict = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(dict.size()) + '\0' + dict + std::string(data_bytes, 'x');
}

std::vector<Case> cases() {
  return {
      {"empty.csv", "", "no rows"},
      {"empty.npy", "", "ends inside"},
      {"empty.npz", "", "too short"},
      {"empty.h5", "", "as HDF5"},
      {"empty.mat", "", "ends inside"},
      {"empty.nii", "", "NIfTI"},
      {"empty.nii.gz", "", "NIfTI"},
      {"empty.safetensors", "", "ends inside"},
      {"text.h5", "these are words, not data", "as HDF5"},
      {"text.mat", std::string(200, 'w'), "MATLAB"},
      {"text.nii", std::string(600, 'w'), "NIfTI"},
      {"text.npz", std::string(600, 'w'), "zip"},
      {"text.npy", std::string(600, 'w'), "NPY"},
      {"text.safetensors", std::string(600, 'w'), "header length"},
      {"ragged.csv", "a,b\n1,2\n3\n", "ragged.csv:3"},
      {"words.csv", "a,b\n1,2\n3,four\n", "'four'"},
      {"binary.csv", std::string("1,2\n\0\1", 6), "not a text table"},
      {"header_only.tsv", "a\tb\n", "no rows"},
      {"huge.npy", npy("(4000000000, 4000000000)", 0), "too large"},
      {"large.npy", npy("(100000000,)", 64), "ends inside"},
      {"negative.npy", npy("(-3, 2)", 48), "dimension"},
      {"three_axes.npy", npy("(2, 2, 2)", 64), "a matrix is needed"},
      {"huge.nii", nifti({32767, 32767, 32767, 32767}, 16, 0), "too large"},
      {"large.nii", nifti({30000, 1000}, 16, 64), "ends inside"},
      {"negative.nii", nifti({-4, 4}, 16, 64), "impossible dimensions"},
      {"axes.nii", nifti({1, 1, 1, 1, 1, 1, 1, 1, 1}, 16, 64), "number of axes"},
      {"complex.nii", nifti({2, 2}, 32, 64), "unsupported NIfTI data type"},
      {"volume.nii", nifti({2, 2, 2}, 2, 8), "without CIFTI"},
      {"liar.nii.gz", gzip(nifti({5000, 5000}, 16, 64)), "more than the file holds"},
      {"bomb.nii.gz", gzip(nifti({2, 2}, 2, std::size_t{1} << 26)), "expand to more"},
      {"cut.nii.gz", gzip(nifti({20, 20}, 2, 400)).substr(0, 40), "end too early"},
      {"huge.mat", mat5_array(6, 0x7fffffff, 0x7fffffff), "too large"},
      {"large.mat", mat5_array(6, 5000, 5000), "fewer values"},
      {"negative.mat", mat5_array(6, -3, 3), "impossible dimensions"},
      {"class.mat", mat5_array(99, 1, 1), "array class"},
      {"sparse.mat", mat5_array(5, 30000, 30000), "too large"},
      {"cell.mat", mat5_array(1, 2, 2), "which variable"},
      {"element.mat", mat5(std::string("\x0e\0\0\0\xff\xff\xff\x7f", 8)), "ends inside"},
      {"zlib.mat", mat5(std::string("\x0f\0\0\0\x08\0\0\0garbage!", 16)), "damaged"},
  };
}

TEST(HostileTest, every_broken_file_gets_a_clear_error_that_names_it) {
  const Scratch scratch;
  for (const Case& c : cases()) {
    const auto path = scratch / c.file;
    write_file_atomic(path, c.content);
    const auto start = std::chrono::steady_clock::now();
    std::string message;
    try {
      read_matrix(path);
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_NE(message.find(c.message), std::string::npos) << c.file << " gave: " << message;
    EXPECT_NE(message.find(c.file), std::string::npos) << c.file << " gave: " << message;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << c.file;
  }
  EXPECT_NE(error_text([&] { read_matrix(scratch / "absent.npy"); }).find("No such file"), std::string::npos);
  EXPECT_NE(error_text([&] { read_matrix(scratch.path()); }).find("folder"), std::string::npos);
}

TEST(HostileTest, broken_files_need_little_memory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve address space of their own";
#endif
  const Scratch scratch;
  for (const Case& c : cases()) write_file_atomic(scratch / c.file, c.content);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{std::size_t{1} << 30, std::size_t{1} << 30};
    ::setrlimit(RLIMIT_AS, &limit);
    for (const Case& c : cases()) {
      try {
        read_matrix(scratch / c.file);
        ::_exit(1);
      } catch (const Error&) {
      } catch (...) {
        ::_exit(2);
      }
    }
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "1 GB of address space must do for all";
}

TEST(HostileTest, valid_matrices_come_through_the_same_door) {
  const Scratch scratch;
  const std::vector<double> values = {1, 2, 3, 4, 5, 6};
  const std::vector<TensorView> named = {tensor_view<double>("x", {2, 3}, values), tensor_view<double>("v", {6}, values)};
  write_npy(scratch / "a.npy", named[0]);
  write_npz(scratch / "a.npz", named, NpzCompression::kDeflate);
  write_safetensors(scratch / "a.safetensors", named);
  write_file_atomic(scratch / "a.csv", std::string_view("p,q,r\n1,2,3\n4,5,6\n"));
  write_file_atomic(scratch / "a.txt", std::string_view("1 2 3\n4 5 6\n"));
  write_file_atomic(scratch / "no_extension", encode_npy(named[0]));
  for (const char* file : {"a.npy", "a.npz", "a.safetensors", "a.csv", "a.txt", "no_extension"}) {
    const NamedMatrix matrix = read_matrix(scratch / file);
    EXPECT_EQ(matrix.values.rows(), 2) << file;
    EXPECT_EQ(matrix.values.values(), values) << file;
  }
  EXPECT_EQ(read_matrix(scratch / "a.csv").column_names, (std::vector<std::string>{"p", "q", "r"}));
  EXPECT_EQ(read_matrix(scratch / "a.npz").dataset, "x");
  EXPECT_EQ(read_matrix(scratch / "a.safetensors", {.dataset = "v"}).values.rows(), 6);
}

}  // namespace
}  // namespace locus
