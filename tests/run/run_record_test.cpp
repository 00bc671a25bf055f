#include "run/run_record.h"

#include <cmath>
#include <limits>

#include "run/layout.h"
#include "tests/run/run_testing.h"

namespace locus {
namespace {

class RunRecordTest : public RunFolderTest {
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

TEST_F(RunRecordTest, whole_run_is_read_without_problems) {
  make_run();
  const RunRecord record = read_run(out_);
  EXPECT_TRUE(record.problems.empty()) << joined(record.problems);
  ASSERT_TRUE(record.config.has_value());
  EXPECT_EQ(record.config->pe.sigma, 0.3);
  EXPECT_EQ(record.config_hash, small_identity({"pe.sigma=0.3"}).hashes.current);
  EXPECT_EQ(record.manifest["command"], "locus train a.toml");
  EXPECT_EQ(record.metrics.rows.size(), 2U);
  EXPECT_EQ(record.metrics.last("heldout.accuracy"), 0.5);
  ASSERT_TRUE(record.summary.has_value());
  EXPECT_EQ(record.summary->status, RunStatus::kDiverged);
  EXPECT_EQ(record.summary->config_hash, record.config_hash);
  EXPECT_TRUE(std::isnan(*record.summary->find("train.loss")));
  EXPECT_TRUE(contains(bytes_of_file(out_ / "summary.json"), "\"train.loss\": \"nan\""));
  std::vector<std::string> names;
  for (const ModelEntry& m : record.models) names.push_back(m.name);
  EXPECT_EQ(names, (std::vector<std::string>{"init", "snapshots/2", "snapshots/10", "checkpoints/" + checkpoint_name(10),
                                             "final"}));
  EXPECT_EQ(record.best_model()->name, "final");
  EXPECT_FALSE(record.training);
}

TEST_F(RunRecordTest, a_summary_of_another_run_is_no_summary) {
  make_run();
  const std::string own = bytes_of_file(out_ / "summary.json");
  EXPECT_TRUE(read_run(out_).summary->verified);
  EXPECT_TRUE(read_run(out_).notes.empty());
  const auto other_summary = [&](const std::vector<std::string>& overrides) {
    const fs::path folder = root_ / "other";
    fs::remove_all(folder);
    RunDirectory::open_for_training(folder, small_identity(overrides)).write_summary({});
    return bytes_of_file(folder / "summary.json");
  };
  // Of another configuration, and of the same configuration with another stop rule, which is no part of the hash.
  for (const char* change : {"pe.sigma=0.4", "stop.epochs=7"}) {
    put_file(out_ / "summary.json", other_summary({"pe.sigma=0.3", change}));
    const RunRecord record = read_run(out_);
    EXPECT_FALSE(record.summary.has_value()) << change;
    EXPECT_TRUE(contains(joined(record.problems), "that of another run")) << joined(record.problems);
    EXPECT_THROW(read_run_summary(out_), IoError) << change;
  }
  put_file(out_ / "summary.json", own);
  EXPECT_TRUE(read_run(out_).problems.empty());
}

TEST_F(RunRecordTest, a_summary_from_before_runs_had_an_id_is_unverified) {
  make_run();
  auto json = nlohmann::json::parse(bytes_of_file(out_ / "summary.json"));
  json.erase("run_id");
  json.erase("metrics_sha256");
  put_file(out_ / "summary.json", json.dump());
  const RunRecord record = read_run(out_);
  ASSERT_TRUE(record.summary.has_value());
  EXPECT_FALSE(record.summary->verified);
  EXPECT_TRUE(record.problems.empty()) << joined(record.problems);
  EXPECT_TRUE(contains(joined(record.notes), "unverified")) << joined(record.notes);
}

TEST_F(RunRecordTest, metrics_that_were_changed_after_the_end_are_a_problem) {
  make_run();
  std::string lines = bytes_of_file(out_ / "metrics.jsonl");
  put_file(out_ / "metrics.jsonl", lines.replace(lines.find("\"train.loss\":1"), 14, "\"train.loss\":2"));
  EXPECT_TRUE(contains(joined(read_run(out_).problems), "not as the run wrote it")) << joined(read_run(out_).problems);
}

TEST_F(RunRecordTest, running_run_is_seen_as_such) {
  const RunDirectory run = open(small_identity());
  const RunRecord record = read_run(out_);
  EXPECT_TRUE(record.training);
  EXPECT_FALSE(record.summary.has_value());
  EXPECT_TRUE(record.problems.empty()) << joined(record.problems);
  EXPECT_EQ(record.best_model(), nullptr);
}

TEST_F(RunRecordTest, each_broken_part_is_a_problem_and_the_rest_is_read) {
  make_run();
  put_file(out_ / "manifest.json", "{");
  put_file(out_ / "config.toml", "pe.sigm = 3");
  put_file(out_ / "summary.json", "[1]");
  fs::remove(out_ / "final/model.safetensors");
  const RunRecord record = read_run(out_);
  EXPECT_EQ(record.problems.size(), 4U) << joined(record.problems);
  for (const char* part : {"manifest.json", "config.toml", "summary.json", "final/model.safetensors"}) {
    EXPECT_TRUE(contains(joined(record.problems), part)) << part;
  }
  EXPECT_EQ(record.metrics.rows.size(), 2U);
  EXPECT_FALSE(record.config.has_value());
  EXPECT_EQ(record.best_model()->name, "checkpoints/" + checkpoint_name(10));
}

TEST_F(RunRecordTest, a_run_extended_and_interrupted_stands_at_its_newest_checkpoint) {
  make_run();
  std::string summary = bytes_of_file(out_ / "summary.json");
  summary.replace(summary.find("diverged"), 8, "interrupted");
  put_file(out_ / "summary.json", summary);
  EXPECT_EQ(read_run(out_).best_model()->name, "checkpoints/" + checkpoint_name(10));
}

TEST_F(RunRecordTest, something_that_is_no_folder_is_an_error) {
  EXPECT_THROW(read_run(root_ / "nowhere"), IoError);
  put_file(root_ / "file", "");
  EXPECT_THROW(read_run(root_ / "file"), IoError);
}

TEST_F(RunRecordTest, runs_are_found_below_folders_once_and_in_order) {
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
