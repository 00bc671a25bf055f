#include "io/hdf5.h"

#include <cmath>

#include "io/array.h"
#include "io/compress.h"
#include "io/mat.h"
#include "tests/io/support.h"
#include "tests/support/foreign_files.h"

namespace locus {
namespace {

using foreign::Held;
using io_test::error_text;
using io_test::Scratch;

constexpr hsize_t kSide = 40;

std::vector<double> numbers() {
  std::vector<double> values(kSide * kSide);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i + 1);
  return values;
}

// A square data set of doubles with the given creation properties; written when `write`.
void square(const std::filesystem::path& path, hid_t properties, bool write) {
  const Held file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  const hsize_t shape[2] = {kSide, kSide};
  const Held space(H5Screate_simple(2, shape, nullptr), H5Sclose);
  const Held set(H5Dcreate2(file, "x", H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose);
  ASSERT_GE(static_cast<hid_t>(set), 0);
  const std::vector<double> values = numbers();
  if (write) H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

TEST(Hdf5SourcesTest, external_storage_is_refused_with_its_name) {
  const Scratch scratch;
  const Held properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_external(properties, (scratch / "elsewhere.bin").c_str(), 0, kSide * kSide * 8);
  square(scratch / "a.h5", properties, true);
  const std::string message = error_text([&] { read_hdf5(scratch / "a.h5"); });
  EXPECT_NE(message.find("from other files"), std::string::npos) << message;
  EXPECT_NE(message.find("elsewhere.bin"), std::string::npos) << message;
  EXPECT_NE(error_text([&] { read_matrix(scratch / "a.h5"); }), "");
}

TEST(Hdf5SourcesTest, attributes_of_netcdf_say_which_numbers_are_missing_and_how_they_are_packed) {
  const Scratch scratch;
  square(scratch / "a.h5", H5P_DEFAULT, true);
  {
    const Held file(H5Fopen((scratch / "a.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    const Held set(H5Dopen2(file, "x", H5P_DEFAULT), H5Dclose);
    const Held space(H5Screate(H5S_SCALAR), H5Sclose);
    for (const auto& [name, value] :
         {std::pair{"_FillValue", 7.0}, {"missing_value", 9.0}, {"scale_factor", 0.5}, {"add_offset", 100.0}}) {
      const Held attribute(H5Acreate2(set, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
      H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value);
    }
  }
  const std::vector<double> values = read_hdf5(scratch / "a.h5").array.values;
  EXPECT_EQ(values[0], 100.5);
  EXPECT_TRUE(std::isnan(values[6]));
  EXPECT_EQ(values[7], 104);
  EXPECT_TRUE(std::isnan(values[8]));
}

TEST(Hdf5SourcesTest, virtual_sources_are_refused_whether_they_are_there_or_not) {
  const Scratch scratch;
  square(scratch / "source.h5", H5P_DEFAULT, true);
  for (const char* source : {"source.h5", "missing.h5"}) {
    const hsize_t shape[2] = {kSide, kSide};
    const Held space(H5Screate_simple(2, shape, nullptr), H5Sclose);
    const Held properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_virtual(properties, space, source, "x", space);
    square(scratch / "a.h5", properties, false);
    const std::string message = error_text([&] { read_hdf5(scratch / "a.h5"); });
    EXPECT_NE(message.find("from other files"), std::string::npos) << message;
    EXPECT_NE(message.find(source), std::string::npos) << message;
    std::filesystem::copy_file(scratch / "a.h5", scratch / "a.mat", std::filesystem::copy_options::overwrite_existing);
    EXPECT_NE(error_text([&] { read_mat(scratch / "a.mat"); }).find("from other files"), std::string::npos);
  }
}

TEST(Hdf5SourcesTest, what_was_never_written_is_no_zero) {
  const Scratch scratch;
  square(scratch / "a.h5", H5P_DEFAULT, false);
  EXPECT_NE(error_text([&] { read_hdf5(scratch / "a.h5"); }).find("never written"), std::string::npos);
  const Held properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const hsize_t chunk[2] = {7, 40};
  H5Pset_chunk(properties, 2, chunk);
  H5Pset_deflate(properties, 6);
  square(scratch / "b.h5", properties, true);
  EXPECT_EQ(read_hdf5(scratch / "b.h5").array.values, numbers());
  {
    const Held file(H5Fopen((scratch / "b.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    const hsize_t shape[2] = {kSide, kSide}, start[2] = {0, 0}, part[2] = {20, kSide};
    const Held space(H5Screate_simple(2, shape, nullptr), H5Sclose), memory(H5Screate_simple(2, part, nullptr), H5Sclose);
    const Held half(H5Dcreate2(file, "half", H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, part, nullptr);
    H5Dwrite(half, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, numbers().data());
  }
  const std::string message = error_text([&] { read_hdf5(scratch / "b.h5", "half"); });
  EXPECT_NE(message.find("3 of 6 blocks"), std::string::npos) << message;
}

TEST(Hdf5SourcesTest, a_chunk_that_unpacks_to_more_than_it_holds_is_refused_before) {
  const Scratch scratch;
  const Bytes zeros(std::size_t{160} << 20);
  const Bytes packed = deflate_all(zeros, DeflateFormat::kZlib);
  ASSERT_GT(packed.size() * kMaxDeflateRatio, std::size_t{64} << 20);
  const hsize_t shape[2] = {600, 600};
  {
    const Held file(H5Fcreate((scratch / "a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const Held properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(properties, 2, shape);
    H5Pset_deflate(properties, 6);
    const Held space(H5Screate_simple(2, shape, nullptr), H5Sclose);
    const Held set(H5Dcreate2(file, "x", H5T_STD_U8LE, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose);
    const hsize_t offset[2] = {0, 0};
    ASSERT_GE(H5Dwrite_chunk(set, H5P_DEFAULT, 0, offset, packed.size(), packed.data()), 0);
  }
  const std::string message = error_text([&] { read_hdf5(scratch / "a.h5"); });
  EXPECT_NE(message.find("expand to more than allowed"), std::string::npos) << message;
}

TEST(AxisNamesTest, an_array_of_names_beside_the_matrix_names_its_axis) {
  const Scratch scratch;
  foreign::Named m{MatrixD(4, 3), {"b", "\xc3\xa4", "c"}, false};
  for (std::size_t i = 0; i < 12; ++i) m.values.values()[i] = static_cast<double>(i * i);
  m.names[1] = "a";
  foreign::write_npz_file(scratch / "a.npz", m);
  foreign::write_mat_file(scratch / "a.mat", m);
  foreign::write_hdf5_file(scratch / "a.h5", m);
  foreign::write_mat73_file(scratch / "b.mat", m);
  for (const char* file : {"a.npz", "a.mat", "a.h5", "b.mat"}) {
    const NamedMatrix read = read_matrix(scratch / file);
    EXPECT_EQ(read.values, m.values) << file;
    EXPECT_EQ(read.column_names, m.names) << file;
    EXPECT_TRUE(read.row_names.empty()) << file;
  }
  m.names[1] = "b";
  foreign::write_npz_file(scratch / "a.npz", m);
  EXPECT_TRUE(read_matrix(scratch / "a.npz").column_names.empty()) << "what stands twice is no name";
}

}  // namespace
}  // namespace locus
