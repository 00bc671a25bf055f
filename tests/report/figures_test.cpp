// The numbers in the figures against the data that made them.
#include <gtest/gtest.h>

#include <regex>

#include "core/text.h"
#include "report/figures/accuracy_vs_sigma.h"
#include "report/figures/agreement.h"
#include "report/figures/attention.h"
#include "report/figures/brain.h"
#include "report/figures/by_difficulty.h"
#include "report/figures/interventions.h"
#include "report/figures/kernel.h"
#include "report/figures/modules.h"
#include "report/figures/position_map.h"
#include "report/figures/recovery.h"
#include "report/figures/similarity.h"
#include "report/figures/sweep_heatmap.h"
#include "report/figures/tiled_similarity.h"
#include "report/figures/training_curves.h"
#include "report/registry.h"
#include "stats/descriptive.h"
#include "tests/report/sample_runs.h"

namespace locus::report {
namespace {

using namespace testing_support;

Inputs inputs_of(const fs::path& dir) {
  const std::vector<std::string> dirs = {dir.string()};
  return make_inputs(load_runs(find_run_paths(dirs)));
}

// All data-value attributes of a figure's first variant.
std::vector<double> drawn_values(const Figure& figure) {
  std::vector<double> values;
  const std::regex pattern("data-value=\"([^\"]*)\"");
  for (const Panel& panel : figure.variants.at(0).panels) {
    for (std::sregex_iterator it(panel.body.begin(), panel.body.end(), pattern), end; it != end; ++it)
      values.push_back(std::stod((*it)[1]));
  }
  return values;
}

bool holds(const std::vector<double>& values, double wanted) {
  return std::any_of(values.begin(), values.end(), [&](double v) { return std::abs(v - wanted) < 1e-12; });
}

// Three σ with two seeds, one fixed encoding, all analyses.
class FigureTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TempFolder("figures");
    write_lst_study(folder_->path() / "lst", {.seeds = 3, .sigmas = {0.1, 0.5, 2.0}, .epochs = 12, .analyses = true});
    write_masked_study(folder_->path() / "fmri", {.tokens = 24, .modules = 3, .brain = true});
    lst_ = new Inputs(inputs_of(folder_->path() / "lst"));
    fmri_ = new Inputs(inputs_of(folder_->path() / "fmri"));
  }
  static void TearDownTestSuite() {
    delete lst_;
    delete fmri_;
    delete folder_;
  }
  static std::vector<double> heldout(const Group& g) { return values_of(*lst_, g, "heldout.accuracy"); }

  static TempFolder* folder_;
  static Inputs* lst_;
  static Inputs* fmri_;
};
TempFolder* FigureTest::folder_ = nullptr;
Inputs* FigureTest::lst_ = nullptr;
Inputs* FigureTest::fmri_ = nullptr;

TEST_F(FigureTest, one_sigma_is_no_axis_its_measures_stand_side_by_side) {
  const TempFolder folder("one_sigma");
  write_lst_study(folder.path(), {.seeds = 1, .sigmas = {0.1}, .fixed = false, .epochs = 5, .analyses = true});
  const Inputs inputs = inputs_of(folder.path());
  const Found<Recovery> found = collect_recovery(inputs);
  ASSERT_TRUE(found.value) << found.missing;
  const Figure figure = draw_recovery(*found.value);
  const std::string& body = figure.variants.at(0).panels.at(0).body;
  EXPECT_EQ(body.find("σ of the initial encoding"), std::string::npos) << body;
  EXPECT_NE(body.find(">untrained<"), std::string::npos) << body;
  const Figure curve = draw_recovery(*collect_recovery(*lst_).value);
  EXPECT_NE(curve.variants.at(0).panels.at(0).body.find("σ of the initial encoding"), std::string::npos);
}

TEST_F(FigureTest, groups_are_settings_that_differ_in_more_than_the_seed) {
  ASSERT_EQ(lst_->groups.size(), 6u);
  EXPECT_EQ(lst_->groups[0].label, "learned σ 0.1");
  EXPECT_EQ(lst_->groups[2].sigma, 2.0);
  for (const Group& g : lst_->groups) EXPECT_EQ(g.runs.size(), 3u) << g.label;
}

TEST_F(FigureTest, accuracy_vs_sigma_shows_every_run_and_every_mean) {
  const AccuracyVsSigma data = *collect_accuracy_vs_sigma(*lst_).value;
  ASSERT_EQ(data.series.size(), 1u);
  ASSERT_EQ(data.series[0].settings.size(), 3u);
  EXPECT_EQ(data.references.size(), 3u);
  const std::vector<double> drawn = drawn_values(draw_accuracy_vs_sigma(data));
  for (const Group& g : lst_->groups) {
    const std::vector<double> values = heldout(g);
    EXPECT_TRUE(holds(drawn, stats::mean(values))) << g.label;
    if (!g.sigma) continue;
    for (const double v : values) EXPECT_TRUE(holds(drawn, v)) << g.label;
    const auto& setting = data.series[0].settings[static_cast<std::size_t>(&g - lst_->groups.data())];
    const stats::Interval interval = stats::mean_interval(values);
    EXPECT_DOUBLE_EQ(setting.mean.lo, interval.lo);
    EXPECT_DOUBLE_EQ(setting.mean.hi, interval.hi);
  }
}

TEST_F(FigureTest, training_curves_average_over_seeds) {
  const TrainingCurves data = *collect_training_curves(*lst_).value;
  ASSERT_EQ(data.views.size(), 3u);
  const auto& view = data.views.back();
  EXPECT_EQ(view.metric, "heldout.accuracy");
  const auto& line = view.lines[0];
  EXPECT_EQ(line.mean.size(), 13u);
  EXPECT_NEAR(line.mean.back().value, stats::mean(heldout(lst_->groups[0])), 1e-12);
  EXPECT_EQ(line.runs.back(), 3u);
  EXPECT_TRUE(holds(drawn_values(draw_training_curves(data)), line.mean.back().value));
}

TEST_F(FigureTest, by_difficulty_keeps_conditions_apart) {
  const ByDifficulty data = *collect_by_difficulty(*lst_).value;
  EXPECT_EQ(data.conditions, (std::vector<std::string>{"binary", "ternary", "quaternary"}));
  const std::vector<double> drawn = drawn_values(draw_by_difficulty(data));
  for (const auto& cell : data.cells) {
    const Group& g = lst_->groups[static_cast<std::size_t>(cell.group)];
    const double mean = stats::mean(values_of(*lst_, g, "heldout.accuracy." + data.conditions[cell.condition]));
    EXPECT_DOUBLE_EQ(cell.mean.value, mean);
    EXPECT_TRUE(holds(drawn, mean));
  }
}

TEST_F(FigureTest, similarity_is_the_cosine_of_the_rows) {
  const Similarity data = *collect_similarity(*lst_).value;
  const Similarity::Model& model = data.models[0];
  ASSERT_EQ(model.layers.size(), 4u);
  const MatrixD table = load_tables(lst_->run(model.run), "final")[1];
  double dot = 0, a = 0, b = 0;
  for (std::ptrdiff_t c = 0; c < table.cols(); ++c) {
    dot += table(2, c) * table(9, c);
    a += table(2, c) * table(2, c);
    b += table(9, c) * table(9, c);
  }
  EXPECT_NEAR(model.layers[1].learned(2, 9), dot / std::sqrt(a * b), 1e-12);
  EXPECT_EQ(model.truths[0].name, "2-D sinusoid");
  EXPECT_GT(model.layers[0].with_truth[0], 0.5) << "the planted code follows the grid";
  const Figure figure = draw_similarity(data);
  EXPECT_NE(figure.csv.find(fmt::format(",2,learned,2,9,{}", shortest(model.layers[1].learned(2, 9)))), std::string::npos);
}

TEST_F(FigureTest, tiles_lie_where_their_tokens_are) {
  const TiledSimilarity data = *collect_tiled_similarity(*lst_).value;
  const MatrixD& cosines = data.models[0].layers[0];
  const MatrixD picture = tile(cosines, data.tokens);
  EXPECT_EQ(picture.rows(), 16);
  EXPECT_DOUBLE_EQ(picture(2 * 4 + 1, 3 * 4 + 0), cosines(2 * 4 + 3, 1 * 4 + 0));
  EXPECT_NEAR(picture(5, 5), 1, 1e-12) << "a token with itself";
}

TEST_F(FigureTest, position_map_fits_a_planted_grid_better_than_its_start) {
  const PositionMap data = *collect_position_map(*lst_).value;
  const PositionMap::Model& model = data.models[0];
  EXPECT_GT(model.learned[0].r, 0.9);
  EXPECT_LT(model.initial[0].r, 0.8);
  EXPECT_EQ(model.truth(7, 0), 3);
  EXPECT_EQ(model.truth(7, 1), -1);
}

TEST_F(FigureTest, recovery_shows_trained_and_untrained) {
  const Recovery data = *collect_recovery(*lst_).value;
  ASSERT_EQ(data.layers.size(), 4u);
  EXPECT_EQ(data.truth, "sinusoid");
  const std::vector<double> drawn = drawn_values(draw_recovery(data));
  for (int g = 0; g < 3; ++g)
    EXPECT_TRUE(holds(drawn, stats::mean(heldout(lst_->groups[static_cast<std::size_t>(g)]))))
        << "r was planted as the accuracy";
  EXPECT_TRUE(holds(drawn, 0.02));
  EXPECT_TRUE(holds(drawn, 1.28)) << "the permutation null";
}

TEST_F(FigureTest, kernel_splits_parameters) {
  const std::vector<double> drawn = drawn_values(draw_kernel(*collect_kernel(*lst_).value));
  const double accuracy = heldout(lst_->groups[0])[1];
  for (const double share : {1.0, 0.7, 0.49}) EXPECT_TRUE(holds(drawn, 0.6 * accuracy * share)) << share;
  EXPECT_TRUE(holds(drawn, 1 - accuracy));
}

TEST_F(FigureTest, agreement_correlates_over_runs) {
  const Agreement data = *collect_agreement(*lst_).value;
  ASSERT_EQ(data.views.size(), 2u);
  EXPECT_EQ(data.views[0].dots.size(), 18u);
  EXPECT_NEAR(data.views[0].over_runs.r, 1, 1e-12) << "planted as a line";
  EXPECT_EQ(data.views[0].over_means.n, 3u);
  EXPECT_NEAR(data.views[0].floor, 0.4, 1e-12);
  EXPECT_NE(draw_agreement(data).variants[0].panels[0].body.find("ρ = 1"), std::string::npos);
}

TEST_F(FigureTest, interventions_average_repeats_and_leave_lesions_out) {
  const Interventions data = *collect_interventions(*lst_).value;
  const auto row = std::find_if(data.rows.begin(), data.rows.end(), [](const auto& r) { return r.kind == "shuffled"; });
  ASSERT_NE(row, data.rows.end());
  EXPECT_NEAR(row->change.value, -0.51, 1e-12);
  EXPECT_EQ(row->runs, 3u);
  EXPECT_EQ(std::count(data.kinds.begin(), data.kinds.end(), "lesion"), 0);
  EXPECT_EQ(std::count(data.kinds.begin(), data.kinds.end(), "halved"), 1);
  EXPECT_EQ(draw_interventions(data).table->rows.size(), data.rows.size());
}

TEST_F(FigureTest, attention_shows_weights_of_the_token_read) {
  const AttentionFigure data = *collect_attention(*lst_).value;
  const AttentionFigure::Model& model = data.models[0];
  EXPECT_EQ(model.read_token, 15);
  ASSERT_EQ(model.examples.size(), 2u);
  EXPECT_EQ(model.examples[0].symbols[5], -1) << "the target";
  const Figure figure = draw_attention(data);
  const auto variant = std::find_if(figure.variants.begin(), figure.variants.end(),
                                    [](const Variant& v) { return v.choices[3].second == "puzzle 1"; });
  ASSERT_NE(variant, figure.variants.end());
  EXPECT_EQ(variant, figure.variants.begin()) << "a puzzle is what a reader sees first";
  ASSERT_EQ(variant->panels.size(), 3u);
  EXPECT_NE(variant->panels[1].body.find("data-value=\"" + shortest(model.examples[0].maps[0](15, 3)) + "\""),
            std::string::npos);
}

TEST_F(FigureTest, modules_and_brain_come_from_networks) {
  const Modules data = *collect_modules(*fmri_).value;
  EXPECT_EQ(data.measures.size(), 4u);
  EXPECT_TRUE(holds(drawn_values(draw_modules(data)), 0.5 * (0.8 - 0.3 * 0.1)));
  const Brain brain = *collect_brain(*fmri_).value;
  EXPECT_EQ(brain.models[0].communities.size(), 4u);
  const Figure figure = draw_brain(brain);
  ASSERT_EQ(figure.variants[0].panels.size(), 6u) << "three planes by network, three by community";
  EXPECT_EQ(figure.variants[0].panels[0].body.find("community"), std::string::npos);
  EXPECT_NE(figure.variants[0].panels[3].body.find("region 1 (network 1), community "), std::string::npos);
  EXPECT_FALSE(collect_brain(*lst_).value.has_value());
  EXPECT_FALSE(collect_modules(*lst_).value.has_value());
}

TEST(SweepTest, heat_map_has_a_cell_for_every_pair_that_was_run) {
  const TempFolder folder("sweep");
  write_sweep_study(folder.path());
  const Inputs inputs = inputs_of(folder.path());
  const SweepHeatmap data = *collect_sweep_heatmap(inputs).value;
  ASSERT_EQ(data.grids.size(), 1u);
  const SweepHeatmap::Grid& grid = data.grids[0];
  EXPECT_EQ(grid.key, "model.width");
  EXPECT_EQ(grid.values, (std::vector<std::string>{"32", "64", "160"}));
  EXPECT_EQ(grid.cells[0][1].runs, 0u);
  EXPECT_EQ(grid.cells[2][0].runs, 2u);
  EXPECT_NEAR(grid.cells[2][0].mean, 0.9 - 0.02 + 0.08 + 0.005, 1e-3);
  EXPECT_TRUE(holds(drawn_values(draw_sweep_heatmap(data)), grid.cells[2][0].mean));
}

TEST(BaselineTest, near_ones_are_drawn_and_all_are_named) {
  const TempFolder folder("baselines");
  for (int seed = 0; seed < 3; ++seed) {
    FakeRun run;
    run.config.study = "masked";
    run.config.model.readout = Readout::kMasked;
    run.config.seed = seed;
    run.final_accuracy = 0.70 + 0.02 * seed;
    run.extra = {{"test.mse_ridge", 0.65}, {"test.mse_zero", 9.0}};
    write_fake_run(folder.path() / std::to_string(seed), run);
  }
  const AccuracyVsSigma data = *collect_accuracy_vs_sigma(inputs_of(folder.path())).value;
  ASSERT_EQ(data.baselines.size(), 2u);
  const Figure figure = draw_accuracy_vs_sigma(data);
  const std::vector<double> drawn = drawn_values(figure);
  EXPECT_TRUE(holds(drawn, 0.65));
  EXPECT_FALSE(holds(drawn, 9.0));
  EXPECT_NE(figure.caption.find("predicting the mean 9"), std::string::npos);
}

TEST(InputsTest, runs_that_scale_the_content_along_are_one_series) {
  const TempFolder folder("control");
  for (const double sigma : {0.1, 1.0, 2.0}) {
    FakeRun run;
    run.config.pe.sigma = sigma;
    write_fake_run(folder.path() / fmt::format("plain{}", sigma), run);
    run.config.model.embed_gain = 5 * sigma;
    write_fake_run(folder.path() / fmt::format("control{}", sigma), run);
  }
  const AccuracyVsSigma data = *collect_accuracy_vs_sigma(inputs_of(folder.path())).value;
  ASSERT_EQ(data.series.size(), 2u);
  EXPECT_EQ(data.series[1].others, "content scaled too");
  EXPECT_EQ(data.series[1].settings.size(), 3u);
}

}  // namespace
}  // namespace locus::report
