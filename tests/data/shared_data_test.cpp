// Real recordings, where they are at hand: known figures, splits and baselines.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "config/load.h"
#include "data/atlas.h"
#include "data/baselines.h"
#include "data/connectivity.h"
#include "data/datasets.h"
#include "data/export.h"
#include "data/fmri_check.h"
#include "data/nmar.h"
#include "data/samples.h"
#include "data/series.h"
#include "io/array.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
const std::string kShared = locus::test::shared_data();

RunConfig shared_config(const std::string& name) {
  RunConfig c = load_run_config(locus::test::source_dir() + "/configs/" + name, {});
  const auto absolute = [](std::string& path) {
    if (path.rfind("../shared/data", 0) == 0) path = kShared + path.substr(14);
  };
  for (std::string& f : c.series.files) absolute(f);
  absolute(c.series.atlas);
  return c;
}

double upper_correlation(const MatrixD& a, const MatrixD& b) {
  MatrixD pairs(a.rows() * (a.rows() - 1) / 2, 2);
  std::ptrdiff_t n = 0;
  for (std::ptrdiff_t i = 0; i < a.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < i; ++j, ++n) {
      pairs(n, 0) = a(i, j);
      pairs(n, 1) = b(i, j);
    }
  }
  return correlation_of(std::as_const(pairs).view())(0, 1);
}

#define SKIP_WITHOUT(folder) \
  if (!fs::exists(kShared + "/" folder)) GTEST_SKIP() << "needs the shared data " << kShared << "/" folder

TEST(SharedDataTest, resting_state_has_its_known_figures) {
  SKIP_WITHOUT("hcp_glasser360/rest");
  const RunConfig c = shared_config("fmri/default.toml");
  const FmriReport r = check_fmri(c.series);
  EXPECT_TRUE(r.ok()) << to_text(r);
  EXPECT_EQ(r.subjects, 24);
  EXPECT_EQ(r.regions, 360);
  EXPECT_EQ(r.networks, 12);
  EXPECT_NEAR(r.within_networks, 0.28, 0.015);
  EXPECT_NEAR(r.between_networks, 0.13, 0.015);
  EXPECT_EQ(r.homotopic_pairs, 180);
  EXPECT_GT(r.homotopic, 0.4);
}

TEST(SharedDataTest, resting_state_splits_and_baselines_are_the_known_ones) {
  SKIP_WITHOUT("hcp_glasser360/rest");
  RunConfig c = shared_config("fmri/default.toml");
  const Dataset d = make_series_dataset(c);
  EXPECT_EQ(d.tokens, 360);
  EXPECT_EQ(d.split("train").count, 18 * 1195);
  EXPECT_EQ(d.split("test").count, 6 * 1195);
  EXPECT_EQ(d.description.at("subjects.test"), "212823 268749 322224 385450 463040 529953");
  const MatrixD group = read_matrix(kShared + "/hcp_glasser360/networks/group_fc_hcp337_Lfirst.npy").values;
  // NumPy gives 0.9484 for these 18 subjects, 0.963 for all 24.
  EXPECT_NEAR(upper_correlation(d.tokens_info.truths.at("connectivity"), group), 0.9484, 0.0005);
  ThreadPool pool(2);
  BaselineOptions quick;
  quick.max_samples = 300;
  quick.penalties = {1e-3, 1e-2, 1e-1};
  quick.fold_samples = 5;
  const Baselines b = compute_baselines(d, quick, pool);
  EXPECT_NEAR(b.find("test", "zero")->error, 1.0, 0.01);
  // NumPy, with masks of its own: 0.582 (standard error 0.010) on these six subjects, 0.61 and 0.63 on others.
  EXPECT_NEAR(b.find("test", "ridge")->error, 0.582, 0.02);
  EXPECT_LT(b.find("test", "ridge")->error, b.find("test", "nearest")->error);
  EXPECT_LT(b.find("test", "nearest")->error, b.find("test", "mean_visible")->error);
}

TEST(SharedDataTest, cifti_series_equal_the_hdf5_ones_by_name) {
  SKIP_WITHOUT("formats/cifti");
  SeriesConfig c = shared_config("fmri/default.toml").series;
  c.files = {kShared + "/hcp_glasser360/rest/HCP_example_restrun1_subj100206_data.h5"};
  const RegionSeries h5 = read_series(c);
  c.files = {kShared + "/formats/cifti/DERIVED_HCP100206_restrun1_Glasser360.ptseries.nii"};
  c.subject_pattern.clear();
  c.orientation = Orientation::kAuto;
  const RegionSeries cifti = read_series(c);
  ASSERT_EQ(cifti.runs[0].frames.rows(), h5.runs[0].frames.rows());
  EXPECT_EQ(cifti.names, h5.names);
  for (std::ptrdiff_t t = 0; t < 360; t += 17) {
    EXPECT_NEAR(cifti.runs[0].frames(100, t), h5.runs[0].frames(100, t), 1e-3 * std::abs(h5.runs[0].frames(100, t)) + 1e-3);
  }
}

TEST(SharedDataTest, one_hemisphere_has_half_of_the_regions) {
  SKIP_WITHOUT("hcp_glasser360/rest");
  RunConfig c = shared_config("fmri/left_hemisphere.toml");
  c.series.files = {kShared + "/hcp_glasser360/rest/*10*.h5"};
  c.series.test_last = 1;
  const Dataset d = make_series_dataset(c);
  EXPECT_EQ(d.tokens, 180);
  EXPECT_EQ(d.tokens_info.names[179].substr(0, 2), "L_");
  EXPECT_EQ(d.tokens_info.coordinates.rows(), 180);
}

TEST(SharedDataTest, the_other_atlas_reads_at_raw_scale) {
  SKIP_WITHOUT("aal2");
  RunConfig c = shared_config("aal2/default.toml");
  c.series.test_last = 0;
  c.series.test_subjects = {"102311"};
  const Dataset d = make_dataset(c);
  EXPECT_EQ(d.tokens, 94);
  EXPECT_EQ(d.split("test").count, 1200);
  EXPECT_TRUE(d.tokens_info.labels.empty());
  EXPECT_EQ(d.tokens_info.coordinates.rows(), 94);
  const FmriReport r = check_fmri(c.series);
  EXPECT_EQ(r.homotopic_pairs, 47);
  EXPECT_GT(r.homotopic, r.other_interhemispheric + 0.1);
  EXPECT_GT(r.runs[0].mean, 5000);
}

TEST(SharedDataTest, matlab_time_by_regions_and_v73_are_oriented_by_their_atlas) {
  SKIP_WITHOUT("formats/mat_v5");
  SeriesConfig c;
  c.source = SeriesSource::kFiles;
  c.atlas = kShared + "/formats/csv/Schaefer2018_200Parcels_17Networks_order_FSLMNI152_2mm.Centroid_RAS.csv";
  c.dataset = "ts";
  c.files = {kShared + "/formats/mat_v5/edge-centric_demo_example_data.mat"};
  const RegionSeries v5 = read_series(c);
  EXPECT_EQ(v5.regions(), 200);
  EXPECT_EQ(v5.runs[0].frames.rows(), 1200);
  EXPECT_FALSE(v5.runs[0].tokens_are_rows);
  EXPECT_EQ(v5.atlas.networks.size(), 200u);
  c.files = {kShared + "/formats/mat_v73/ohbm23_ts.mat"};
  EXPECT_EQ(read_series(c).runs[0].frames.rows(), 1100);
}

TEST(MaskedConfigsTest, every_ready_made_configuration_is_valid) {
  int found = 0;
  for (const char* folder : {"nmar", "fmri", "aal2"}) {
    for (const auto& entry : fs::directory_iterator(locus::test::source_dir() + "/configs/" + folder)) {
      if (entry.path().extension() != ".toml") continue;
      ++found;
      RunConfig c;
      EXPECT_NO_THROW(c = load_run_config(entry.path().string(), {})) << entry.path();
      EXPECT_EQ(c.study, "masked") << entry.path();
    }
  }
  EXPECT_GE(found, 35);
}

TEST(ExportTest, a_written_simulation_reads_back) {
  RunConfig c;
  c.study = "masked";
  c.nmar.sizes = {4, 5};
  c.nmar.train_samples = 40;
  c.nmar.validation_samples = 0;
  c.nmar.test_samples = 30;
  const Dataset d = make_nmar_dataset(c);
  const fs::path dir = fs::temp_directory_path() / "locus_export_test";
  fs::remove_all(dir);
  write_masked_dataset(d, dir);
  const auto train = read_npz(dir / "samples.npz", "train");
  ASSERT_EQ(train.size(), 1u);
  EXPECT_EQ(train[0].array.shape, (std::vector<std::int64_t>{40, 9}));
  EXPECT_EQ(train[0].array.to_floats(), d.split("train").values);
  EXPECT_EQ(read_npz(dir / "samples.npz", "truth.W_raw")[0].array.values, d.tokens_info.truths.at("W_raw").values());
  const Atlas atlas = read_atlas(dir / "tokens.csv");
  EXPECT_EQ(atlas.names, d.tokens_info.names);
  EXPECT_EQ(atlas.networks.size(), 9u);
  fs::remove_all(dir);
}

}  // namespace
}  // namespace locus
