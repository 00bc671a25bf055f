// The report reads analysis files by the names of their fields: what analyses write must be what figures find.
#include <gtest/gtest.h>

#include "analyze/results/attention.h"
#include "analyze/results/identifiability.h"
#include "analyze/results/interventions.h"
#include "analyze/results/kernel.h"
#include "analyze/results/logits.h"
#include "analyze/results/movement.h"
#include "analyze/results/networks.h"
#include "analyze/results/recovery.h"
#include "analyze/results/relations.h"
#include "analyze/results/reliability.h"
#include "report/figures/agreement.h"
#include "report/figures/identifiability.h"
#include "report/figures/interventions.h"
#include "report/figures/kernel.h"
#include "report/figures/logits.h"
#include "report/figures/modules.h"
#include "report/figures/recovery.h"
#include "report/figures/relations.h"
#include "report/figures/reliability.h"
#include "tests/support/fake_run.h"

namespace locus::report {
namespace {

using namespace testing_support;

template <class Result>
void write_result(const fs::path& run, const std::string& name, const Result& result) {
  write_text(run / "analysis" / (name + ".json"), to_json(result).dump());
}

// One run with one analysis of each kind, every number another one.
class AnalysisContractTest : public ::testing::Test {
 protected:
  AnalysisContractTest() : folder_("contract") {
    const fs::path run = folder_.path() / "run";
    write_fake_run(run, FakeRun{});
    RecoveryResult recovery;
    recovery.truths.push_back(
        {.model = "final", .layer = 0, .code = "raw", .similarity = "cosine", .truth = "sinusoid", .pearson = 0.11});
    RecoveryRow row;
    row.model = "final";
    row.procrustes_matched = 0.12;
    row.procrustes_null = 0.13;
    row.readout_r2 = 0.14;
    row.label_accuracy = 0.15;
    recovery.layers.push_back(row);
    write_result(run, "recovery", recovery);
    NetworkResult networks;
    networks.rows.push_back({.model = "final",
                             .code = "centred",
                             .q_signed = 0.21,
                             .q_signed_p = 0.04,
                             .difference = 0.22,
                             .segregation = 0.23,
                             .adjusted_rand = 0.24});
    write_result(run, "networks", networks);
    KernelResult kernel;
    for (const char* part : {"all", "pe", "rest"})
      kernel.kernels.push_back({.model = "final", .part = part, .change = 0.31, .alignment = 0.32});
    kernel.taylor.push_back({.model = "final", .r2 = 0.33});
    write_result(run, "kernel", kernel);
    MovementResult movement;
    for (const char* part : {"all", "pe", "rest"})
      movement.rows.push_back({.model = "final", .level = "part", .name = part, .relative = 0.34});
    write_result(run, "movement", movement);
    LogitResult logits;
    logits.rows.push_back({.model = "final", .layer = -1, .position_position = 0.35, .total = 0.36, .entropy = 0.37});
    write_result(run, "logits", logits);
    AttentionResult attention;
    attention.agreement.push_back(
        {.model = "final", .map = "mean", .form = "plain", .reference = "example", .cosine = 0.41});
    write_result(run, "attention", attention);
    InterventionResult interventions;
    interventions.measure = "accuracy";
    InterventionRow change;
    change.kind = "shuffled";
    change.split = "heldout";
    change.accuracy = 0.51;
    change.change = -0.39;
    interventions.rows.push_back(change);
    write_result(run, "interventions", interventions);
    const std::vector<std::string> dirs = {folder_.path().string()};
    write_group_results(run);
    inputs_ = make_inputs(load_runs(find_run_paths(dirs)));
    inputs_.group_analyses = load_group_analyses(dirs, inputs_.warnings);
  }

  void write_group_results(const fs::path& run) {
    IdentifiabilityResult identifiability;
    identifiability.runs = {(run / ".").string(), (folder_.path() / "elsewhere").string()};
    for (const char* model : {"init", "final"}) {
      const double value = std::string(model) == "init" ? 0.61 : 0.62;
      identifiability.pairs.push_back({.comparison = "seeds",
                                       .run_b = 1,
                                       .model_a = model,
                                       .model_b = model,
                                       .cosine_pearson = value,
                                       .procrustes_matched = value + 0.02});
    }
    identifiability.pairs.push_back(
        {.comparison = "settings", .run_b = 1, .model_a = "final", .model_b = "final", .cosine_pearson = 0.69});
    identifiability.summary.push_back({.comparison = "seeds",
                                       .setting = "pe.sigma=0.2",
                                       .model = "final",
                                       .pairs = 1,
                                       .cosine_pearson = 0.62,
                                       .centred_pearson = 0.66,
                                       .procrustes_matched = 0.64,
                                       .cka = 0.67});
    write_result(folder_.path(), "identifiability", identifiability);
    ReliabilityResult reliability;
    reliability.rows.push_back({.setting = "same",
                                .code = "change",
                                .comparison = "halves",
                                .pairs = 2,
                                .agreement = 0.71,
                                .low = 0.65,
                                .high = 0.75,
                                .whole = 0.83,
                                .shuffled = 0.05});
    reliability.regions.push_back({.setting = "same", .token = 0, .name = "far", .halves = 0.2, .low = 0.1, .high = 0.3});
    reliability.regions.push_back({.setting = "same", .token = 1, .name = "near", .halves = 0.9, .low = 0.8, .high = 0.95});
    write_result(folder_.path(), "reliability", reliability);
    RelationResult relations;
    relations.relations.push_back({.measure = "weak", .outcome = "heldout.accuracy", .runs = 9, .spearman = 0.1, .p = 0.6});
    relations.relations.push_back({.measure = "strong",
                                   .outcome = "heldout.accuracy",
                                   .runs = 9,
                                   .spearman = -0.9,
                                   .p = 0.01,
                                   .low = -0.95,
                                   .high = -0.7,
                                   .spearman_given_sigma = -0.3,
                                   .sigmas = 3,
                                   .spearman_sigma = -1,
                                   .spearman_within = -0.2});
    relations.relations.push_back({.measure = "absent", .outcome = "heldout.accuracy"});
    write_result(folder_.path(), "relations", relations);
  }

  TempFolder folder_;
  Inputs inputs_;
};

std::vector<double> means(const std::vector<SigmaPanel>& panels) {
  std::vector<double> out;
  for (const SigmaPanel& panel : panels) {
    for (const SigmaLine& line : panel.lines) {
      for (const auto& s : line.settings) out.push_back(s.mean.value);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

TEST_F(AnalysisContractTest, recovery_is_found) {
  EXPECT_EQ(means(collect_recovery(inputs_).value.value().layers.at(0)),
            (std::vector<double>{0.11, 0.12, 0.13, 0.14, 0.15}));
}

TEST_F(AnalysisContractTest, networks_are_found) {
  const Modules data = collect_modules(inputs_).value.value();
  ASSERT_EQ(data.layers.at(0).bars.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_DOUBLE_EQ(data.layers[0].bars[i].mean.value, 0.21 + 0.01 * static_cast<double>(i));
  EXPECT_DOUBLE_EQ(data.layers[0].bars[0].p, 0.04);
}

TEST_F(AnalysisContractTest, kernel_and_movement_are_found) {
  EXPECT_EQ(means(collect_kernel(inputs_).value.value().panels), (std::vector<double>{0.31, 0.32, 0.33, 0.34}));
}

TEST_F(AnalysisContractTest, logits_are_found) {
  const LogitSpread data = collect_logits(inputs_).value.value();
  ASSERT_EQ(data.views.size(), 1u);
  EXPECT_EQ(means(data.views[0].panels), (std::vector<double>{0.35, 0.36, 0.37}));
  EXPECT_NE(draw_logits(data).csv.find("trained,Spread of the logits,position with position,"), std::string::npos);
}

TEST_F(AnalysisContractTest, a_result_of_other_types_is_a_problem_of_its_run_only) {
  const fs::path run = folder_.path() / "run";
  write_text(run / "analysis" / "recovery.json", R"({"layers": [{"model": "final", "layer": "first"}]})");
  const auto runs = load_runs(find_run_paths(std::vector<std::string>{folder_.path().string()}));
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(find_result<RecoveryResult>(runs[0].analyses), nullptr);
  EXPECT_NE(find_result<NetworkResult>(runs[0].analyses), nullptr);
  const bool told = std::any_of(runs[0].problems.begin(), runs[0].problems.end(), [](const std::string& problem) {
    return problem.find("analysis/recovery.json") != std::string::npos;
  });
  EXPECT_TRUE(told);
}

TEST_F(AnalysisContractTest, agreement_is_found) {
  EXPECT_DOUBLE_EQ(collect_agreement(inputs_).value.value().views.at(0).dots.at(0).x, 0.41);
}

TEST_F(AnalysisContractTest, interventions_are_found) {
  const Interventions data = collect_interventions(inputs_).value.value();
  ASSERT_EQ(data.rows.size(), 1u);
  EXPECT_DOUBLE_EQ(data.rows[0].after.value, 0.51);
  EXPECT_DOUBLE_EQ(data.rows[0].change.value, -0.39);
}

TEST_F(AnalysisContractTest, identifiability_is_found) {
  const Identifiability data = collect_identifiability(inputs_).value.value();
  EXPECT_EQ(means(data.layers.at(0)), (std::vector<double>{0.61, 0.62, 0.63, 0.64}));
  ASSERT_EQ(data.rows.size(), 1u);
  EXPECT_EQ(csv_identifiability(data).substr(csv_identifiability(data).find('\n') + 1),
            "seeds,pe.sigma=0.2,final,1,1,0.62,0.66,0.64,0.67\n");
  const Figure figure = draw_identifiability(data);
  EXPECT_NE(figure.variants.at(0).panels.at(0).body.find("data-value=\"0.62\""), std::string::npos);
  EXPECT_EQ(figure.table.value().sort_keys.at(0).back(), 0.67);
}

TEST_F(AnalysisContractTest, reliability_is_found_with_the_best_region_first) {
  const Reliability data = collect_reliability(inputs_).value.value();
  EXPECT_EQ(data.regions.front().name, "near");
  EXPECT_EQ(csv_reliability(data).substr(csv_reliability(data).find('\n') + 1),
            "same,1,change,halves,2,0.71,0.65,0.75,0.83,0.05\n");
  const Figure figure = draw_reliability(data);
  ASSERT_EQ(figure.variants.at(0).panels.size(), 2u);
  EXPECT_NE(figure.variants[0].panels[0].body.find("data-value=\"0.71\""), std::string::npos);
  EXPECT_NE(figure.variants[0].panels[1].body.find("near: 0.90 (0.80 to 0.95)"), std::string::npos);
  inputs_.group_analyses.erase("reliability");
  EXPECT_NE(collect_reliability(inputs_).missing.find("two halves of the people"), std::string::npos);
}

TEST_F(AnalysisContractTest, relations_are_found_strongest_first_and_corrected) {
  const Relations data = collect_relations(inputs_).value.value();
  ASSERT_EQ(data.rows.size(), 2u) << "a measure without a correlation has no row";
  EXPECT_EQ(data.rows[0].measure, "strong");
  EXPECT_DOUBLE_EQ(data.rows[0].adjusted, 0.02) << "two measures were looked at";
  EXPECT_DOUBLE_EQ(data.rows[1].adjusted, 0.6);
  EXPECT_EQ(csv_relations(data)
                .substr(csv_relations(data).find('\n') + 1)
                .find("strong,heldout.accuracy,9,-0.9,-0.95,-0.7,0.01,0.02,3,-1,-0.2,-0.3\n"),
            0u);
  EXPECT_NE(draw_relations(data).caption.find("1 of 2 measures hold"), std::string::npos);
}

}  // namespace
}  // namespace locus::report
