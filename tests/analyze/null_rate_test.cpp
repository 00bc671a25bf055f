// Where there is nothing to find, tests of analyses are significant at 5 % about as often as they should be.
#include "analyze/networks.h"
#include "analyze/recovery.h"
#include "tests/analyze/support.h"
#include "tests/stats/planted.h"

namespace locus {
namespace {

using namespace testing_support;

constexpr int kRepeats = 1000;

AnalysisRun random_run(const RunConfig& config, const Dataset& data, std::uint64_t seed) {
  AnalysisRun run = make_analysis_run(config, data);
  std::vector<float> p(static_cast<std::size_t>(run.structure->layout.floats()));
  set_code(run, 0, stats::planted_noise(data.tokens, config.model.width, seed), p);
  add_model(run, "final", p);
  return run;
}

TEST(NullRateTest, of_recovery_is_five_percent_within_two) {
  const Dataset data = small_lst();
  const RunConfig config = config_of({"model.layers=1", "model.width=12", "model.mlp_width=4"});
  AnalyzeSettings settings;
  settings.permutations = 99;
  int mantel = 0, procrustes = 0, readout = 0;
  for (int i = 0; i < kRepeats; ++i) {
    settings.seed = static_cast<std::uint64_t>(i);
    const RecoveryResult r = analyze_recovery(random_run(config, data, 5000 + static_cast<std::uint64_t>(i)), settings);
    for (const TruthRow& row : r.truths) {
      mantel += row.truth == "grid_distance" && row.code == "raw" && row.mantel_p <= 0.05 ? 1 : 0;
    }
    procrustes += r.layers[0].procrustes_p <= 0.05 ? 1 : 0;
    readout += r.layers[0].readout_p <= 0.05 ? 1 : 0;
  }
  for (const int count : {mantel, procrustes, readout}) {
    EXPECT_GE(count, 30);
    EXPECT_LE(count, 70);
  }
}

TEST(NullRateTest, of_networks_is_five_percent_within_two) {
  const Dataset data = small_masked(20, 4);
  const RunConfig config = tiny_masked_config({"model.layers=1", "model.width=12"});
  AnalyzeSettings settings;
  settings.permutations = 99;
  settings.community_starts = 2;
  int q = 0, difference = 0;
  for (int i = 0; i < kRepeats; ++i) {
    settings.seed = static_cast<std::uint64_t>(i);
    const NetworkResult r = analyze_networks(random_run(config, data, 9000 + static_cast<std::uint64_t>(i)), settings);
    q += r.rows[0].q_signed_p <= 0.05 ? 1 : 0;
    difference += r.rows[0].difference_p <= 0.05 ? 1 : 0;
  }
  for (const int count : {q, difference}) {
    EXPECT_GE(count, 30);
    EXPECT_LE(count, 70);
  }
}

}  // namespace
}  // namespace locus
