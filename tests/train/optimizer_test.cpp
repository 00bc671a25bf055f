// Which tensor gets what, the schedules, and what is left alone.
#include "train/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace locus {
namespace {

TEST(PatternTest, stars_and_question_marks_match_as_in_a_shell) {
  EXPECT_TRUE(matches_pattern("*pe.*", "blocks.0.pe.table"));
  EXPECT_TRUE(matches_pattern("*pe.*", "pe.table"));
  EXPECT_FALSE(matches_pattern("*pe.*", "blocks.0.mlp.0.weight"));
  EXPECT_TRUE(matches_pattern("*norm*", "blocks.3.norm2.bias"));
  EXPECT_TRUE(matches_pattern("blocks.?.attn.*", "blocks.1.attn.in_proj_bias"));
  EXPECT_FALSE(matches_pattern("blocks.?.attn.*", "blocks.10.attn.in_proj_bias"));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_FALSE(matches_pattern("", "a"));
  EXPECT_TRUE(matches_pattern("head.weight", "head.weight"));
  EXPECT_FALSE(matches_pattern("head", "head.weight"));
  EXPECT_TRUE(matches_pattern("*a*a*a*", "banana"));
}

ParamLayout layout() {
  ParamLayout l;
  l.add("embed.weight", {4, 2});
  l.add("pe.table", {3, 4});
  l.add("blocks.0.norm1.weight", {4});
  l.add("head.weight", {2, 4});
  l.add("fixed", {4}, false);
  return l;
}

TEST(TensorGroupTest, encodings_and_norms_have_no_decay_by_default) {
  const auto groups = tensor_groups({}, layout());
  EXPECT_EQ(groups[0].decay_factor, 1);
  EXPECT_EQ(groups[1].decay_factor, 0);
  EXPECT_EQ(groups[2].decay_factor, 0);
  for (const TensorGroup& g : groups) EXPECT_EQ(g.lr_factor, 1);
}

TEST(TensorGroupTest, the_first_matching_pattern_wins) {
  OptimConfig c;
  c.group_lr = {"head.*=0.5", "*weight=2", "*=0.1"};
  const auto groups = tensor_groups(c, layout());
  EXPECT_EQ(groups[0].lr_factor, 2);
  EXPECT_EQ(groups[1].lr_factor, 0.1);
  EXPECT_EQ(groups[3].lr_factor, 0.5);
}

TEST(TensorGroupTest, malformed_rules_are_refused) {
  for (const char* bad : {"head", "=2", "head=", "head=x", "head=1x", "head=-1", "head=nan"}) {
    OptimConfig c;
    c.group_lr = {bad};
    EXPECT_THROW(tensor_groups(c, layout()), ConfigError) << bad;
  }
}

TEST(ScheduleTest, warms_up_linearly_then_stays_or_falls_as_a_cosine) {
  OptimConfig c;
  c.lr = 0.8;
  EXPECT_EQ(scheduled_lr(c, 12345), 0.8);
  c.schedule = Schedule::kWarmup;
  c.warmup_steps = 4;
  EXPECT_DOUBLE_EQ(scheduled_lr(c, 0), 0.2);
  EXPECT_DOUBLE_EQ(scheduled_lr(c, 3), 0.8);
  EXPECT_DOUBLE_EQ(scheduled_lr(c, 400), 0.8);
  c.schedule = Schedule::kCosine;
  c.schedule_steps = 104;
  c.final_lr_fraction = 0.25;
  EXPECT_DOUBLE_EQ(scheduled_lr(c, 1), 0.4);
  EXPECT_DOUBLE_EQ(scheduled_lr(c, 4), 0.8);
  EXPECT_DOUBLE_EQ(scheduled_lr(c, 54), 0.8 * (0.25 + 0.75 * 0.5));
  EXPECT_DOUBLE_EQ(scheduled_lr(c, 104), 0.2);
  EXPECT_DOUBLE_EQ(scheduled_lr(c, 1000000), 0.2);
  for (std::int64_t s = 4; s < 104; ++s) EXPECT_GT(scheduled_lr(c, s), scheduled_lr(c, s + 1));
}

TEST(OptimizerTest, every_optimiser_has_a_row_whose_states_and_fields_there_are) {
  ASSERT_EQ(optimizer_rows().size(), kOptimizerNames.size());
  RunConfig config;
  const std::vector<std::string> keys = describe(config).names();
  for (std::size_t i = 0; i < kOptimizerNames.size(); ++i) {
    const OptimizerRow& row = optimizer_rows()[i];
    EXPECT_EQ(static_cast<std::size_t>(row.kind), i) << kOptimizerNames[i];
    EXPECT_FALSE(row.help.empty());
    for (const std::string& field : split(row.fields, ','))
      EXPECT_NE(std::find(keys.begin(), keys.end(), "optim." + std::string(trim(field))), keys.end()) << field;
    OptimConfig c;
    c.kind = row.kind;
    row.exercise(c);
    const ParamLayout l = layout();
    EXPECT_EQ(Optimizer(c, l).states().size(), static_cast<std::size_t>(row.states(c))) << kOptimizerNames[i];
    EXPECT_GT(row.states(c), 0) << kOptimizerNames[i];
  }
  EXPECT_EQ(optimizer_state_name(0), "moment1");  // as in every checkpoint there is
}

TEST(OptimizerTest, frozen_and_skipped_tensors_stay_and_do_not_count_in_the_norm) {
  const ParamLayout l = layout();
  OptimConfig c;
  c.kind = OptimizerKind::kSgd;
  c.lr = 1;
  c.clip_norm = 1e9;
  Optimizer optimizer(c, l);
  std::vector<float> params(static_cast<std::size_t>(l.floats()), 1.0f), grads(params.size(), 2.0f);
  const double norm = optimizer.update(0, grads.data(), params.data(), {false, true, false, false, false});
  EXPECT_NEAR(norm, 2 * std::sqrt(8 + 12 + 4 + 8), 1e-5);
  for (std::size_t i = 0; i < l.slots().size(); ++i) {
    const bool stays = i == 1 || i == 4;
    EXPECT_EQ(params[static_cast<std::size_t>(l.slots()[i].offset)], stays ? 1.0f : -1.0f) << l.slots()[i].name;
  }
}

TEST(OptimizerTest, clipping_scales_to_the_norm_asked_for) {
  ParamLayout l;
  l.add("w", {4});
  OptimConfig c;
  c.kind = OptimizerKind::kSgd;
  c.lr = 1;
  c.clip_norm = 0.5;
  Optimizer optimizer(c, l);
  std::vector<float> params(static_cast<std::size_t>(l.floats())), grads(params.size());
  for (int i = 0; i < 4; ++i) grads[static_cast<std::size_t>(i)] = 3.0f;
  EXPECT_NEAR(optimizer.update(0, grads.data(), params.data(), {}), 6, 1e-6);
  double norm = 0;
  for (const float p : params) norm += static_cast<double>(p) * p;
  EXPECT_NEAR(std::sqrt(norm), 0.5, 1e-6);
}

}  // namespace
}  // namespace locus
