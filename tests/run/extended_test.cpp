// A run that goes on after its end, and one whose folder goes away: what the folder says is true at every moment.
#include "run/files.h"
#include "run/layout.h"
#include "run/run_reader.h"
#include "tests/run/run_testing.h"

namespace locus {
namespace {

class ExtendedTest : public RunFolderTest {
 protected:
  // Finished at step 10.
  void finish_run() const {
    RunDirectory run = open(small_identity({"stop.epochs=1"}));
    run.append_metrics({1, 10, 0, 0, 0, {{"train.loss", 1}}});
    save(run, 10);
    run.save_model("final", SmallCheckpoint(10).model());
    run.write_summary({.status = RunStatus::kFinished, .reason = "1 epochs", .epochs = 1, .steps = 10, .seconds = 2});
  }
};

TEST_F(ExtendedTest, opening_changes_nothing_and_beginning_takes_the_end_back_first) {
  finish_run();
  const std::string config = bytes_of_file(out_ / "config.toml");
  RunDirectory run = open(small_identity({"stop.epochs=3"}));
  ASSERT_TRUE(run.earlier_end().has_value());
  EXPECT_EQ(run.earlier_end()->steps, 10);
  EXPECT_FALSE(run.same_stop_rules());
  EXPECT_TRUE(fs::exists(out_ / "summary.json"));
  EXPECT_EQ(bytes_of_file(out_ / "config.toml"), config) << "the end and its rules belong together";
  run.begin(10, true);
  EXPECT_FALSE(fs::exists(out_ / "summary.json"));
  EXPECT_NE(bytes_of_file(out_ / "config.toml"), config);
}

TEST_F(ExtendedTest, an_end_that_stands_is_not_taken_back) {
  finish_run();
  {
    RunDirectory run = open(small_identity({"stop.epochs=1"}));
    EXPECT_TRUE(run.same_stop_rules());
    run.begin(10, false);
    EXPECT_TRUE(fs::exists(out_ / "summary.json"));
  }
  open(small_identity({"stop.epochs=1"})).begin(5, false);  // from an earlier checkpoint: the newest was damaged
  EXPECT_FALSE(fs::exists(out_ / "summary.json"));
}

TEST_F(ExtendedTest, whatever_is_written_first_takes_the_end_back) {
  finish_run();
  RunDirectory run = open(small_identity());
  save(run, 20);
  EXPECT_FALSE(fs::exists(out_ / "summary.json"));
}

TEST_F(ExtendedTest, without_an_end_the_newest_checkpoint_counts_and_not_the_earlier_final) {
  finish_run();
  EXPECT_EQ(RunReader(out_).best_model()->name, "final");
  {
    RunDirectory run = open(small_identity({"stop.epochs=3"}));
    run.begin(10, true);
    save(run, 20);
  }
  EXPECT_EQ(RunReader(out_).best_model()->name, "checkpoints/" + checkpoint_name(20));
}

// As a version before this one left it: the end was taken back with the next evaluation only.
TEST_F(ExtendedTest, an_end_with_a_later_checkpoint_beside_it_is_none) {
  finish_run();
  const std::string summary = bytes_of_file(out_ / "summary.json");
  {
    RunDirectory run = open(small_identity({"stop.epochs=3"}));
    save(run, 20);
  }
  put_file(out_ / "summary.json", summary);
  const Summary end = read_run_summary(out_);
  EXPECT_EQ(end.status, RunStatus::kInterrupted);
  EXPECT_TRUE(contains(end.reason, "step 20")) << end.reason;
  EXPECT_EQ(RunReader(out_).best_model()->name, "checkpoints/" + checkpoint_name(20));
}

TEST_F(ExtendedTest, a_folder_that_was_moved_is_noticed_and_not_made_again) {
  RunDirectory run = open(small_identity());
  save(run, 10);
  fs::rename(out_, root_ / "elsewhere");
  const auto refused = [&](const std::function<void()>& write) {
    const std::string text = message_of<IoError>(write);
    EXPECT_TRUE(contains(text, "moved, removed or replaced")) << text;
    EXPECT_TRUE(contains(text, "elsewhere")) << text;
    EXPECT_FALSE(fs::exists(out_));
  };
  refused([&] { run.append_metrics({1, 10, 0, 0, 0, {{"train.loss", 1}}}); });
  refused([&] { save(run, 20); });
  refused([&] { run.save_model("final", SmallCheckpoint(10).model()); });
  refused([&] { run.write_dataset({}); });
  fs::create_directories(out_);
  EXPECT_THROW(save(run, 20), IoError) << "another folder of that name is not this run's";
  EXPECT_TRUE(fs::is_empty(out_));
  fs::remove_all(out_);
  EXPECT_THROW(run.write_summary({}), IoError);
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(ExtendedTest, a_temporary_that_somebody_writes_in_the_folder_stays) {
  { open(small_identity()).log("x"); }
  const TemporaryFile live(out_ / "similarity.csv");  // as fit writes it after training
  const RunDirectory run = open(small_identity());
  EXPECT_TRUE(fs::exists(live.path()));
}

}  // namespace
}  // namespace locus
