// model.position_logit_scale: exact against the oracle on every path, off at 1, refused where there is nothing to scale.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "config/load.h"
#include "tests/model/random_engine.h"

namespace locus {
namespace {

using reference::Spec;
using testing_support::EngineOutcome;
using testing_support::RandomEngine;

constexpr double kBound = 2e-5;  // relative to the largest entry

Spec spec_of(reference::PeKind kind, int heads, reference::Readout readout) {
  Spec s;
  s.tokens = 7;
  s.features = s.outputs = 3;
  s.width = 32;
  s.layers = 2;
  s.heads = heads;
  s.mlp_width = 17;
  s.pe = kind;
  s.readout = readout;
  s.position_logit_scale = 0.3;
  if (readout == reference::Readout::kMasked) s.task = reference::Task::kRegression;
  return s;
}

double largest(const std::vector<double>& values) {
  double out = 0;
  for (const double v : values) out = std::max(out, std::abs(v));
  return out;
}

void expect_agreement(const EngineOutcome& got, const reference::LossAndGradients<double>& want, const std::string& what) {
  EXPECT_NEAR(got.loss, want.loss, 1e-5 * std::max(1.0, std::abs(want.loss))) << what;
  double all = 0;
  for (const auto& [name, g] : want.gradients) all = std::max(all, largest(g));
  ASSERT_FALSE(got.gradients.empty());
  for (const auto& [name, g] : got.gradients) {
    const std::vector<double>& w = want.gradients.at(name);
    double worst = 0;
    for (std::size_t i = 0; i < g.size(); ++i) worst = std::max(worst, std::abs(g[i] - w[i]));
    EXPECT_LE(worst, kBound * std::max(largest(w), 1e-2 * all)) << what << ": " << name;
  }
}

TEST(PositionProductsTest, gradients_agree_with_the_oracle_on_every_path) {
  std::uint64_t seed = 100;
  for (const auto kind : {reference::PeKind::kLearned, reference::PeKind::kSinusoidal, reference::PeKind::kLaplacian}) {
    for (const int heads : {1, 2, 4}) {
      for (const auto readout : {reference::Readout::kToken, reference::Readout::kMasked, reference::Readout::kMean}) {
        for (const bool causal : {false, true}) {
          Spec s = spec_of(kind, heads, readout);
          s.causal = causal;
          s.logit_scale = causal ? 1.7 : 1.0;
          s.pe_shared = causal;
          s.position_logit_scale = heads == 2 ? 2.5 : 0.3;
          const RandomEngine engine(s, ++seed);
          const auto want = engine.oracle();
          const Savings plain = no_savings();
          expect_agreement(engine.run(&plain), want, "plain");
          expect_agreement(engine.run(nullptr), want, "savings");
          expect_agreement(engine.run(nullptr, false, 1), want, "one sequence at a time");
        }
      }
    }
  }
}

TEST(PositionProductsTest, gradients_agree_with_a_table_at_the_input_only_and_with_signs_of_training) {
  Spec s = spec_of(reference::PeKind::kLearned, 1, reference::Readout::kMean);
  s.pe_input_only = true;
  expect_agreement(RandomEngine(s, 7).run(nullptr), RandomEngine(s, 7).oracle(), "input only");
  s = spec_of(reference::PeKind::kLaplacian, 1, reference::Readout::kToken);
  expect_agreement(RandomEngine(s, 8).run(nullptr, true), RandomEngine(s, 8).oracle(true), "signs");
}

// Without content all of the logits are position-position products: scaling these is scaling all.
TEST(PositionProductsTest, without_content_it_is_the_logit_scale) {
  Spec s = spec_of(reference::PeKind::kLearned, 2, reference::Readout::kMean);
  s.layers = 1;
  s.attention_bias = false;
  const auto loss = [&](double position_scale, double scale) {
    s.position_logit_scale = position_scale;
    s.logit_scale = scale;
    RandomEngine engine(s, 9);
    for (const char* name : {"embed.weight", "embed.bias"}) engine.params[name].assign(engine.params[name].size(), 0.0);
    return engine.run(nullptr).loss;
  };
  EXPECT_NEAR(loss(2.5, 1), loss(1, 2.5), 1e-6);
  EXPECT_GT(std::abs(loss(2.5, 1) - loss(1, 1)), 1e-3);
}

TEST(PositionProductsTest, scores_are_not_tabulated_and_other_savings_stay) {
  Spec s = spec_of(reference::PeKind::kLearned, 1, reference::Readout::kToken);
  RandomEngine engine(s, 10);
  const auto savings = [&](double scale) {
    engine.config.model.position_logit_scale = scale;
    engine.config.train.batch = 4096;
    ModelShape shape{s.tokens, s.features, s.outputs, true, false};
    return admitted_savings(make_structure(engine.config, shape, {}));
  };
  EXPECT_EQ(savings(1).first, FirstPath::kTable);
  EXPECT_EQ(savings(0.5).first, FirstPath::kSplit);
  EXPECT_EQ(savings(0.5).last, AttentionPath::kFolded);
  EXPECT_TRUE(savings(0.5).join_projections);
}

std::string refusal(const std::vector<std::string>& overrides) {
  RunConfig config;
  for (const std::string& o : overrides) apply_override(config, o);
  try {
    validate(config);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

TEST(PositionProductsTest, encodings_without_an_added_table_refuse_it_by_name) {
  EXPECT_EQ(refusal({"model.position_logit_scale=0.5"}), "");
  for (const char* kind : {"none", "rotary", "relative", "t5", "alibi"}) {
    const std::string given = std::string("pe.kind=") + kind;
    const std::string message = refusal({"model.position_logit_scale=0.5", given});
    EXPECT_NE(message.find("model.position_logit_scale"), std::string::npos) << message;
    EXPECT_NE(message.find(std::string("pe.kind = ") + kind), std::string::npos) << message;
    EXPECT_EQ(refusal({given}), "");
  }
  EXPECT_NE(refusal({"model.position_logit_scale=0.5", "model.norm=pre"}).find("model.norm = pre"), std::string::npos);
  EXPECT_NE(refusal({"model.position_logit_scale=0.5", "pe.dropout=0.1"}).find("pe.dropout"), std::string::npos);
}

}  // namespace
}  // namespace locus
