// Files that SciPy, h5py and nibabel write in every variety we claim to read (run live; see make_foreign.py).
#include <thread>

#include "core/json.h"
#include "io/array.h"
#include "io/compress.h"
#include "io/hdf5.h"
#include "io/mat.h"
#include "io/nifti.h"
#include "tests/io/support.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

using io_test::error_text;
using io_test::Scratch;

std::uint32_t digest(const std::vector<double>& values) { return crc32_of(std::as_bytes(std::span(values))); }

Json make_foreign(const Scratch& scratch, const std::string& what) {
  const auto output = io_test::run_command("/usr/bin/python3 " + locus::test::source_dir() + "/tests/io/make_foreign.py " +
                                           scratch.path().string() + " " + what);
  EXPECT_EQ(output.status, 0) << output.text;
  return output.status == 0 ? Json::parse(output.text) : Json::object();
}

void expect_equal(const NdArray& got, const Json& want, const std::string& where) {
  EXPECT_EQ(got.shape, want["shape"].get<std::vector<std::int64_t>>()) << where;
  EXPECT_EQ(digest(got.values), want["crc32"].get<std::uint32_t>()) << where;
}

TEST(MatTest, reads_what_scipy_reads) {
  LOCUS_NEEDS_PYTHON("scipy.io");
  const Scratch scratch;
  const Json expected = make_foreign(scratch, "mat");
  int arrays = 0;
  for (const auto& [path, variables] : expected.items()) {
    for (const auto& [name, want] : variables.items()) {
      try {
        expect_equal(read_mat(path, name).array, want, path + " " + name);
      } catch (const Error& error) {
        ADD_FAILURE() << path << " " << name << ": " << error.what();
      }
      ++arrays;
    }
  }
  EXPECT_GE(arrays, 25);
  const std::string v5 = (scratch / "v5_True.mat").string();
  for (const char* name : {"text", "cell", "record", "complex"}) {
    EXPECT_NE(error_text([&] { read_mat(v5, name); }).find("real numbers"), std::string::npos) << name;
  }
  const std::string ambiguous = error_text([&] { read_mat(v5); });
  EXPECT_NE(ambiguous.find("which variable"), std::string::npos);
  EXPECT_NE(ambiguous.find("f8 (4, 3) double"), std::string::npos) << ambiguous;
  EXPECT_NE(error_text([&] { read_mat(v5, "cub"); }).find("did you mean cube"), std::string::npos);
}

TEST(Hdf5Test, reads_what_h5py_wrote) {
  LOCUS_NEEDS_PYTHON("h5py");
  const Scratch scratch;
  const Json expected = make_foreign(scratch, "hdf5");
  for (const auto& [path, datasets] : expected.items()) {
    for (const auto& [name, want] : datasets.items()) expect_equal(read_hdf5(path, name).array, want, name);
  }
  const auto types = scratch / "types.h5";
  EXPECT_EQ(list_hdf5(types).size(), 16u);
  EXPECT_NE(error_text([&] { read_hdf5(types, "huge"); }).find("too large"), std::string::npos);
  EXPECT_NE(error_text([&] { read_hdf5(types, "large"); }).find("too large"), std::string::npos);
  EXPECT_NE(error_text([&] { read_hdf5(types, "text"); }).find("does not hold numbers"), std::string::npos);
  EXPECT_NE(error_text([&] { read_hdf5(types); }).find("which data set"), std::string::npos);
  EXPECT_NE(error_text([&] { read_hdf5(types, "group/paked"); }).find("did you mean group/packed"), std::string::npos);
  const NamedMatrix one = read_matrix(scratch / "one.h5");
  EXPECT_EQ(one.dataset, "deep/matrix");
  EXPECT_EQ(one.values.values(), (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

TEST(Hdf5Test, threads_may_read_at_once) {
  LOCUS_NEEDS_PYTHON("h5py");
  const Scratch scratch;
  make_foreign(scratch, "hdf5");
  const auto path = scratch / "types.h5";
  const NdArray want = read_hdf5(path, "group/packed").array;
  std::vector<int> equal(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < equal.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) equal[t] += read_hdf5(path, "group/packed").array.values == want.values ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, (std::vector<int>(4, 20)));
}

TEST(NiftiTest, reads_what_nibabel_wrote) {
  LOCUS_NEEDS_PYTHON("nibabel");
  const Scratch scratch;
  const Json expected = make_foreign(scratch, "nifti");
  EXPECT_EQ(expected.size(), 41u);
  for (const auto& [path, want] : expected.items()) {
    const NiftiImage image = read_nifti(path);
    expect_equal({image.header.shape, image.values, ""}, want, path);
  }
}

}  // namespace
}  // namespace locus
