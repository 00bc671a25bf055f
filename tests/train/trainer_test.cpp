// The loop: learning, the same bytes for any number of threads and after any interruption, stop rules, divergence.
#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/json.h"
#include "tests/train/train_testing.h"

namespace locus {
namespace {

std::vector<float> step_gradients(const RunConfig& config, const Dataset& data, int threads) {
  const ModelStructure s = structure_for(config, data);
  AlignedBuffer<float> params(static_cast<std::size_t>(s.layout.floats()));
  initialize_parameters(s, config.seed, params.data());
  ThreadPool pool(threads);
  StepRunner runner(s, pool);
  Prepared prepared(s);
  TrainingBatches batches(data, config, s.shape);
  std::vector<float> out;
  Examples batch;
  for (std::int64_t i = 0; i < 3; ++i) {
    batches.fill(i, batch);
    StepContext step;
    step.training = true;
    step.seed = static_cast<std::uint64_t>(i);
    prepared.update(params.data(), {true, step.seed}, &pool);
    out.push_back(static_cast<float>(runner.run(prepared, batch, step).loss));
    out.insert(out.end(), runner.gradients(), runner.gradients() + s.layout.floats());
  }
  return out;
}

TEST(StepRunnerTest, gradients_are_bit_equal_for_any_number_of_threads) {
  const Dataset copy = copy_task();
  const Dataset repeat = repeat_task();
  for (int kind = 0; kind < static_cast<int>(kPeKindNames.size()); ++kind) {
    if (static_cast<PeKind>(kind) == PeKind::kLaplacian) continue;  // these tasks have no graph
    RunConfig c = tiny_config();
    c.pe.kind = static_cast<PeKind>(kind);
    c.pe.trainable = Trainable::kYes;
    c.model.residual_dropout = 0.1;
    c.model.attention_dropout = 0.1;
    for (const std::int64_t shards : {1, 3, 7}) {
      c.train.shards = shards;
      const auto one = step_gradients(c, copy, 1);
      EXPECT_EQ(one, step_gradients(c, copy, 2)) << kPeKindNames[static_cast<std::size_t>(kind)];
      EXPECT_EQ(one, step_gradients(c, copy, 3)) << kPeKindNames[static_cast<std::size_t>(kind)];
    }
    c.model.readout = Readout::kMasked;
    EXPECT_EQ(step_gradients(c, repeat, 1), step_gradients(c, repeat, 3));
  }
}

TEST(StepRunnerTest, gradients_with_scaled_position_products_are_bit_equal_for_any_number_of_threads) {
  const Dataset data = copy_task();
  for (const std::int64_t heads : {1, 2}) {
    RunConfig c = tiny_config();
    c.model.position_logit_scale = 0.3;
    c.model.heads = heads;
    c.train.shards = 3;
    const auto one = step_gradients(c, data, 1);
    EXPECT_EQ(one, step_gradients(c, data, 2));
    EXPECT_EQ(one, step_gradients(c, data, 3));
    c.model.position_logit_scale = 1;
    EXPECT_NE(one, step_gradients(c, data, 1));
  }
}

TEST(StepRunnerTest, shards_change_rounding_only) {
  const Dataset data = copy_task();
  RunConfig c = tiny_config();
  c.train.shards = 1;
  const auto one = step_gradients(c, data, 1);
  c.train.shards = 6;
  c.train.microbatch_tokens = 5;
  const auto many = step_gradients(c, data, 2);
  double worst = 0;
  for (std::size_t i = 0; i < one.size(); ++i) worst = std::max<double>(worst, std::abs(one[i] - many[i]));
  EXPECT_LT(worst, 1e-5);
}

// Without the turn of a shard that failed, the others would wait for ever.
TEST(StepRunnerTest, a_shard_that_throws_ends_the_step_with_its_error_and_the_next_step_works) {
  const Dataset data = copy_task();
  RunConfig c = tiny_config();
  c.train.shards = 7;
  const ModelStructure s = structure_for(c, data);
  AlignedBuffer<float> params(static_cast<std::size_t>(s.layout.floats()));
  initialize_parameters(s, c.seed, params.data());
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    StepRunner runner(s, pool);
    Prepared prepared(s);
    prepared.update(params.data(), {true, 1}, &pool);
    TrainingBatches batches(data, c, s.shape);
    Examples good;
    batches.fill(0, good);
    StepContext step;
    step.training = true;
    const double loss = runner.run(prepared, good, step).loss;
    for (const std::size_t place : {std::size_t{0}, good.labels.size() / 2, good.labels.size() - 1}) {
      Examples bad = good;
      bad.labels[place] = 99;
      EXPECT_THROW(runner.run(prepared, bad, step), std::logic_error) << threads << " threads, example " << place;
      EXPECT_EQ(runner.run(prepared, good, step).loss, loss);
    }
  }
}

class LearnsTest : public TrainTest {};

TEST_F(LearnsTest, the_copy_task_above_95_percent_with_positions_and_not_without) {
  const Dataset data = copy_task(512);
  RunConfig c = tiny_config();
  c.model.width = 32;
  c.train.batch = 64;
  c.stop.epochs = 60;
  c.watch.eval_every = 60;
  c.watch.checkpoint_every = 100;
  const TrainOutcome with = run("with", c, data, 2);
  EXPECT_EQ(with.summary.status, RunStatus::kFinished);
  EXPECT_GT(with.summary.find("train.accuracy").value(), 0.95);
  EXPECT_GT(with.summary.find("test.accuracy").value(), 0.8);
  EXPECT_TRUE(with.summary.find("test.accuracy.left").has_value());
  c.pe.kind = PeKind::kNone;
  EXPECT_LT(run("without", c, data, 2).summary.find("test.accuracy").value(), 0.7);
}

TEST_F(LearnsTest, hidden_tokens_of_a_repeating_sequence) {
  const Dataset data = repeat_task();
  RunConfig c = tiny_config();
  c.study = "masked";
  c.model.readout = Readout::kMasked;
  c.model.width = 32;
  c.mask.ratio = 0.25;
  c.stop.epochs = 80;
  c.watch.eval_every = 80;
  c.watch.checkpoint_every = 100;
  const TrainOutcome o = run("run", c, data, 2);
  EXPECT_LT(o.summary.find("test.mse").value(), 0.5) << "the variance is 1";
}

class ResumeTest : public TrainTest {};

TEST_F(ResumeTest, a_run_stopped_at_many_steps_equals_an_uninterrupted_one_bit_for_bit) {
  const Dataset data = copy_task();
  for (const OptimizerKind kind : {OptimizerKind::kAdamW, OptimizerKind::kSgd}) {
    RunConfig c = tiny_config();
    c.optim.kind = kind;
    c.optim.momentum = kind == OptimizerKind::kSgd ? 0.9 : 0.0;
    c.optim.weight_decay = 0.01;
    c.optim.clip_norm = 1;
    c.optim.schedule = Schedule::kCosine;
    c.optim.warmup_steps = 5;
    c.optim.schedule_steps = 30;
    c.model.residual_dropout = 0.2;
    c.model.attention_dropout = 0.2;
    c.watch.snapshots = {2};
    const std::string name = std::string(kOptimizerNames[static_cast<std::size_t>(kind)]);
    run(name, c, data);
    RunConfig part = c;
    for (const std::int64_t steps : {1, 7, 8, 20, 0}) {  // 6 steps an epoch: in the middle, at an end, and to the end
      part.stop.steps = steps;
      run(name + "_parts", part, data, steps == 8 ? 2 : 1);
    }
    expect_same_result(name, name + "_parts");
    EXPECT_EQ(bytes(root_ / name / "snapshots" / "2" / "model.safetensors"),
              bytes(root_ / (name + "_parts") / "snapshots" / "2" / "model.safetensors"));
  }
}

TEST_F(ResumeTest, laplacian_signs_and_masks_of_regression_resume_exactly) {
  Dataset data = repeat_task();
  data.tokens_info.graph = MatrixD(8, 8);
  for (std::int64_t i = 0; i < 8; ++i) {
    for (std::int64_t j = 0; j < 8; ++j)
      data.tokens_info.graph(i, j) = i == j ? 0 : 1.0 / static_cast<double>(1 + std::abs(i - j) + i * j % 3);
  }
  RunConfig c = tiny_config();
  c.study = "masked";
  c.model.readout = Readout::kMasked;
  c.pe.kind = PeKind::kLaplacian;
  c.pe.eigenvectors = 3;
  run("whole", c, data);
  RunConfig part = c;
  part.stop.steps = 13;
  run("parts", part, data);
  run("parts", c, data, 3);
  expect_same_result("whole", "parts");
}

TEST_F(ResumeTest, a_signal_ends_after_the_step_and_the_next_start_goes_on) {
  const Dataset data = copy_task();
  const RunConfig c = tiny_config();
  run("whole", c, data);
  stop_ = 15;
  const TrainOutcome first = run("parts", c, data);
  EXPECT_EQ(first.summary.status, RunStatus::kInterrupted);
  EXPECT_EQ(first.summary.steps, 0);
  progress_ = [this](const Progress& p) { stop_ = p.metrics != nullptr && p.epoch == 3 ? 15 : 0; };
  stop_ = 0;
  const TrainOutcome second = run("parts", c, data);
  EXPECT_EQ(second.summary.status, RunStatus::kInterrupted);
  EXPECT_EQ(second.summary.epochs, 3);
  progress_ = nullptr;
  stop_ = 0;
  const TrainOutcome third = run("parts", c, data);
  EXPECT_TRUE(third.resumed);
  EXPECT_EQ(third.summary.status, RunStatus::kFinished);
  expect_same_result("whole", "parts");
}

TEST_F(ResumeTest, a_finished_run_is_extended_and_a_damaged_checkpoint_is_passed_over) {
  const Dataset data = copy_task();
  RunConfig longer = tiny_config();
  longer.stop.epochs = 8;
  run("whole", longer, data);
  RunConfig c = tiny_config();
  run("parts", c, data);
  std::vector<fs::path> steps;
  for (const auto& e : fs::directory_iterator(root_ / "parts" / "checkpoints")) steps.push_back(e.path());
  const fs::path newest = *std::max_element(steps.begin(), steps.end());
  fs::resize_file(newest / "state.safetensors", 100);
  const TrainOutcome o = run("parts", longer, data);
  EXPECT_TRUE(o.resumed);
  EXPECT_EQ(o.summary.epochs, 8);
  expect_same_result("whole", "parts");
  EXPECT_TRUE(std::any_of(messages_.begin(), messages_.end(),
                          [](const std::string& m) { return m.find("cannot be used") != std::string::npos; }));
}

TEST_F(ResumeTest, a_finished_run_started_again_changes_nothing) {
  const Dataset data = copy_task();
  run("run", tiny_config(), data);
  const auto before = result_bytes("run");
  const TrainOutcome o = run("run", tiny_config(), data);
  EXPECT_EQ(o.summary.status, RunStatus::kFinished);
  EXPECT_EQ(before, result_bytes("run"));
}

TEST_F(ResumeTest, another_configuration_or_other_data_is_refused) {
  const Dataset data = copy_task();
  run("run", tiny_config(), data);
  RunConfig other = tiny_config();
  other.optim.lr = 1;
  EXPECT_THROW(run("run", other, data), ConfigError);
  EXPECT_THROW(run("run", tiny_config(), copy_task(300)), ConfigError);
}

class StopTest : public TrainTest {};

TEST_F(StopTest, converged_when_the_loss_stays_below_its_bound) {
  const Dataset data = copy_task();
  RunConfig c = tiny_config();
  c.stop.loss_below = 100;
  c.stop.loss_epochs = 3;
  c.stop.epochs = 50;
  const TrainOutcome o = run("run", c, data);
  EXPECT_EQ(o.summary.status, RunStatus::kConverged);
  EXPECT_EQ(o.summary.epochs, 3);
  EXPECT_NE(o.summary.reason.find("below 100 for 3 epochs"), std::string::npos) << o.summary.reason;
}

TEST_F(StopTest, time_ends_a_run_as_interrupted) {
  const Dataset data = copy_task();
  RunConfig c = tiny_config();
  c.stop.epochs = 0;
  c.stop.seconds = 0.05;
  EXPECT_EQ(run("run", c, data).summary.status, RunStatus::kInterrupted);
}

TEST_F(StopTest, divergence_says_where_and_leaves_a_summary_and_the_last_good_checkpoint) {
  const Dataset data = copy_task();
  RunConfig c = tiny_config();
  c.optim.kind = OptimizerKind::kSgd;
  c.optim.lr = 1e5;
  c.model.norm = NormPlacement::kPre;
  c.watch.checkpoint_every = 1;
  c.stop.epochs = 200;
  try {
    run("run", c, data);
    FAIL() << "it must diverge";
  } catch (const DivergenceError& e) {
    const std::string text = e.what();
    for (const char* part : {"diverged", "step ", "learning rate 1e+05", "gradient norm", "last good", "optim.lr"})
      EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  }
  const Json summary = Json::parse(bytes(root_ / "run" / "summary.json"));
  EXPECT_EQ(summary["status"], "diverged");
  EXPECT_FALSE(fs::exists(root_ / "run" / "final"));
}

class EncodingRulesTest : public TrainTest {};

double norm_of(const Tensor& t) {
  double total = 0;
  for (const double v : t.to_doubles()) total += v * v;
  return std::sqrt(total);
}

TEST_F(EncodingRulesTest, a_frozen_encoding_stays_and_one_frozen_later_stays_from_then_on) {
  const Dataset data = copy_task();
  RunConfig c = tiny_config();
  c.pe.trainable = Trainable::kNo;
  run("random", c, data);
  const auto table = [&](const std::string& name, const std::string& which) {
    return model(name, which).at("blocks.0.pe.table").to_doubles();
  };
  EXPECT_EQ(table("random", "init"), table("random", "final"));
  c = tiny_config();
  c.train.freeze_pe_after = 2;
  c.watch.snapshots = {1, 2, 4};
  run("later", c, data);
  EXPECT_NE(table("later", "init"), table("later", "snapshots/1"));
  EXPECT_NE(table("later", "snapshots/1"), table("later", "snapshots/2"));
  EXPECT_EQ(table("later", "snapshots/2"), table("later", "snapshots/4"));
  EXPECT_EQ(table("later", "snapshots/2"), table("later", "final"));
  EXPECT_NE(model("later", "snapshots/2").at("head.weight").to_doubles(),
            model("later", "final").at("head.weight").to_doubles());
}

TEST_F(EncodingRulesTest, a_clamped_norm_is_kept_through_training_and_resume) {
  const Dataset data = copy_task();
  RunConfig c = tiny_config();
  c.train.pe_norm_clamp = 1;
  c.optim.lr = 0.02;
  c.stop.steps = 9;
  run("run", c, data);
  c.stop.steps = 0;
  run("run", c, data);
  const double before = norm_of(model("run", "init").at("blocks.1.pe.table"));
  EXPECT_NEAR(norm_of(model("run", "final").at("blocks.1.pe.table")), before, 1e-4 * before);
  EXPECT_NE(model("run", "init").at("blocks.1.pe.table").to_doubles(),
            model("run", "final").at("blocks.1.pe.table").to_doubles());
}

TEST_F(EncodingRulesTest, the_manifest_says_what_each_tensor_got) {
  const Dataset data = copy_task();
  RunConfig c = tiny_config();
  c.optim.weight_decay = 0.5;
  c.optim.group_lr = {"*pe.*=10"};
  run("run", c, data);
  const Json manifest = Json::parse(bytes(root_ / "run" / "manifest.json"));
  const std::string text = manifest["parameters"].dump();
  EXPECT_NE(text.find("blocks.0.pe.table"), std::string::npos);
  EXPECT_NE(text.find("0.03"), std::string::npos) << "lr times ten";
}

}  // namespace
}  // namespace locus
