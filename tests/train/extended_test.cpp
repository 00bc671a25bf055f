// Training on after an end, without checkpoints to go on from, and losses that are no use any more.
#include "core/error.h"
#include "core/json.h"
#include "run/run_reader.h"
#include "tests/train/train_testing.h"

namespace locus {
namespace {

class ExtendedTrainingTest : public TrainTest {
 protected:
  ExtendedTrainingTest() { config_.watch.eval_every = 100; }  // nothing but checkpoints tells that a run went on
  Json summary() const { return Json::parse(bytes(root_ / "run" / "summary.json")); }

  const Dataset data_ = copy_task();
  RunConfig config_ = tiny_config();
};

TEST_F(ExtendedTrainingTest, cut_off_right_after_it_went_on_the_run_has_no_end_any_more) {
  run("run", config_, data_);
  EXPECT_EQ(summary()["status"], "finished");
  RunConfig longer = config_;
  longer.stop.epochs = 9;
  {
    TrainSetup setup;
    setup.config = longer;
    setup.dataset = &data_;
    setup.out = (root_ / "run").string();
    TrainHooks hooks;
    hooks.message = [](const std::string& text) {
      if (text.starts_with("resumed from")) throw std::runtime_error("cut off");
    };
    EXPECT_THROW(train(setup, hooks), std::runtime_error);
  }
  EXPECT_FALSE(fs::exists(root_ / "run" / "summary.json"));
  EXPECT_TRUE(RunReader(root_ / "run").best_model()->name.starts_with("checkpoints/"));

  run("run", longer, data_);
  run("whole", longer, data_);
  expect_same_result("run", "whole");
  EXPECT_EQ(RunReader(root_ / "run").best_model()->name, "final");
}

TEST_F(ExtendedTrainingTest, a_finished_run_without_checkpoints_is_not_trained_anew_over_its_results) {
  run("run", config_, data_);
  fs::remove_all(root_ / "run" / "checkpoints");
  const std::string metrics = bytes(root_ / "run" / "metrics.jsonl"), end = bytes(root_ / "run" / "summary.json");
  const std::string rules = bytes(root_ / "run" / "config.toml");
  const TrainOutcome same = run("run", config_, data_);
  EXPECT_EQ(same.summary.status, RunStatus::kFinished);
  EXPECT_EQ(same.summary.epochs, 6);
  RunConfig longer = config_;
  longer.stop.epochs = 9;
  try {
    run("run", longer, data_);
    FAIL() << "there is nothing to go on from";
  } catch (const ConfigError& e) {
    EXPECT_NE(std::string(e.what()).find("another --out"), std::string::npos) << e.what();
  }
  EXPECT_EQ(bytes(root_ / "run" / "metrics.jsonl"), metrics);
  EXPECT_EQ(bytes(root_ / "run" / "summary.json"), end);
  EXPECT_EQ(bytes(root_ / "run" / "config.toml"), rules);
  EXPECT_TRUE(fs::exists(root_ / "run" / "final" / "model.safetensors"));
}

TEST_F(ExtendedTrainingTest, a_loss_a_million_times_that_of_a_guess_is_divergence) {
  config_.optim.lr = 1e6;
  EXPECT_THROW(run("run", config_, data_), DivergenceError);
  EXPECT_EQ(summary()["status"], "diverged");
  EXPECT_NE(summary()["reason"].get<std::string>().find("times what any guess"), std::string::npos)
      << summary()["reason"].dump();

  const Dataset numbers = repeat_task();
  config_.model.readout = Readout::kMasked;
  config_.mask.loss = MaskLoss::kMasked;
  EXPECT_THROW(run("numbers", config_, numbers), DivergenceError);
  Dataset large = numbers;  // in units that make every loss large
  for (auto& [name, examples] : large.splits) {
    for (float& x : examples.values) x *= 1e6F;
  }
  config_.optim.lr = 1e-3;
  EXPECT_EQ(run("large", config_, large).summary.status, RunStatus::kFinished);
}

}  // namespace
}  // namespace locus
