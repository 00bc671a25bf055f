// The parts of attention logits: planted parts are found, an untrained model's are what theory says, none is none.
#include "analyze/logits.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analyze/attention_maps.h"
#include "tests/analyze/support.h"

namespace locus {
namespace {

using namespace testing_support;

std::vector<LogitRow> rows_of(const std::vector<std::string>& options,
                              const std::function<void(const AnalysisRun&, std::vector<float>&)>& change = {}) {
  const Dataset data = small_lst();
  const AnalysisRun run = make_analysis_run(config_of(options), data);
  std::vector<float> params = initial_params(run, 3);
  if (change) change(run, params);
  return logit_rows(*run.structure, params.data(), data.split("train"));
}

// Xavier's in-projection gives logits of standard deviation (position^2 + content^2) / 2, whatever width and heads: by
// parts position^2 / 2, position content / 2 twice, content^2 / 2. Here over all pairs of many channels.
TEST(LogitsTest, an_untrained_model_spreads_as_theory_says) {
  for (const char* heads : {"model.heads=1", "model.heads=4"}) {
    for (const double sigma : {0.2, 2.0}) {
      const auto rows =
          rows_of({"model.layers=2", "model.width=256", "model.mlp_width=32", heads, "pe.sigma=" + std::to_string(sigma)});
      ASSERT_EQ(rows.size(), 3u);
      const LogitRow& second = rows[1];  // behind a layer norm
      EXPECT_NEAR(second.content_rms, 1.0, 0.01);
      EXPECT_NEAR(second.position_rms, sigma, 0.05 * sigma);
      EXPECT_NEAR(second.position_position, sigma * sigma / 2, 0.15 * sigma * sigma / 2);
      EXPECT_NEAR(second.all_pairs, (sigma * sigma + 1) / 2, 0.25 * (sigma * sigma + 1) / 2);
      EXPECT_EQ(rows[2].layer, -1);
      EXPECT_DOUBLE_EQ(rows[2].total, (rows[0].total + rows[1].total) / 2);
    }
  }
}

TEST(LogitsTest, the_position_part_grows_with_the_square_of_the_table) {
  const std::vector<std::string> base = {"model.layers=1", "model.width=16", "model.mlp_width=32"};
  const auto with = [&](const char* sigma, const char* more) {
    std::vector<std::string> all = base;
    all.insert(all.end(), {std::string("pe.sigma=") + sigma, more});
    return rows_of(all)[0];
  };
  const LogitRow small = with("0.2", "model.logit_scale=1");
  const LogitRow large = with("2", "model.logit_scale=1");
  EXPECT_NEAR(large.position_position / small.position_position, 100, 1e-3);
  EXPECT_NEAR(large.position_content / small.position_content, 10, 1e-3);
  EXPECT_NEAR(large.content_content / small.content_content, 1, 1e-4);
  EXPECT_LT(large.entropy, small.entropy);
  const LogitRow cooled = with("2", "model.logit_scale=0.25");
  EXPECT_NEAR(cooled.total, large.total / 4, 1e-6);
  const LogitRow alone = with("2", "model.position_logit_scale=0.01");
  EXPECT_NEAR(alone.position_position, small.position_position, 1e-4 * small.position_position);
  EXPECT_NEAR(alone.content_position, large.content_position, 1e-6);
}

// The sum of the parts must be what the engine's softmax sees: entropy from its own patterns.
TEST(LogitsTest, entropy_is_that_of_the_engine_s_attention) {
  const Dataset data = small_lst();
  for (const char* scale : {"model.position_logit_scale=1", "model.position_logit_scale=0.2"}) {
    const AnalysisRun run = memory_run(
        config_of({"model.layers=2", "model.width=16", "model.mlp_width=32", "model.heads=2", "pe.sigma=1.5", scale}), data,
        0.2);
    const Examples& examples = data.split("train");
    const AnalysisModel& model = run.require_trained();
    const AttentionMaps maps = attention_maps(run, model, examples, 0);
    const auto rows = logit_rows(*run.structure, model.params.data(), examples);
    for (std::size_t l = 0; l < 2; ++l) {
      const double engine = (maps.entropy[2 * l] + maps.entropy[2 * l + 1]) / 2 / std::log(16.0);
      EXPECT_NEAR(rows[l].entropy, engine, 1e-5) << scale;
    }
  }
}

TEST(LogitsTest, without_positions_all_is_content) {
  const LogitRow row = rows_of({"model.layers=1", "model.width=16", "model.mlp_width=32", "pe.kind=none"})[0];
  EXPECT_EQ(row.position_position, 0);
  EXPECT_EQ(row.position_content, 0);
  EXPECT_DOUBLE_EQ(row.total, row.content_content);
}

TEST(LogitsTest, what_has_no_parts_is_refused) {
  EXPECT_NE(error_of([] { rows_of({"pe.kind=rotary", "model.width=16"}); }).find("rotary"), std::string::npos);
  EXPECT_NE(error_of([] { rows_of({"model.norm=pre", "model.width=16"}); }).find("model.norm"), std::string::npos);
}

TEST(LogitsTest, the_analysis_gives_the_untrained_and_the_trained_model_and_reads_back) {
  const Dataset data = small_lst();
  const AnalysisRun run = memory_run(tiny_lst_config(), data);
  const LogitResult result = analyze_logits(run, data, quick_settings());
  EXPECT_EQ(result.split, "heldout");
  ASSERT_EQ(result.rows.size(), 6u);
  EXPECT_EQ(result.rows.front().model, "init");
  EXPECT_EQ(result.rows.back().model, "final");
  const LogitResult again = result_from_json<LogitResult>(Json::parse(to_json(result).dump()));
  EXPECT_EQ(to_json(again).dump(), to_json(result).dump());
}

}  // namespace
}  // namespace locus
