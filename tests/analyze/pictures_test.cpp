// Shuffled pictures are put together again by a planted code and not by noise; scores of predictions agree with counts by
// hand, and simple predictors stand beside them.
#include <cmath>
#include <filesystem>

#include "analyze/scores.h"
#include "analyze/unscramble.h"
#include "config/table_config.h"
#include "core/error.h"
#include "data/table/dataset.h"
#include "infer/evaluate.h"
#include "io/npy.h"
#include "tests/analyze/support.h"
#include "tests/stats/planted.h"

namespace locus {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;

constexpr int kSide = 6, kPictures = 120;

// Pictures of one bright spot each; the class tells whether it is left or right.
class PictureAnalysisTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("locus-pictures-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    std::vector<double> pixels, labels;
    Rng rng(1, "spots");
    for (int i = 0; i < kPictures; ++i) {
      const double row = rng.uniform() * (kSide - 1), column = rng.uniform() * (kSide - 1);
      for (int p = 0; p < kSide * kSide; ++p)
        pixels.push_back(std::exp(-(std::pow(p / kSide - row, 2) + std::pow(p % kSide - column, 2)) / 2));
      labels.push_back(column < (kSide - 1) / 2.0 ? 0 : 1);
    }
    write_npy(folder_ / "x.npy", tensor_view<double>("", {kPictures, kSide, kSide}, pixels));
    write_npy(folder_ / "y.npy", tensor_view<double>("", {kPictures}, labels));
    config_.study = "images";
    config_.model.layers = 2;
    config_.model.width = 16;
    config_.model.readout = Readout::kMean;
    config_.task = "classify";
    ImagesConfig& images = config_.own.of<ImagesConfig>();
    images.files = (folder_ / "x.npy").string();
    images.shuffle = 4;
    config_.own.of<TableConfig>().target = {(folder_ / "y.npy").string()};
  }
  void TearDown() override { fs::remove_all(folder_); }

  AnalysisRun planted(const Dataset& d, const MatrixD& code) const {
    AnalysisRun run = make_analysis_run(config_, d);
    std::vector<float> params = initial_params(run, 3);
    add_model(run, "init", params);
    for (const std::int64_t layer : code_layers(run)) set_code(run, layer, code, params);
    add_model(run, "final", params);
    return run;
  }

  fs::path folder_;
  RunConfig config_;
};

double neighbours(const UnscrambleResult& r, const std::string& model, const std::string& code) {
  for (const UnscrambleRow& row : r.placements) {
    if (row.model == model && row.code == code && row.layer == -1) return row.neighbours;
  }
  return -1;
}

// Bumps over the picture, so that likeness falls with distance.
MatrixD bumps(const MatrixD& places) {
  MatrixD code(places.rows(), 16);
  for (std::ptrdiff_t t = 0; t < code.rows(); ++t) {
    for (int k = 0; k < 16; ++k) {
      const double dx = places(t, 0) - k % 4 * (kSide - 1) / 3.0, dy = places(t, 1) - k / 4 * (kSide - 1) / 3.0;
      code(t, k) = std::exp(-(dx * dx + dy * dy) / 4);
    }
  }
  return code;
}

TEST_F(PictureAnalysisTest, a_code_of_the_true_places_unscrambles_and_noise_does_not) {
  const Dataset d = make_table_dataset(config_, "");
  const MatrixD code = bumps(d.tokens_info.coordinates);
  const UnscrambleResult r = analyze_unscramble(planted(d, code), d, {}, {});
  EXPECT_EQ(r.rows, kSide);
  EXPECT_EQ(r.columns, kSide);
  EXPECT_GT(neighbours(r, "final", "raw"), 0.9);
  EXPECT_GT(neighbours(r, "data", "correlation"), 0.8);
  EXPECT_LT(neighbours(r, "init", "raw"), 0.35);
  for (const UnscrambleRow& row : r.placements) {
    EXPECT_NEAR(row.chance, 2.0 * 60 / (36.0 * 35), 0.02);  // 60 pairs side by side among 630
    EXPECT_LE(row.neighbours_low, row.neighbours_high);
  }
}

TEST_F(PictureAnalysisTest, pictures_are_kept_as_the_data_have_them) {
  const Dataset d = make_table_dataset(config_, "");
  const UnscrambleResult r = analyze_unscramble(planted(d, stats::planted_noise(36, 16, 4)), d, {}, {});
  const auto found = std::find_if(r.arrays.begin(), r.arrays.end(), [](const auto& a) { return a.name == "pictures"; });
  ASSERT_NE(found, r.arrays.end());
  for (const float v : found->values) EXPECT_TRUE(v >= -1e-5f && v <= 1 + 1e-5f) << v;
}

TEST_F(PictureAnalysisTest, tokens_without_a_grid_or_with_symmetries_of_their_own_are_refused) {
  const Dataset d = make_table_dataset(config_, "");
  AnalysisRun run = planted(d, stats::planted_noise(36, 16, 4));
  const MatrixD places = run.info.coordinates;
  run.info.coordinates = {};
  EXPECT_THROW(analyze_unscramble(run, d, {}, {}), DataError);
  run.info.coordinates = places;
  run.info.symmetries = {std::vector<std::int32_t>(36)};
  EXPECT_THROW(analyze_unscramble(run, d, {}, {}), DataError);
}

TEST_F(PictureAnalysisTest, scores_agree_with_counts_by_hand) {
  const Dataset d = make_table_dataset(config_, "");
  const AnalysisRun run = planted(d, stats::planted_noise(36, 16, 4));
  AnalyzeSettings settings;
  const ScoreResult r = analyze_scores(run, d, settings, {});
  Evaluator evaluator(*run.structure);
  const Examples& test = d.split("test");
  const Evaluation e = evaluator.run(run.require_trained().params.data(), test);
  std::int64_t right = 0, counted = 0;
  for (std::size_t i = 0; i < e.predicted.size(); ++i) right += e.predicted[i] == test.labels[i] ? 1 : 0;
  for (const ConfusionRow& row : r.confusion) {
    counted += row.samples;
    if (row.truth == row.predicted) right -= row.samples;
  }
  EXPECT_EQ(right, 0);
  EXPECT_EQ(counted, test.count);
  double accuracy = -1, logistic = -1;
  for (const ScoreRow& row : r.scores) {
    if (row.measure != "accuracy") continue;
    if (row.predictor == "model") accuracy = row.value;
    if (row.predictor == "logistic") logistic = row.value;
    EXPECT_LE(row.low, row.value);
    EXPECT_GE(row.high, row.value);
  }
  EXPECT_NEAR(accuracy, e.accuracy, 1e-12);
  EXPECT_GT(logistic, 0.85);
  for (const DifferenceRow& row : r.differences) {
    if (row.predictor != "logistic") continue;
    EXPECT_NEAR(row.difference, accuracy - logistic, 1e-12);
  }
}

TEST_F(PictureAnalysisTest, classes_that_no_user_named_have_no_scores) {
  Dataset d = make_table_dataset(config_, "");
  const AnalysisRun run = planted(d, stats::planted_noise(36, 16, 4));
  d.class_names.clear();
  EXPECT_THROW(analyze_scores(run, d, {}, {}), DataError);
}

}  // namespace
}  // namespace locus
