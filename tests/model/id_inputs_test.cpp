// Tokens given as ids: every saving of the first block gives the loss and gradients of the plain way, which the oracle
// proves for one-hot features.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "config/load.h"
#include "core/rng.h"
#include "model/encoder.h"
#include "train/step.h"

namespace locus {
namespace {

struct Gradients {
  double loss = 0;
  std::vector<float> values;
};

Gradients gradients(const ModelStructure& s, const Savings& savings, const Examples& batch) {
  AlignedBuffer<float> params(static_cast<std::size_t>(s.layout.floats()));
  initialize_parameters(s, 5, params.data());
  Rng rng(9, "biases");
  for (float& x : std::span(params.data(), params.size())) x += 0.05f * static_cast<float>(rng.normal());
  Prepared prepared(s, savings);
  prepared.update(params.data(), {true, 1});
  Gradients out;
  out.values.assign(params.size(), 0.0f);
  AlignedBuffer<float> grads(params.size());
  EncoderPass pass(s, 7, savings);
  StepContext step;
  step.training = true;
  step.loss_weight = 1.0 / static_cast<double>(batch.count);
  pass.begin_shard(prepared, grads.data());
  for (std::int64_t i = 0; i < batch.count; i += 7)
    out.loss +=
        pass.train(prepared, microbatch_of(s.shape, batch, i, std::min<std::int64_t>(7, batch.count - i)), step).loss;
  pass.end_shard(prepared);
  std::copy_n(grads.data(), params.size(), out.values.begin());
  return out;
}

Examples puzzles(std::int64_t count, std::int64_t tokens, int ids) {
  Rng rng(3, "ids");
  Examples batch;
  batch.count = count;
  for (std::int64_t i = 0; i < count * tokens; ++i)
    batch.ids.push_back(static_cast<std::int16_t>(static_cast<int>(rng.below(static_cast<std::uint64_t>(ids + 1))) - 1));
  for (std::int64_t i = 0; i < count; ++i) batch.labels.push_back(static_cast<std::int32_t>(rng.below(4)));
  return batch;
}

class IdInputsTest : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(IdInputsTest, savings_of_the_first_block_agree_with_the_plain_way) {
  RunConfig config;
  for (const char* setting : {"model.width=48", "model.heads=1", "model.layers=3", "train.batch=64"})
    apply_override(config, setting);
  for (const std::string& setting : GetParam()) apply_override(config, setting);
  ModelShape shape;
  shape.tokens = 16;
  shape.features = 5;
  shape.outputs = 4;
  shape.ids = true;
  const ModelStructure s = make_structure(config, shape, {});
  Savings table = admitted_savings(s);
  ASSERT_EQ(table.first, FirstPath::kTable);
  Savings split = table;
  split.first = FirstPath::kSplit;
  const Examples batch = puzzles(20, 16, 5);
  const Gradients plain = gradients(s, no_savings(), batch);
  for (const Savings& savings : {table, split}) {
    const Gradients fast = gradients(s, savings, batch);
    EXPECT_NEAR(fast.loss, plain.loss, 1e-5);
    for (const TensorSlot& tensor : s.layout.slots()) {
      float largest = 0, error = 0;
      for (std::int64_t k = tensor.offset; k < tensor.offset + tensor.size; ++k) {
        largest = std::max(largest, std::abs(plain.values[static_cast<std::size_t>(k)]));
        error =
            std::max(error, std::abs(fast.values[static_cast<std::size_t>(k)] - plain.values[static_cast<std::size_t>(k)]));
      }
      EXPECT_GT(largest, 0) << tensor.name;
      EXPECT_LE(error, 2e-5f * largest) << tensor.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, IdInputsTest,
                         testing::Values(std::vector<std::string>{"pe.kind=learned"},
                                         std::vector<std::string>{"pe.kind=learned", "model.attention_mask=causal"},
                                         std::vector<std::string>{"pe.kind=none", "model.logit_scale=3"},
                                         std::vector<std::string>{"pe.kind=sinusoidal", "pe.trainable=yes"},
                                         std::vector<std::string>{"pe.kind=learned", "model.readout=mean"}));

}  // namespace
}  // namespace locus
