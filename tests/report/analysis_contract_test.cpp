// The report reads analysis files by the names of their fields: what analyses write must be what figures find.
#include <gtest/gtest.h>

#include "analyze/results/attention.h"
#include "analyze/results/interventions.h"
#include "analyze/results/kernel.h"
#include "analyze/results/movement.h"
#include "analyze/results/networks.h"
#include "analyze/results/recovery.h"
#include "report/figures/agreement.h"
#include "report/figures/interventions.h"
#include "report/figures/kernel.h"
#include "report/figures/modules.h"
#include "report/figures/recovery.h"
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
    inputs_ = make_inputs(load_runs(find_run_paths(dirs)));
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

TEST_F(AnalysisContractTest, agreement_is_found) {
  EXPECT_DOUBLE_EQ(collect_agreement(inputs_).value.value().views.at(0).dots.at(0).x, 0.41);
}

TEST_F(AnalysisContractTest, interventions_are_found) {
  const Interventions data = collect_interventions(inputs_).value.value();
  ASSERT_EQ(data.rows.size(), 1u);
  EXPECT_DOUBLE_EQ(data.rows[0].after.value, 0.51);
  EXPECT_DOUBLE_EQ(data.rows[0].change.value, -0.39);
}

}  // namespace
}  // namespace locus::report
