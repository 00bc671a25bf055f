// Float gradients of random models against the oracle in double: every encoding, one and four heads, odd lengths, both
// masks, every exact saving, with and without dropout.
#include <gtest/gtest.h>

#include <cmath>

#include "core/isa.h"
#include "kernels/gemm.h"
#include "tests/model/random_engine.h"

namespace locus {
namespace {

using reference::Spec;
using testing_support::EngineOutcome;
using testing_support::RandomEngine;

// Relative to the largest entry. Without fused multiply-add each product rounds once more: sharp attention then reaches
// 2.3e-5, all else stays below 2e-5.
double gradient_bound(bool sharp) { return sharp && isa_in_use() == Isa::kBaseline ? 3e-5 : 2e-5; }

double largest(const std::vector<double>& values) {
  double out = 0;
  for (const double v : values) out = std::max(out, std::abs(v));
  return out;
}

void expect_agreement(const EngineOutcome& got, const reference::LossAndGradients<double>& want, const std::string& what,
                      bool sharp = false) {
  EXPECT_NEAR(got.loss, want.loss, 1e-5 * std::max(1.0, std::abs(want.loss))) << what;
  ASSERT_EQ(got.outputs.size(), want.output.size()) << what;
  for (std::size_t i = 0; i < got.outputs.size(); ++i)
    ASSERT_NEAR(got.outputs[i], want.output[i], 1e-5 * std::max(1.0, largest(want.output))) << what;
  double all = 0;
  for (const auto& [name, g] : want.gradients) all = std::max(all, largest(g));
  EXPECT_FALSE(got.gradients.empty());
  for (const auto& [name, g] : got.gradients) {
    const std::vector<double>& w = want.gradients.at(name);
    double worst = 0;
    for (std::size_t i = 0; i < g.size(); ++i) worst = std::max(worst, std::abs(g[i] - w[i]));
    // A tensor without a true gradient (a key's bias) is judged by the largest of all; so is a lone slope, a sum over all
    // pairs whose terms nearly cancel.
    const double floor = g.size() == 1 ? 5e-2 * all : 1e-2 * all;
    EXPECT_LE(worst, gradient_bound(sharp) * std::max(largest(w), floor)) << what << ": " << name;
  }
}

std::vector<std::vector<double>> plane(int tokens) {
  std::vector<std::vector<double>> out;
  for (int t = 0; t < tokens; ++t) out.push_back({static_cast<double>(t / 4), 0.5 * (t % 4)});
  return out;
}

struct Sweep {
  reference::PeKind kind;
  int heads;
  bool causal;
};

Spec base_spec(const Sweep& sweep, int tokens, int width) {
  Spec s;
  s.tokens = tokens;
  s.features = 5;
  s.outputs = 3;
  s.width = width;
  s.layers = 2;
  s.heads = sweep.heads;
  s.mlp_width = 2 * width + 1;
  s.causal = sweep.causal;
  s.pe = sweep.kind;
  s.buckets = 8;
  return s;
}

class EngineGradientTest : public testing::TestWithParam<Sweep> {};

void check(const Spec& spec, std::uint64_t seed, const std::string& what) {
  const RandomEngine engine(spec, seed);
  const auto want = engine.oracle();
  const Savings plain = no_savings();
  expect_agreement(engine.run(&plain), want, what + ", plain");
  expect_agreement(engine.run(nullptr), want, what + ", savings");
}

TEST_P(EngineGradientTest, agree_for_one_token_read) {
  std::uint64_t seed = 1;
  for (const int tokens : {7, 17}) {
    for (const int width : {16, 64}) {
      for (const bool pre : {false, true}) {
        Spec s = base_spec(GetParam(), tokens, width);
        s.readout = pre ? reference::Readout::kGiven : reference::Readout::kToken;
        s.readout_token = tokens / 2;
        s.pre_norm = pre;
        s.mlp_final_gelu = width == 16;
        s.value_term = s.pe == reference::PeKind::kRelative && width == 64;
        check(s, ++seed, "T " + std::to_string(tokens) + ", C " + std::to_string(width));
      }
    }
  }
}

TEST_P(EngineGradientTest, agree_for_hidden_tokens_read) {
  Spec s = base_spec(GetParam(), 21, 32);
  s.readout = reference::Readout::kMasked;
  s.task = reference::Task::kRegression;
  s.outputs = s.features;
  check(s, 11, "hidden tokens");
  s.features = s.outputs = 1;
  s.pe_shared = true;
  s.value_term = s.pe == reference::PeKind::kRelative;
  check(s, 12, "hidden tokens, shared encoding");
}

void check_missing(const Spec& spec, std::uint64_t seed, const std::string& what) {
  RandomEngine engine(spec, seed);
  engine.lose_values(seed);
  const auto want = engine.oracle();
  EXPECT_GT(largest(want.gradients.at("mask_token")), 0) << what;
  const Savings plain = no_savings();
  expect_agreement(engine.run(&plain), want, what + ", plain");
  expect_agreement(engine.run(nullptr), want, what + ", savings");
}

// Vector tokens of which some have no value: classes, several numbers, and hidden tokens beside missing ones.
TEST_P(EngineGradientTest, agree_where_values_are_missing) {
  Spec s = base_spec(GetParam(), 11, 16);
  s.readout = reference::Readout::kMean;
  check_missing(s, 31, "classes of vector tokens");
  s.readout = reference::Readout::kFlat;
  s.task = reference::Task::kRegression;
  s.outputs = 4;
  check_missing(s, 32, "four numbers of vector tokens");
  s.readout = reference::Readout::kMasked;
  s.outputs = s.features;
  check_missing(s, 33, "hidden tokens beside missing ones");
}

// Longer than a tile of attention's backward pass is wide.
TEST_P(EngineGradientTest, agree_for_sequences_of_several_tiles) {
  Spec s = base_spec(GetParam(), 203, 8);
  // A slope's gradient is a sum over pairs that nearly cancels, times their distance. In steps of one token the float sums
  // alone are off by more than the bound (6.7e-5, pair by pair in double); with distances up to 1 the terms are as large as
  // those of other gradients.
  if (s.pe == reference::PeKind::kAlibi) s.coord_scale = 1.0 / 203;
  s.readout = reference::Readout::kMasked;
  s.task = reference::Task::kRegression;
  s.features = s.outputs = 1;
  s.value_term = s.pe == reference::PeKind::kRelative;
  check(s, 14, "several tiles");
  if (s.pe == reference::PeKind::kRelative || s.pe == reference::PeKind::kT5) {
    s.max_distance = 30;
    check(s, 15, "several tiles, cut off");
  }
}

TEST_P(EngineGradientTest, agree_for_other_readouts_coordinates_and_options) {
  Spec s = base_spec(GetParam(), 13, 32);
  s.coordinates = plane(13);
  s.coord_scale = 1.5;
  s.max_distance = s.pe == reference::PeKind::kT5 ? 16 : 2;
  s.logit_scale = 1.7;
  s.rotary_fraction = 0.75;
  s.readout = reference::Readout::kMean;
  check(s, 21, "mean");
  s.readout = reference::Readout::kFlat;
  s.attention_output = false;
  s.head_hidden = 9;
  check(s, 22, "flat");
  s.readout = reference::Readout::kEvery;
  s.task = reference::Task::kRegression;
  s.attention_bias = false;
  s.pe_input_only = true;
  check(s, 23, "every token");
  if (s.pe == reference::PeKind::kLaplacian) return;  // its graph has no CLS token
  s.task = reference::Task::kClassification;
  s.readout = reference::Readout::kCls;
  s.output_gain = 3;
  check(s, 24, "CLS token");
}

TEST_P(EngineGradientTest, agree_with_dropout_of_the_residual_stream_on_every_path) {
  for (const auto readout : {reference::Readout::kToken, reference::Readout::kMasked, reference::Readout::kMean}) {
    Spec s = base_spec(GetParam(), 9, 32);
    s.readout = readout;
    if (readout == reference::Readout::kMasked) s.task = reference::Task::kRegression;
    RandomEngine engine(s, 31);
    engine.config.model.residual_dropout = 0.3;
    const auto want = engine.oracle(true);
    const Savings plain = no_savings();
    expect_agreement(engine.run(&plain, true), want, "plain");
    expect_agreement(engine.run(nullptr, true), want, "savings");
    expect_agreement(engine.run(nullptr, true, 1), want, "savings, one sequence at a time");
    EXPECT_GT(std::abs(want.loss - engine.oracle(false).loss), 1e-4) << "dropout must do something";
  }
}

TEST_P(EngineGradientTest, agree_with_dropout_of_pattern_and_encoding) {
  Spec s = base_spec(GetParam(), 9, 32);
  RandomEngine engine(s, 32);
  engine.config.model.attention_dropout = 0.25;
  engine.config.model.residual_dropout = 0.1;
  engine.config.pe.dropout = 0.2;
  const auto want = engine.oracle(true);
  const Savings plain = no_savings();
  expect_agreement(engine.run(&plain, true), want, "plain");
  expect_agreement(engine.run(nullptr, true), want, "savings");
}

std::vector<Sweep> sweeps() {
  std::vector<Sweep> out;
  for (const EncodingRow& row : encoding_rows()) {
    for (const int heads : {1, 4}) {
      for (const bool causal : {false, true}) out.push_back({row.kind, heads, causal});
    }
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, EngineGradientTest, testing::ValuesIn(sweeps()), [](const auto& given) {
  return std::string(kPeKindNames[static_cast<std::size_t>(given.param.kind)]) + "_h" + std::to_string(given.param.heads) +
         (given.param.causal ? "_causal" : "_full");
});

TEST(EngineGradientCoverageTest, every_path_of_the_first_and_last_block_is_taken) {
  Spec s = base_spec({reference::PeKind::kLearned, 1, false}, 7, 16);
  EXPECT_EQ(admitted_savings(RandomEngine(s, 1).structure()).last, AttentionPath::kFolded);
  EXPECT_EQ(admitted_savings(RandomEngine(s, 1).structure()).first, FirstPath::kSplit);
  EXPECT_TRUE(admitted_savings(RandomEngine(s, 1).structure()).keep_patterns);
  s.heads = 4;
  EXPECT_EQ(admitted_savings(RandomEngine(s, 1).structure()).last, AttentionPath::kRows);
  s.width = static_cast<int>(4 * kernels::panel_columns());
  EXPECT_EQ(admitted_savings(RandomEngine(s, 1).structure()).last, AttentionPath::kFolded);
  s.pe = reference::PeKind::kRotary;
  EXPECT_EQ(admitted_savings(RandomEngine(s, 1).structure()).last, AttentionPath::kRows);
  s.readout = reference::Readout::kMean;
  EXPECT_EQ(admitted_savings(RandomEngine(s, 1).structure()).last, AttentionPath::kPlain);
}

TEST(EngineGradientCoverageTest, projections_join_with_one_head_and_positions_added_to_the_input) {
  const auto joins = [](const Spec& s) { return admitted_savings(RandomEngine(s, 1).structure()).join_projections; };
  Spec s = base_spec({reference::PeKind::kLearned, 1, false}, 7, 16);
  EXPECT_TRUE(joins(s));
  s.pe = reference::PeKind::kNone;
  EXPECT_TRUE(joins(s));
  s.pe = reference::PeKind::kRotary;
  EXPECT_FALSE(joins(s));
  s = base_spec({reference::PeKind::kLearned, 4, false}, 7, 16);
  EXPECT_FALSE(joins(s));
  s = base_spec({reference::PeKind::kLearned, 1, false}, 7, 16);
  s.attention_output = false;
  EXPECT_FALSE(joins(s));
}

TEST(EngineGradientCoverageTest, projections_agree_joined_and_apart) {
  for (const auto readout : {reference::Readout::kToken, reference::Readout::kMean}) {
    Spec s = base_spec({reference::PeKind::kLearned, 1, true}, 13, 32);
    s.readout = readout;
    RandomEngine engine(s, 51);
    const auto joined = engine.run(nullptr);
    engine.config.train.join_projections = false;
    ASSERT_FALSE(admitted_savings(engine.structure()).join_projections);
    const auto apart = engine.run(nullptr);
    EXPECT_NEAR(joined.loss, apart.loss, 1e-5);
    for (const auto& [name, values] : apart.gradients) {
      float largest = 0, error = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        largest = std::max(largest, std::abs(values[i]));
        error = std::max(error, std::abs(values[i] - joined.gradients.at(name)[i]));
      }
      EXPECT_LE(error, 2e-5f * largest) << name;
    }
  }
}

// Scores of several tens, as sharp attention gives them: the bound still holds where float exp and sums are strained.
TEST(EngineGradientCoverageTest, sharp_attention_keeps_the_bound) {
  Spec s = base_spec({reference::PeKind::kLearned, 1, false}, 17, 32);
  s.logit_scale = 4;
  const RandomEngine engine(s, 41);
  expect_agreement(engine.run(nullptr), engine.oracle(), "sharp", true);
}

}  // namespace
}  // namespace locus
