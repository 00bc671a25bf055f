// Named activations: complete, true, replaceable, and free of charge when nobody listens.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "tests/model/random_engine.h"

namespace locus {
namespace {

using reference::Spec;
using testing_support::RandomEngine;

class Listener : public Observer {
 public:
  explicit Listener(std::function<void(const Activation&)> f = {}) : f_(std::move(f)) {}
  void on_activation(const Activation& a) override {
    names.insert(a.name);
    if (f_) f_(a);
  }
  std::set<std::string> names;

 private:
  std::function<void(const Activation&)> f_;
};

Spec small(bool causal = false, int tokens = 7) {
  Spec s;
  s.tokens = tokens;
  s.features = 4;
  s.outputs = 3;
  s.width = 16;
  s.layers = 2;
  s.heads = 2;
  s.mlp_width = 24;
  s.pe = reference::PeKind::kLearned;
  s.causal = causal;
  s.readout = reference::Readout::kMean;
  return s;
}

std::vector<float> evaluate(const RandomEngine& engine, Observer* observer, const Savings& savings) {
  const ModelStructure s = engine.structure();
  const AlignedBuffer<float> p = engine.arena(s);
  Prepared prepared(s);
  prepared.update(p.data(), {});
  EncoderPass pass(s, engine.batch.examples, savings);
  const auto f = engine.floats();
  const PassResult r = pass.evaluate(prepared, engine.slice(f, 0, engine.batch.examples), {}, observer);
  return {r.outputs.data, r.outputs.data + r.outputs.rows * r.outputs.cols};
}

TEST(ObserverTest, hands_out_every_name_once_a_block) {
  Listener listener;
  evaluate(RandomEngine(small(), 1), &listener, no_savings());
  std::set<std::string> want = {"embed", "head"};
  for (const char* l : {"0", "1"}) {
    for (const char* name : {"input", "attn.q", "attn.k", "attn.v", "attn.pattern", "attn.out", "mid", "output"})
      want.insert("blocks." + std::string(l) + "." + name);
  }
  EXPECT_EQ(listener.names, want);
}

TEST(ObserverTest, listening_changes_nothing) {
  const RandomEngine engine(small(), 2);
  Listener listener;
  EXPECT_EQ(evaluate(engine, &listener, no_savings()), evaluate(engine, nullptr, no_savings()));
}

TEST(ObserverTest, values_are_those_of_the_oracle) {
  for (const bool causal : {false, true}) {
    const RandomEngine engine(small(causal), 3);
    const auto want = reference::run(engine.spec, engine.params, engine.batch);
    int compared = 0;
    Listener listener([&](const Activation& a) {
      const auto near = [&](const std::vector<double>& expected) {
        ASSERT_EQ(a.values.rows * a.values.cols, static_cast<std::ptrdiff_t>(expected.size())) << a.name;
        for (std::ptrdiff_t r = 0; r < a.values.rows; ++r) {
          for (std::ptrdiff_t c = 0; c < a.values.cols; ++c)
            ASSERT_NEAR(a.values(r, c), expected[static_cast<std::size_t>(r * a.values.cols + c)], 2e-5) << a.name;
        }
        ++compared;
      };
      if (a.name == "embed") near(want.residual[0]);
      if (a.name == "blocks.0.input") near(want.blocks[0].h);
      if (a.name == "blocks.1.input") near(want.blocks[1].h);
      if (a.name == "blocks.0.mid") near(want.blocks[0].a);
      if (a.name == "blocks.0.output") near(want.residual[1]);
      if (a.name == "blocks.1.output") near(want.residual[2]);
      if (a.name == "head") near(want.output);
      if (a.name != "blocks.1.attn.pattern") return;
      const std::int64_t t = engine.spec.length();
      for (std::ptrdiff_t r = 0; r < a.values.rows; ++r) {
        for (std::ptrdiff_t c = 0; c < a.values.cols; ++c) {
          const std::int64_t row = (a.first_sequence * 2 + a.head) * t + a.first_query + r;
          ASSERT_NEAR(a.values(r, c), want.blocks[1].attention.pattern[static_cast<std::size_t>(row * t + c)], 2e-5);
        }
      }
      ++compared;
    });
    evaluate(engine, &listener, no_savings());
    EXPECT_EQ(compared, 7 + 2 * 3);
  }
}

TEST(ObserverTest, rows_of_a_pattern_sum_to_one_and_every_query_comes_once) {
  for (const bool causal : {false, true}) {
    const RandomEngine engine(small(causal, 150), 4, 1);  // longer than one block of rows
    std::set<std::tuple<std::string, std::int64_t, std::int64_t>> queries;
    Listener listener([&](const Activation& a) {
      if (a.head < 0) return;
      for (std::ptrdiff_t r = 0; r < a.values.rows; ++r) {
        double sum = 0;
        for (std::ptrdiff_t c = 0; c < a.values.cols; ++c) {
          ASSERT_GE(a.values(r, c), 0.0f);
          ASSERT_TRUE(!causal || c <= a.first_query + r || a.values(r, c) == 0.0f);
          sum += a.values(r, c);
        }
        ASSERT_NEAR(sum, 1.0, 1e-5);
        EXPECT_TRUE(queries.insert({a.name, a.head, a.first_query + r}).second);
      }
    });
    evaluate(engine, &listener, no_savings());
    EXPECT_EQ(queries.size(), 2u * 2u * 150u);
  }
}

TEST(ObserverTest, replaced_values_are_used) {
  const RandomEngine engine(small(), 5);
  const std::vector<float> plain = evaluate(engine, nullptr, no_savings());
  for (const char* name :
       {"embed", "blocks.0.input", "blocks.0.attn.q", "blocks.0.attn.k", "blocks.0.attn.v", "blocks.0.attn.pattern",
        "blocks.1.attn.pattern", "blocks.0.attn.out", "blocks.0.mid", "blocks.0.output", "blocks.1.output", "head"}) {
    Listener listener([&](const Activation& a) {
      if (a.name != name) return;
      for (std::ptrdiff_t r = 0; r < a.values.rows; ++r) {
        for (std::ptrdiff_t c = 0; c < a.values.cols; ++c) a.values(r, c) = c == 0 ? 1.0f : 0.0f;
      }
    });
    double worst = 0;
    const std::vector<float> changed = evaluate(engine, &listener, no_savings());
    for (std::size_t i = 0; i < plain.size(); ++i) worst = std::max<double>(worst, std::abs(changed[i] - plain[i]));
    EXPECT_GT(worst, 1e-4) << name;
  }
}

TEST(ObserverTest, a_pass_with_savings_refuses_to_be_watched) {
  Spec s = small();
  s.readout = reference::Readout::kToken;
  const RandomEngine engine(s, 6);
  Listener listener;
  EXPECT_THROW(evaluate(engine, &listener, admitted_savings(engine.structure())), std::logic_error);
}

}  // namespace
}  // namespace locus
