// Planted grids, rings and modules are found, noise is not, and scores fall with noise as they should.
#include "analyze/recovery.h"

#include <fmt/core.h>

#include "analyze/networks.h"
#include "tests/analyze/support.h"
#include "tests/stats/planted.h"

namespace locus {
namespace {

using namespace testing_support;

constexpr double kPi = 3.14159265358979323846;

AnalysisRun planted_run(const Dataset& dataset, const RunConfig& config, const MatrixD& code) {
  AnalysisRun run = make_analysis_run(config, dataset);
  std::vector<float> start = initial_params(run, 3);
  add_model(run, "init", start);
  for (const std::int64_t layer : code_layers(run)) set_code(run, layer, code, start);
  add_model(run, "final", start);
  return run;
}

const RecoveryRow& layer_row(const RecoveryResult& r, const std::string& model, std::int64_t layer = 0) {
  for (const RecoveryRow& row : r.layers) {
    if (row.model == model && row.layer == layer) return row;
  }
  throw std::runtime_error("no such row");
}

const TruthRow& truth_row(const RecoveryResult& r, const std::string& model, const std::string& code,
                          const std::string& similarity, const std::string& truth) {
  for (const TruthRow& row : r.truths) {
    if (row.model == model && row.layer == 0 && row.code == code && row.similarity == similarity && row.truth == truth)
      return row;
  }
  throw std::runtime_error("no such row");
}

TEST(RecoveryTest, finds_a_planted_grid_and_not_the_random_start) {
  const MatrixD code = stats::planted_code(stats::planted_grid(4), 16, 0.05, 1);
  const RecoveryResult r = analyze_recovery(planted_run(small_lst(), tiny_lst_config(), code), quick_settings());
  const RecoveryRow& end = layer_row(r, "final");
  EXPECT_GT(end.readout_r2, 0.95);
  EXPECT_EQ(end.readout_r2_axes.size(), 2u);
  EXPECT_LE(end.readout_p, 0.02);
  EXPECT_NEAR(end.effective_dimension, 2, 0.5);
  EXPECT_GT(end.map_mds_r2, 0.9);
  EXPECT_GT(truth_row(r, "final", "raw", "distance", "grid_distance").pearson, 0.9);
  EXPECT_LE(truth_row(r, "final", "centred", "cosine", "grid_distance").mantel_p, 0.02);
  EXPECT_LT(layer_row(r, "init").readout_r2, 0.5);
  EXPECT_GT(layer_row(r, "init").effective_dimension, 5);
  EXPECT_GT(end.movement, 0);
  EXPECT_EQ(r.layers.size(), 4u);  // two models, two layers
}

TEST(RecoveryTest, gives_the_true_sinusoid_its_exact_scores) {
  const AnalysisRun bare = make_analysis_run(tiny_lst_config(), small_lst());
  const RecoveryResult r =
      analyze_recovery(planted_run(small_lst(), tiny_lst_config(), true_sinusoid(bare)), quick_settings());
  EXPECT_NEAR(truth_row(r, "final", "raw", "cosine", "sinusoid").pearson, 1, 1e-6);
  EXPECT_NEAR(layer_row(r, "final").procrustes, 0, 1e-4);
  EXPECT_NEAR(layer_row(r, "final").procrustes_matched, 0, 1e-4);
  EXPECT_LE(layer_row(r, "final").procrustes_p, 0.011);
  EXPECT_LT(layer_row(r, "final").procrustes_matched_change, -0.3);
  EXPECT_NEAR(layer_row(r, "final").procrustes_change, -layer_row(r, "init").procrustes, 1e-4);
}

TEST(RecoveryTest, scores_fall_as_noise_grows) {
  double last = 2;
  for (const double noise : {0.05, 1.0, 3.0, 20.0}) {
    const MatrixD code = stats::planted_code(stats::planted_grid(4), 16, noise, 7);
    const RecoveryResult r = analyze_recovery(planted_run(small_lst(), tiny_lst_config(), code), quick_settings());
    const double score = truth_row(r, "final", "raw", "distance", "grid_distance").pearson;
    EXPECT_LT(score, last) << noise;
    last = score;
  }
  EXPECT_LT(last, 0.35);
}

TEST(RecoveryTest, raw_procrustes_distance_follows_the_scale_and_the_matched_one_does_not) {
  const MatrixD code = stats::planted_noise(16, 16, 4);
  MatrixD large = code;
  for (double& v : large.values()) v *= 10;
  const RecoveryResult a = analyze_recovery(planted_run(small_lst(), tiny_lst_config(), code), quick_settings());
  const RecoveryResult b = analyze_recovery(planted_run(small_lst(), tiny_lst_config(), large), quick_settings());
  EXPECT_GT(layer_row(b, "final").procrustes, 2 * layer_row(a, "final").procrustes);
  EXPECT_NEAR(layer_row(b, "final").procrustes_matched, layer_row(a, "final").procrustes_matched, 1e-5);
}

TEST(RecoveryTest, finds_a_planted_ring_from_coordinates) {
  Dataset data = small_masked(20, 4);
  data.tokens_info.coordinates = MatrixD(20, 2);
  MatrixD code = stats::planted_noise(20, 16, 9);
  const MatrixD mix = stats::planted_noise(2, 16, 10);
  for (std::int64_t t = 0; t < 20; ++t) {
    const double angle = 2 * kPi * static_cast<double>(t) / 20;
    data.tokens_info.coordinates(t, 0) = std::cos(angle);
    data.tokens_info.coordinates(t, 1) = std::sin(angle);
    for (std::int64_t c = 0; c < 16; ++c) {
      code(t, c) = 0.05 * code(t, c) + std::cos(angle) * mix(0, c) + std::sin(angle) * mix(1, c);
    }
  }
  const RecoveryResult r = analyze_recovery(planted_run(data, tiny_masked_config(), code), quick_settings());
  EXPECT_GT(layer_row(r, "final").readout_r2, 0.95);
  EXPECT_GT(layer_row(r, "final").map_mds_r2, 0.8);
  EXPECT_NEAR(layer_row(r, "final").effective_dimension, 2, 0.3);
  EXPECT_TRUE(std::isnan(layer_row(r, "final").procrustes));  // no grid, no sinusoid to compare with
  EXPECT_GT(truth_row(r, "final", "raw", "distance", "distance").pearson, 0.8);
}

TEST(RecoveryTest, compares_homologous_regions_across_hemispheres) {
  Dataset data = small_masked(20, 4);
  MatrixD code = stats::planted_noise(20, 16, 12);
  for (std::int64_t t = 0; t < 20; ++t) {
    data.tokens_info.hemispheres.push_back(t < 10 ? 0 : 1);
    data.tokens_info.names.push_back((t < 10 ? "L_area" : "R_area") + std::to_string((t * 7) % 10));
  }
  for (std::int64_t t = 10; t < 20; ++t) {
    for (std::int64_t c = 0; c < 16; ++c) code(t, c) = code(t - 10, c) + 0.1 * code(t, c);
  }
  const RecoveryResult r = analyze_recovery(planted_run(data, tiny_masked_config(), code), quick_settings());
  EXPECT_GT(layer_row(r, "final").homotopic, 0.9);
  EXPECT_LT(std::abs(layer_row(r, "final").homotopic_other), 0.2);
  EXPECT_LE(layer_row(r, "final").homotopic_p, 0.02);
  EXPECT_GT(layer_row(r, "init").homotopic_p, 0.02);
}

TEST(RecoveryTest, says_which_encodings_have_no_table) {
  const AnalysisRun run = memory_run(tiny_lst_config({"pe.kind=rotary"}), small_lst());
  const std::string message = error_of([&] { analyze_recovery(run, quick_settings()); });
  EXPECT_NE(message.find("adds no table"), std::string::npos) << message;
  EXPECT_NE(message.find("pe.kind=rotary"), std::string::npos);
}

TEST(RecoveryTest, survives_a_zero_start) {
  const AnalysisRun run = memory_run(tiny_lst_config({"pe.init=zero"}), small_lst());
  const RecoveryResult r = analyze_recovery(run, quick_settings());
  EXPECT_EQ(layer_row(r, "init").norm, 0);
  EXPECT_GT(layer_row(r, "final").norm, 0);
}

MatrixD module_code(std::int64_t tokens, std::int64_t modules, double noise, std::uint64_t seed = 22) {
  const MatrixD centre = stats::planted_noise(modules, 64, 21);
  MatrixD code = stats::planted_noise(tokens, 64, seed);
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t c = 0; c < 64; ++c) code(t, c) = centre(t % modules, c) + noise * code(t, c);
  }
  return code;
}

const NetworkRow& trained_row(const NetworkResult& r, std::int64_t layer, const std::string& code) {
  for (const NetworkRow& row : r.rows) {
    if (row.model == "final" && row.layer == layer && row.code == code) return row;
  }
  throw std::runtime_error("no such row");
}

TEST(NetworksTest, finds_planted_modules_with_the_cosine_theory_gives) {
  const RunConfig config = tiny_masked_config({"model.width=64"});
  for (const double noise : {0.5, 1.0}) {
    const NetworkResult r =
        analyze_networks(planted_run(small_masked(40, 4), config, module_code(40, 4, noise)), quick_settings());
    const NetworkRow& row = trained_row(r, 0, "raw");
    EXPECT_NEAR(row.within, 1 / (1 + noise * noise), 0.08);
    EXPECT_NEAR(row.between, 0, 0.12);
    EXPECT_NEAR(row.difference, row.within - row.between, 1e-12);
    EXPECT_EQ(row.adjusted_rand, 1);
    EXPECT_EQ(row.communities, 4);
    EXPECT_LE(row.q_signed_p, 0.02);
    EXPECT_GT(row.q_positive, 0.3);
    EXPECT_TRUE(std::isnan(row.surrogate_p));
  }
}

// Each layer's code hides the modules in much noise of its own; together they show them.
TEST(NetworksTest, layers_side_by_side_show_what_each_alone_hides) {
  const RunConfig config = tiny_masked_config({"model.width=64", "model.layers=4"});
  AnalysisRun run = make_analysis_run(config, small_masked(40, 4));
  std::vector<float> params = initial_params(run, 3);
  for (const std::int64_t layer : code_layers(run)) {
    set_code(run, layer, module_code(40, 4, 3.5, 30 + static_cast<std::uint64_t>(layer)), params);
  }
  add_model(run, "final", params);
  const NetworkResult r = analyze_networks(run, quick_settings());
  const NetworkRow& all = trained_row(r, -1, "centred");
  for (std::int64_t layer = 0; layer < 4; ++layer) {
    const NetworkRow& alone = trained_row(r, layer, "centred");
    EXPECT_LT(alone.adjusted_rand, 0.9);
    EXPECT_GT(all.q_signed, alone.q_signed);
  }
  EXPECT_EQ(all.adjusted_rand, 1);
}

TEST(NetworksTest, says_how_well_the_data_themselves_show_the_labels) {
  Dataset data = small_masked(40, 4);
  const MatrixD code = module_code(40, 4, 0.5);
  data.tokens_info.truths.clear();
  data.tokens_info.truths["correlation"] = stats::cosine_similarity(code.view());
  MatrixD directed = data.tokens_info.truths["correlation"];
  directed(0, 1) += 1;
  data.tokens_info.truths["W"] = directed;
  const NetworkResult r = analyze_networks(memory_run(tiny_masked_config({"model.width=64"}), data, 0), quick_settings());
  ASSERT_EQ(r.data.size(), 1U);
  EXPECT_EQ(r.data[0].matrix, "correlation");
  EXPECT_EQ(r.data[0].communities, 4);
  EXPECT_EQ(r.data[0].adjusted_rand, 1);
  EXPECT_LT(r.rows[0].adjusted_rand, 0.2);  // the encoding is noise
}

TEST(NetworksTest, finds_nothing_in_random_positions) {
  const NetworkResult r =
      analyze_networks(memory_run(tiny_masked_config({"model.width=64"}), small_masked(40, 4), 0), quick_settings());
  EXPECT_LT(std::abs(r.rows[0].q_signed), 0.05);
  EXPECT_LT(r.rows[0].adjusted_rand, 0.2);
  EXPECT_TRUE(std::isnan(r.rows[0].segregation));  // within is near 0
}

TEST(NetworksTest, uses_surrogates_where_coordinates_are_known) {
  Dataset data = small_masked(40, 4);
  data.tokens_info.coordinates = stats::planted_noise(40, 3, 2);
  const NetworkResult r =
      analyze_networks(planted_run(data, tiny_masked_config({"model.width=64"}), module_code(40, 4, 1.0)), quick_settings());
  EXPECT_LE(trained_row(r, 0, "raw").surrogate_p, 0.1);
  EXPECT_EQ(trained_row(r, 0, "raw").surrogates, 19);
}

TEST(NetworksTest, says_that_labels_are_missing_and_how_to_get_them) {
  const std::string lst = error_of([&] { analyze_networks(memory_run(tiny_lst_config(), small_lst()), quick_settings()); });
  EXPECT_NE(lst.find("no labels"), std::string::npos) << lst;
  EXPECT_NE(lst.find("recovery"), std::string::npos);
  Dataset bare = small_masked();
  bare.tokens_info.labels.clear();
  RunConfig config = tiny_masked_config();
  for (const auto& [source, key] : {std::pair{SeriesSource::kFiles, "series.atlas"}, {SeriesSource::kNmar, "nmar.sizes"}}) {
    config.series.source = source;
    const std::string masked = error_of([&] { analyze_networks(memory_run(config, bare), quick_settings()); });
    EXPECT_NE(masked.find(key), std::string::npos) << masked;
  }
}

// The code's own cosines as a file, its rows in another order than its columns: matched by name the correlation is 1.
TEST(RecoveryTest, takes_a_matrix_from_a_file_as_a_further_truth) {
  const fs::path file = fs::path(testing::TempDir()) / fmt::format("locus_truth_{}.csv", ::getpid());
  Dataset data = small_masked();
  for (std::int64_t t = 0; t < data.tokens; ++t) data.tokens_info.names.push_back(fmt::format("Region {}", t));
  const MatrixD code = stats::planted_code(stats::planted_grid(5), 16, 0.3, 1);
  MatrixD rows(data.tokens, code.cols());
  for (std::int64_t t = 0; t < data.tokens; ++t) std::copy_n(code.row(t).begin(), code.cols(), rows.row(t).begin());
  AnalysisRun run = planted_run(data, config_of({"study=masked", "model.width=16", "model.layers=1"}), rows);
  const MatrixD cosine = stats::cosine_similarity(rows.view());
  {
    std::ofstream out(file);
    out << "name";
    for (std::int64_t t = 0; t < run.tokens(); ++t) out << "," << run.info.names[static_cast<std::size_t>(t)];
    for (std::int64_t t = run.tokens() - 1; t >= 0; --t) {
      out << "\n" << run.info.names[static_cast<std::size_t>(t)];
      for (std::int64_t u = 0; u < run.tokens(); ++u) out << fmt::format(",{}", cosine(t, u));
    }
    out << "\n";
  }
  add_truths(run, {"published=" + file.string()});
  const RecoveryResult r = analyze_recovery(run, quick_settings());
  EXPECT_NEAR(truth_row(r, "final", "raw", "cosine", "published").pearson, 1, 1e-6);
  EXPECT_THROW(add_truths(run, {file.string()}), ConfigError);
  EXPECT_THROW(add_truths(run, {"x=" + file.string() + ".missing"}), IoError);
  run.info.names.front() = "elsewhere";
  EXPECT_THROW(add_truths(run, {"published=" + file.string()}), ConfigError) << "there is one of this name";
  EXPECT_THROW(add_truths(run, {"other=" + file.string()}), DataError);
  fs::remove(file);
}

}  // namespace
}  // namespace locus
