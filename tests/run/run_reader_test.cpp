#include "run/run_reader.h"

#include <unistd.h>

#include <cmath>
#include <limits>

#include "run/build_info.h"
#include "run/layout.h"
#include "tests/run/run_testing.h"

namespace locus {
namespace {

RunReader read_all(const fs::path& path) {
  RunReader run(path);
  run.read_all();
  return run;
}

class RunReaderTest : public RunFolderTest {
 protected:
  void make_run() const {
    RunDirectory run = open(small_identity({"pe.sigma=0.3"}));
    const SmallCheckpoint small(10);
    for (const char* name : {"init", "snapshots/2", "snapshots/10", "final"}) run.save_model(name, small.model());
    run.append_metrics({1, 10, 0.5, 0, 0, {{"train.loss", 2}, {"heldout.accuracy", 0.5}}});
    save(run, 10);
    run.append_metrics({2, 20, 1.5, 0, 0, {{"train.loss", 1}}});
    run.write_summary({.status = RunStatus::kDiverged,
                       .reason = "NaN",
                       .epochs = 2,
                       .steps = 20,
                       .seconds = 1.5,
                       .values = {{"train.loss", std::numeric_limits<double>::quiet_NaN()}, {"heldout.accuracy", 0.5}}});
  }
};

TEST_F(RunReaderTest, whole_run_is_read_without_problems) {
  make_run();
  const RunReader run = read_all(out_);
  EXPECT_TRUE(run.problems().empty()) << joined(run.problems());
  ASSERT_TRUE(run.config().has_value());
  EXPECT_EQ(run.config()->pe.sigma, 0.3);
  EXPECT_EQ(run.config_hash(), small_identity({"pe.sigma=0.3"}).hashes.current);
  EXPECT_EQ(run.manifest()["command"], "locus train a.toml");
  EXPECT_EQ(run.metrics().rows.size(), 2U);
  EXPECT_EQ(run.metrics().last("heldout.accuracy"), 0.5);
  ASSERT_TRUE(run.summary().has_value());
  EXPECT_EQ(run.summary()->status, RunStatus::kDiverged);
  EXPECT_EQ(run.summary()->config_hash, run.config_hash());
  EXPECT_TRUE(std::isnan(*run.summary()->find("train.loss")));
  EXPECT_TRUE(contains(bytes_of_file(out_ / "summary.json"), "\"train.loss\": \"nan\""));
  std::vector<std::string> names;
  for (const ModelEntry& m : run.models()) names.push_back(m.name);
  EXPECT_EQ(names, (std::vector<std::string>{"init", "snapshots/2", "snapshots/10", "checkpoints/" + checkpoint_name(10),
                                             "final"}));
  EXPECT_EQ(run.best_model()->name, "checkpoints/" + checkpoint_name(10)) << "it diverged after an earlier end";
  EXPECT_FALSE(run.live().has_value());
}

TEST_F(RunReaderTest, a_summary_of_another_run_is_no_summary) {
  make_run();
  const std::string own = bytes_of_file(out_ / "summary.json");
  EXPECT_TRUE(read_all(out_).summary()->verified);
  EXPECT_TRUE(read_all(out_).notes().empty());
  const auto other_summary = [&](const std::vector<std::string>& overrides) {
    const fs::path folder = root_ / "other";
    fs::remove_all(folder);
    RunDirectory::open_for_training(folder, small_identity(overrides)).write_summary({});
    return bytes_of_file(folder / "summary.json");
  };
  // Of another configuration, and of the same configuration with another stop rule, which is no part of the hash.
  for (const char* change : {"pe.sigma=0.4", "stop.epochs=7"}) {
    put_file(out_ / "summary.json", other_summary({"pe.sigma=0.3", change}));
    const RunReader run = read_all(out_);
    EXPECT_FALSE(run.summary().has_value()) << change;
    EXPECT_TRUE(contains(joined(run.problems()), "that of another run")) << joined(run.problems());
    EXPECT_THROW(read_run_summary(out_), IoError) << change;
  }
  put_file(out_ / "summary.json", own);
  EXPECT_TRUE(read_all(out_).problems().empty());
}

TEST_F(RunReaderTest, a_summary_from_before_runs_had_an_id_is_unverified) {
  make_run();
  auto json = Json::parse(bytes_of_file(out_ / "summary.json"));
  json.erase("run_id");
  json.erase("metrics_sha256");
  put_file(out_ / "summary.json", json.dump());
  const RunReader run = read_all(out_);
  ASSERT_TRUE(run.summary().has_value());
  EXPECT_FALSE(run.summary()->verified);
  EXPECT_TRUE(run.problems().empty()) << joined(run.problems());
  EXPECT_TRUE(contains(joined(run.notes()), "unverified")) << joined(run.notes());
}

TEST_F(RunReaderTest, metrics_that_were_changed_after_the_end_are_a_problem) {
  make_run();
  std::string lines = bytes_of_file(out_ / "metrics.jsonl");
  put_file(out_ / "metrics.jsonl", lines.replace(lines.find("\"train.loss\":1"), 14, "\"train.loss\":2"));
  EXPECT_TRUE(contains(joined(read_all(out_).problems()), "not as the run wrote it")) << joined(read_all(out_).problems());
}

TEST_F(RunReaderTest, running_run_is_seen_as_such) {
  const RunDirectory training = open(small_identity());
  const RunReader run = read_all(out_);
  EXPECT_TRUE(run.live().has_value());
  EXPECT_FALSE(run.summary().has_value());
  EXPECT_TRUE(run.problems().empty()) << joined(run.problems());
  EXPECT_EQ(run.best_model(), nullptr);
}

TEST_F(RunReaderTest, a_part_is_read_when_it_is_asked_for) {
  make_run();
  for (const char* name : {"manifest.json", "config.toml", "metrics.jsonl"}) put_file(out_ / name, "{");
  const RunReader run(out_);
  EXPECT_TRUE(run.summary().has_value());
  EXPECT_TRUE(run.problems().empty()) << "nothing else was looked at: " << joined(run.problems());
  EXPECT_FALSE(run.config().has_value());
  EXPECT_FALSE(run.config().has_value());
  ASSERT_EQ(run.problems().size(), 1U) << "told once: " << joined(run.problems());
  EXPECT_TRUE(contains(run.problems()[0], "config.toml"));
}

TEST_F(RunReaderTest, state_tells_of_a_run_in_training_where_it_stands) {
  RunDirectory run = open(small_identity());
  RunState state = RunReader(out_).state();
  EXPECT_EQ(state.status, "training");
  ASSERT_TRUE(state.live.has_value());
  EXPECT_EQ(state.live->pid, 0) << "it has not written of itself yet";
  TrainingState here;
  here.epoch = 3;
  here.step = 1999;
  here.total_steps = 4000;
  here.epoch_fraction = 0.25;
  here.loss = 0.125;
  here.seconds = 61.5;
  here.seconds_left = 60;
  run.tell_state(here);
  run.append_metrics({2, 1200, 40, 0, 0, {{"heldout.accuracy", 0.5}}});
  state = RunReader(out_).state();
  EXPECT_EQ(state.status, "training");
  EXPECT_EQ(state.epochs, 3);
  EXPECT_EQ(state.steps, 1999);
  EXPECT_EQ(state.seconds, 61.5);
  EXPECT_EQ(state.measures.at("heldout.accuracy"), 0.5);
  EXPECT_EQ(state.live->pid, ::getpid());
  EXPECT_EQ(state.live->host, host_info().host);
  EXPECT_EQ(state.live->total_steps, 4000);
  EXPECT_EQ(state.live->epoch_fraction, 0.25);
  EXPECT_EQ(state.live->loss, 0.125);
  EXPECT_TRUE(std::isnan(state.live->accuracy));
  EXPECT_EQ(state.live->seconds_left, 60);
  EXPECT_TRUE(contains(state.live->since, "T")) << state.live->since;
  EXPECT_LT(state.live->heard_ago, 60);
  put_file(out_ / "live.json", "{\"step\": ");
  EXPECT_EQ(RunReader(out_).live()->step, 0) << "a file that is not ours tells nothing";
  run.write_summary({.status = RunStatus::kInterrupted, .reason = "a signal"});
  EXPECT_FALSE(fs::exists(out_ / "live.json"));
}

TEST_F(RunReaderTest, a_live_state_is_not_believed_when_the_lock_is_free) {
  {
    RunDirectory run = open(small_identity());
    TrainingState here;
    here.step = 7;
    run.tell_state(here);
    run.append_metrics({1, 5, 1, 0, 0, {{"train.loss", 2}}});
  }
  ASSERT_TRUE(fs::exists(out_ / "live.json")) << "as a kill leaves it";
  const RunReader run(out_);
  EXPECT_FALSE(run.live().has_value());
  const RunState state = run.state();
  EXPECT_EQ(state.status, "unfinished");
  EXPECT_EQ(state.steps, 5) << "of the last evaluation";
  EXPECT_EQ(state.measures.at("train.loss"), 2);
  // What the next process says is its own.
  const RunDirectory next = open(small_identity());
  ASSERT_TRUE(run.live().has_value());
  EXPECT_EQ(run.live()->step, 0);
}

TEST_F(RunReaderTest, the_last_evaluation_is_found_at_the_end_of_a_long_file) {
  RunDirectory run = open(small_identity());
  EXPECT_FALSE(RunReader(out_).last_evaluation().has_value());
  for (int i = 1; i <= 400; ++i) run.append_metrics({i, 10 * i, 0.5 * i, 0, 0, {{"train.loss", 1.0 / i}}});
  ASSERT_GT(fs::file_size(out_ / "metrics.jsonl"), std::uintmax_t{20000});
  EXPECT_EQ(RunReader(out_).last_evaluation()->step, 4000);
  const std::string lines = bytes_of_file(out_ / "metrics.jsonl");
  put_file(out_ / "metrics.jsonl", lines.substr(0, lines.size() - 3));
  EXPECT_EQ(RunReader(out_).last_evaluation()->step, 3990) << "the last line is not whole";
  put_file(out_ / "metrics.jsonl", lines + std::string(100000, 'x') + "\n");
  EXPECT_EQ(RunReader(out_).last_evaluation()->step, 4000) << "a line longer than what is read first";
}

TEST_F(RunReaderTest, thinned_metrics_keep_the_first_and_the_last) {
  RunDirectory run = open(small_identity());
  for (int i = 1; i <= 100; ++i) run.append_metrics({i, i, 1, 0, 0, {{"train.loss", 1}}});
  const MetricsTable table = RunReader(out_).thinned_metrics(30);
  EXPECT_EQ(table.evaluations, 100U);
  EXPECT_EQ(table.rows.size(), 26U);
  EXPECT_EQ(table.rows[1].epoch, 5);
  EXPECT_EQ(table.rows.back().epoch, 100);
}

TEST_F(RunReaderTest, each_broken_part_is_a_problem_and_the_rest_is_read) {
  make_run();
  put_file(out_ / "manifest.json", "{");
  put_file(out_ / "config.toml", "pe.sigm = 3");
  put_file(out_ / "summary.json", "[1]");
  fs::remove(out_ / "final/model.safetensors");
  const RunReader run = read_all(out_);
  EXPECT_EQ(run.problems().size(), 4U) << joined(run.problems());
  for (const char* part : {"manifest.json", "config.toml", "summary.json", "final/model.safetensors"}) {
    EXPECT_TRUE(contains(joined(run.problems()), part)) << part;
  }
  EXPECT_EQ(run.metrics().rows.size(), 2U);
  EXPECT_FALSE(run.config().has_value());
  EXPECT_EQ(run.best_model()->name, "checkpoints/" + checkpoint_name(10));
}

TEST_F(RunReaderTest, a_run_extended_and_interrupted_stands_at_its_newest_checkpoint) {
  make_run();
  std::string summary = bytes_of_file(out_ / "summary.json");
  summary.replace(summary.find("diverged"), 8, "interrupted");
  put_file(out_ / "summary.json", summary);
  EXPECT_EQ(read_all(out_).best_model()->name, "checkpoints/" + checkpoint_name(10));
}

TEST_F(RunReaderTest, something_that_is_no_folder_is_an_error) {
  EXPECT_THROW(read_all(root_ / "nowhere"), IoError);
  put_file(root_ / "file", "");
  EXPECT_THROW(read_all(root_ / "file"), IoError);
}

TEST_F(RunReaderTest, runs_are_found_below_folders_once_and_in_order) {
  for (const char* name : {"sweep/b", "sweep/a", "single"}) {
    RunDirectory::open_for_training(root_ / name, small_identity());
  }
  fs::create_directories(root_ / "sweep/webpage");
  put_file(root_ / "sweep/webpage/manifest.json", "{}");
  const std::vector<fs::path> folders = {root_ / "sweep", root_ / "single", root_ / "sweep/a", root_};
  EXPECT_EQ(find_runs(folders), (std::vector<fs::path>{root_ / "single", root_ / "sweep/a", root_ / "sweep/b"}));
  const std::vector<fs::path> missing = {root_ / "nowhere"};
  EXPECT_THROW(find_runs(missing), IoError);
}

}  // namespace
}  // namespace locus
