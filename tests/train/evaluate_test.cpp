// Evaluation with noise on the blocks' inputs, for every way the first block is computed.
#include "infer/evaluate.h"
#include "tests/train/train_testing.h"

namespace locus {
namespace {

Evaluation evaluated(const RunConfig& config, const Dataset& data, const EvalOptions& options, int threads = 1) {
  const ModelStructure s = structure_for(config, data);
  AlignedBuffer<float> params(static_cast<std::size_t>(s.layout.floats()));
  initialize_parameters(s, config.seed, params.data());
  ThreadPool pool(threads);
  Prepared prepared(s);
  prepared.update(params.data(), {}, &pool);
  return evaluate(s, prepared, data, "test", options, pool);
}

struct NoiseCase {
  std::string name;
  RunConfig config;
  Dataset data;
  FirstPath first;
};

std::vector<NoiseCase> noise_cases() {
  RunConfig table = tiny_config();
  table.model.heads = 1;
  table.train.batch = 256;
  RunConfig plain = table;
  plain.train.save_first_layer = false;
  RunConfig masked = table;
  masked.model.readout = Readout::kMasked;
  return {{"table", table, copy_task(), FirstPath::kTable},
          {"two heads", tiny_config(), copy_task(), FirstPath::kSplit},
          {"plain", plain, copy_task(), FirstPath::kPlain},
          {"masked", masked, repeat_task(), FirstPath::kSplit}};
}

TEST(NoisyEvaluationTest, vanishing_noise_changes_nothing_and_noise_something) {
  for (const NoiseCase& c : noise_cases()) {
    SCOPED_TRACE(c.name);
    ASSERT_EQ(admitted_savings(structure_for(c.config, c.data)).first, c.first);
    const Evaluation clean = evaluated(c.config, c.data, {});
    const Evaluation faint = evaluated(c.config, c.data, {.noise_sd = 1e-7});
    const Evaluation noisy = evaluated(c.config, c.data, {.noise_sd = 0.5});
    ASSERT_EQ(clean.example_loss.size(), noisy.example_loss.size());
    for (std::size_t i = 0; i < clean.example_loss.size(); ++i) {
      EXPECT_NEAR(faint.example_loss[i], clean.example_loss[i], 1e-4);
      EXPECT_NE(noisy.example_loss[i], clean.example_loss[i]);
    }
  }
}

TEST(NoisyEvaluationTest, the_same_for_any_number_of_threads_and_another_for_another_seed) {
  for (NoiseCase& c : noise_cases()) {
    SCOPED_TRACE(c.name);
    c.config.train.microbatch_tokens = 40;
    const Evaluation one = evaluated(c.config, c.data, {.noise_sd = 0.2, .noise_seed = 3});
    EXPECT_EQ(one.example_loss, evaluated(c.config, c.data, {.noise_sd = 0.2, .noise_seed = 3}, 3).example_loss);
    EXPECT_NE(one.example_loss, evaluated(c.config, c.data, {.noise_sd = 0.2, .noise_seed = 4}).example_loss);
  }
}

}  // namespace
}  // namespace locus
