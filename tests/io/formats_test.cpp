// Every real file against what NumPy, SciPy, h5py and nibabel read from it (run live; see dump_expected.py).

#include "core/json.h"
#include "io/array.h"
#include "io/cifti.h"
#include "io/compress.h"
#include "io/file.h"
#include "io/hdf5.h"
#include "io/mat.h"
#include "io/nifti.h"
#include "tests/io/support.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

using io_test::shared_data;
namespace fs = std::filesystem;

std::uint32_t digest(const std::vector<double>& values) { return crc32_of(std::as_bytes(std::span(values))); }

std::vector<std::int64_t> shape_of(const MatrixD& m) { return {m.rows(), m.cols()}; }

void check_axis(const CiftiAxis& axis, const Json& want) {
  ASSERT_EQ(cifti_kind_name(axis.kind), want["kind"].get<std::string>());
  if (want.contains("names")) {
    EXPECT_EQ(axis.names(), want["names"].get<std::vector<std::string>>());
  }
  if (axis.kind == CiftiKind::kSeries) {
    EXPECT_EQ(axis.size, want["size"].get<std::int64_t>());
    EXPECT_DOUBLE_EQ(axis.series.step, want["step"].get<double>());
    EXPECT_DOUBLE_EQ(axis.series.start, want["start"].get<double>());
    EXPECT_EQ(axis.series.unit, want["unit"].get<std::string>());
  }
  if (axis.kind == CiftiKind::kParcels) {
    for (std::size_t i = 0; i < axis.parcels.size(); ++i) {
      std::size_t vertices = 0;
      for (const CiftiVertices& v : axis.parcels[i].surfaces) vertices += v.vertices.size();
      EXPECT_EQ(vertices, want["vertices"][i].get<std::size_t>()) << i;
      EXPECT_EQ(axis.parcels[i].voxels.size(), want["voxels"][i].get<std::size_t>()) << i;
    }
  }
  if (axis.kind == CiftiKind::kLabels) {
    for (std::size_t m = 0; m < axis.maps.size(); ++m) {
      ASSERT_EQ(axis.maps[m].labels.size(), want["tables"][m].size());
      for (const Json& row : want["tables"][m]) {
        const CiftiLabel* label = axis.maps[m].find(row[0].get<std::int64_t>());
        ASSERT_NE(label, nullptr);
        EXPECT_EQ(label->name, row[1].get<std::string>());
        for (std::size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(label->rgba[i], row[2][i].get<double>());
      }
    }
  }
  if (axis.kind == CiftiKind::kBrainModels) {
    ASSERT_EQ(axis.brain_models.size(), want["models"].size());
    for (std::size_t i = 0; i < axis.brain_models.size(); ++i) {
      const CiftiBrainModel& model = axis.brain_models[i];
      EXPECT_EQ(model.structure, want["models"][i][0].get<std::string>());
      EXPECT_EQ(model.offset, want["models"][i][1].get<std::int64_t>());
      EXPECT_EQ(model.offset + model.count, want["models"][i][2].get<std::int64_t>());
    }
  }
}

void check_cifti(const fs::path& path, const Json& want) {
  const CiftiFile file = read_cifti(path);
  EXPECT_EQ(shape_of(file.values), want["shape"].get<std::vector<std::int64_t>>());
  EXPECT_EQ(digest(file.values.values()), want["crc32"].get<std::uint32_t>());
  check_axis(file.rows, want["rows"]);
  check_axis(file.columns, want["columns"]);
  const NamedMatrix matrix = read_matrix(path);
  EXPECT_EQ(matrix.values, file.values);
  EXPECT_EQ(matrix.row_names, file.rows.names());
}

void check_table(const fs::path& path, const Json& want) {
  const Table table = read_table(path);
  auto rows = want["rows"].get<std::vector<std::vector<std::string>>>();
  EXPECT_EQ(table.header, rows.at(0));
  rows.erase(rows.begin());
  EXPECT_EQ(table.rows, rows);
}

void check_datasets(const fs::path& path, const Json& want) {
  for (const auto& [name, expected] : want["datasets"].items()) {
    const NdArray array = read_array(path, {.dataset = name});
    EXPECT_EQ(array.shape, expected["shape"].get<std::vector<std::int64_t>>()) << name;
    EXPECT_EQ(digest(array.values), expected["crc32"].get<std::uint32_t>()) << name;
  }
}

TEST(FormatsTest, every_real_file_reads_as_the_reference_libraries_read_it) {
  LOCUS_NEEDS_SHARED_DATA();
  LOCUS_NEEDS_PYTHON("numpy, scipy.io, h5py, nibabel");
  const auto output = io_test::run_command("/usr/bin/python3 " + locus::test::source_dir() + "/tests/io/dump_expected.py " +
                                           shared_data().string());
  ASSERT_EQ(output.status, 0) << output.text;
  const Json expected = Json::parse(output.text);
  EXPECT_GE(expected.size(), 40u);
  for (const auto& [file, want] : expected.items()) {
    SCOPED_TRACE(file);
    const fs::path path = shared_data() / file;
    const std::string kind = want["kind"].text();
    if (kind == "matrix") {
      const NamedMatrix matrix = read_matrix(path);
      EXPECT_EQ(shape_of(matrix.values), want["shape"].get<std::vector<std::int64_t>>());
      EXPECT_EQ(digest(matrix.values.values()), want["crc32"].get<std::uint32_t>());
    } else if (kind == "array") {
      check_datasets(path, want);
    } else if (kind == "nifti") {
      const NiftiImage image = read_nifti(path);
      EXPECT_EQ(image.header.shape, want["shape"].get<std::vector<std::int64_t>>());
      EXPECT_EQ(digest(image.values), want["crc32"].get<std::uint32_t>());
      EXPECT_EQ(std::vector<double>(image.header.sform.begin(), image.header.sform.end()),
                want["sform"].get<std::vector<double>>());
      EXPECT_THROW(read_matrix(path), IoError) << "a volume is no matrix of regions";
    } else if (kind == "cifti") {
      check_cifti(path, want);
    } else if (kind == "table") {
      check_table(path, want);
    } else {
      ADD_FAILURE() << "unknown kind " << kind;
    }
  }
}

TEST(FormatsTest, the_only_matrix_is_found_without_a_name) {
  LOCUS_NEEDS_SHARED_DATA();
  const NamedMatrix demo = read_matrix(shared_data() / "formats/mat_v5/edge-centric_demo_example_data.mat");
  EXPECT_EQ(demo.dataset, "ts");
  EXPECT_EQ(shape_of(demo.values), (std::vector<std::int64_t>{1200, 200}));
  const NamedMatrix v73 = read_matrix(shared_data() / "formats/mat_v73/ohbm23_ts.mat");
  EXPECT_EQ(v73.dataset, "ts");
  EXPECT_EQ(v73.format, "MAT");
  EXPECT_EQ(shape_of(v73.values), (std::vector<std::int64_t>{1100, 200}));
  const NamedMatrix aal = read_matrix(shared_data() / "aal2/101309.mat");
  EXPECT_EQ(aal.dataset, "tc");
  EXPECT_EQ(shape_of(aal.values), (std::vector<std::int64_t>{94, 1200}));
  const NamedMatrix h5 = read_matrix(expand_glob((shared_data() / "hcp_glasser360/rest/*.h5").string()).at(0));
  EXPECT_EQ(h5.dataset, "restdata");
  EXPECT_EQ(shape_of(h5.values), (std::vector<std::int64_t>{360, 1195}));
  EXPECT_THROW(read_matrix(shared_data() / "hcp_glasser360/HCP_example_taskactivations_data.h5"), DataError);
}

TEST(FormatsTest, a_ptseries_holds_the_run_it_was_derived_from) {
  LOCUS_NEEDS_SHARED_DATA();
  const NamedMatrix cifti = read_matrix(shared_data() / "formats/cifti/DERIVED_HCP100206_restrun1_Glasser360.ptseries.nii");
  const NamedMatrix h5 = read_matrix(shared_data() / "hcp_glasser360/rest/HCP_example_restrun1_subj100206_data.h5");
  ASSERT_EQ(shape_of(cifti.values), shape_of(h5.values));
  EXPECT_EQ(cifti.row_names.size(), 360u);
  EXPECT_NEAR(cifti.column_step, 0.72, 1e-9);
  for (std::ptrdiff_t r = 0; r < 360; r += 37) {
    EXPECT_FLOAT_EQ(static_cast<float>(cifti.values(r, 100)), static_cast<float>(h5.values(r, 100)));
  }
}

TEST(FormatsTest, truncated_real_files_are_errors) {
  LOCUS_NEEDS_SHARED_DATA();
  const io_test::Scratch scratch;
  const char* files[] = {"formats/mat_v5/edge-centric_demo_example_data.mat",
                         "formats/mat_v73/ohbm23_ts.mat",
                         "formats/npy/groupFCmri_schaefer200.npy",
                         "formats/cifti/DERIVED_HCP100206_restrun1_Glasser360.ptseries.nii",
                         "formats/nifti/example4d.nii.gz",
                         "hcp_glasser360/rest/HCP_example_restrun1_subj100206_data.h5"};
  for (const char* file : files) {
    const Bytes bytes = read_file(shared_data() / file);
    for (const std::size_t keep : {std::size_t{0}, std::size_t{3}, std::size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
      const fs::path cut = scratch / fs::path(file).filename().string();
      write_file_atomic(cut, ByteSpan(bytes.data(), keep));
      EXPECT_THROW(read_matrix(cut), Error) << file << " cut to " << keep;
    }
  }
}

}  // namespace
}  // namespace locus
