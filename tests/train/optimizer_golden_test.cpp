// Twenty steps of every optimiser through the engine, against PyTorch's in double precision.
#include <gtest/gtest.h>

#include <cmath>

#include "model/encoder.h"
#include "tests/support/engine_case.h"
#include "train/optimizer.h"

namespace locus {
namespace {

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most;
}

OptimConfig config_of(const Json& o) {
  OptimConfig c;
  c.kind = o["kind"] == "sgd" ? OptimizerKind::kSgd : o["kind"] == "adamw" ? OptimizerKind::kAdamW : OptimizerKind::kAdam;
  golden::read(o, "lr", c.lr);
  golden::read(o, "beta1", c.beta1);
  golden::read(o, "beta2", c.beta2);
  golden::read(o, "eps", c.eps);
  golden::read(o, "momentum", c.momentum);
  golden::read(o, "weight_decay", c.weight_decay);
  golden::read(o, "clip_norm", c.clip_norm);
  c.group_decay.clear();
  return c;
}

struct Batches {
  std::int64_t count, examples;
  std::vector<std::int16_t> ids;
  std::vector<float> values;
  std::vector<std::int32_t> read, labels;

  explicit Batches(const golden::File& file) {
    count = file.at("input.labels").shape[0];
    examples = file.at("input.labels").shape[1];
    labels = file.values<std::int32_t>("input.labels");
    if (file.has("input.ids")) ids = file.values<std::int16_t>("input.ids");
    if (file.has("input.features")) values = file.values<float>("input.features");
    if (file.has("input.read_token")) read = file.values<std::int32_t>("input.read_token");
  }
  Microbatch at(std::int64_t which) const {
    Microbatch m;
    m.sequences = examples;
    const auto part = [&](const auto& v) {
      return v.empty() ? nullptr : v.data() + which * static_cast<std::int64_t>(v.size()) / count;
    };
    m.ids = part(ids);
    m.values = part(values);
    m.read_token = part(read);
    m.labels = part(labels);
    return m;
  }
};

class OptimizerGoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(OptimizerGoldenTest, twenty_steps_of_the_engine_agree_with_pytorch) {
  const golden::File file = golden::read_file(GetParam());
  const golden::EngineCase engine(file);
  const ModelStructure s = engine.structure();
  AlignedBuffer<float> params = engine.params(s);
  AlignedBuffer<float> grads(params.size());
  Optimizer optimizer(config_of(Json::parse(file.metadata.at("optimizer"))), s.layout);
  const Batches batches(file);
  Prepared prepared(s);
  EncoderPass pass(s, batches.examples, admitted_savings(s));
  StepContext step;
  step.loss_weight = 1.0 / static_cast<double>(batches.examples);
  const auto losses = file.values<double>("expect.losses");
  ASSERT_EQ(losses.size(), 20u);
  for (std::int64_t i = 0; i < 20; ++i) {
    prepared.update(params.data(), {});
    std::fill(grads.span().begin(), grads.span().end(), 0.0f);
    pass.begin_shard(prepared, grads.data());
    const double loss = pass.train(prepared, batches.at(i % batches.count), step).loss;
    pass.end_shard(prepared);
    EXPECT_NEAR(loss, losses[static_cast<std::size_t>(i)], 1e-4 * std::abs(losses[static_cast<std::size_t>(i)])) << i;
    optimizer.update(i, grads.data(), params.data(), {});
  }
  for (const auto& [name, expected] : file.group<double>("final.")) {
    const TensorSlot* slot = s.layout.find(name);
    ASSERT_NE(slot, nullptr) << name;
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
      worst =
          std::max(worst, std::abs(static_cast<double>(params[static_cast<std::size_t>(slot->offset) + i]) - expected[i]));
    // Adam divides by the root of tiny second moments, which multiplies rounding where gradients nearly vanish (key biases).
    EXPECT_LE(worst, (name.find("in_proj_bias") != std::string::npos ? 2e-2 : 2e-3) * std::max(0.1, largest(expected)))
        << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerGoldenTest, testing::ValuesIn(golden::files(true)),
                         [](const auto& given) { return std::filesystem::path(given.param).stem().string(); });

}  // namespace
}  // namespace locus
