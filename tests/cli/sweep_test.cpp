// Sweeps as a user runs them: the program itself, in a folder, with tiny cells.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "io/file.h"
#include "tests/support/fake_run.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using testing_support::TempFolder;

struct Result {
  int code = 0;
  std::string output;
};

Result shell(const std::string& command) {
  Result r;
  FILE* pipe = ::popen(("exec 2>&1; " + command).c_str(), "r");
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) r.output.append(buffer.data(), n);
  const int status = ::pclose(pipe);
  r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return r;
}

class SweepTest : public ::testing::Test {
 protected:
  SweepTest() {
    std::ofstream(folder_ / "tiny.toml") << "[model]\nlayers = 1\nwidth = 8\n[train]\nbatch = 16\n[stop]\nepochs = 1\n"
                                            "[lst]\nper_difficulty = 20\nheldout_items = 2\nmin_distance = 0.3\n";
  }

  std::string command(const std::string& arguments) const {
    return std::string(LOCUS_BINARY) + " sweep " + (folder_ / "tiny.toml") + " --jobs 2 --out " + (folder_ / "out") + " " +
           arguments;
  }
  Result sweep(const std::string& arguments) const { return shell(command(arguments)); }
  nlohmann::json sweep_json(const std::string& arguments, int code = 0) const {
    const Result r = shell(command(arguments + " --json --quiet 2>/dev/null"));
    EXPECT_EQ(r.code, code) << r.output;
    return nlohmann::json::parse(r.output);
  }
  int ends() const {
    return std::stoi(shell("cat " + (folder_ / "out") + "/cells/*/log.txt | grep -c ' finished: '").output);
  }

  TempFolder folder_{"sweep_cli"};
};

TEST_F(SweepTest, added_cells_are_the_only_ones_that_run) {
  EXPECT_EQ(sweep_json("pe.sigma=0.1,2 seed=0..1")["ran"], 4);
  const std::string before = read_text_file(folder_ / "out/results.csv");
  EXPECT_EQ(sweep_json("pe.sigma=0.1,2 seed=0..1")["ran"], 0);
  EXPECT_EQ(read_text_file(folder_ / "out/results.csv"), before);
  EXPECT_EQ(sweep_json("pe.sigma=0.1,2 seed=0..2")["ran"], 2);
  EXPECT_EQ(ends(), 6);
}

TEST_F(SweepTest, two_sweeps_at_once_share_the_work) {
  const std::string run = command("pe.sigma=0.1,2 seed=0..3 --quiet");
  const Result r = shell(run + " & first=$!; " + run + " & wait $first && wait $!");
  EXPECT_EQ(r.code, 0) << r.output;
  EXPECT_EQ(ends(), 8);
  EXPECT_EQ(shell("cut -d, -f1 " + (folder_ / "out/results.csv") + " | sort -u | wc -l").output, "9\n");
}

TEST_F(SweepTest, shards_and_array_tasks_take_their_cells) {
  EXPECT_EQ(sweep_json("seed=0..4 --shard 1/2")["finished"], 2);
  const Result r = shell("SLURM_ARRAY_TASK_ID=4 " + command("seed=0..4 --json --quiet 2>/dev/null"));
  EXPECT_EQ(nlohmann::json::parse(r.output)["ran"], 1);
  EXPECT_EQ(shell("SLURM_ARRAY_TASK_ID=5 " + command("seed=0..4")).code, 2);
  EXPECT_EQ(sweep_json("seed=0..4")["ran"], 2);
}

TEST_F(SweepTest, a_divergence_is_reported_and_the_others_finish) {
  const nlohmann::json j = sweep_json("optim.kind=sgd optim.lr=0.001,1e6 stop.epochs=20 seed=0..1", 3);
  EXPECT_EQ(j["finished"], 2);
  ASSERT_EQ(j["failures"].size(), 2u);
  EXPECT_EQ(j["failures"][0]["status"], "diverged");
  EXPECT_TRUE(fs::exists(j["failures"][0]["log"].get<std::string>()));
  EXPECT_NE(sweep("optim.kind=sgd optim.lr=0.001,1e6 stop.epochs=20 seed=0..1").output.find("optim.lr=1e+06"),
            std::string::npos);
}

TEST_F(SweepTest, a_cell_beyond_the_memory_limit_is_reported_and_the_others_finish) {
  const Result r = shell("ulimit -v 2000000; " + command("model.width=8,16384 seed=0"));
  EXPECT_EQ(r.code, 3) << r.output;
  EXPECT_NE(r.output.find("out of memory: cell 1"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("1 cells finished"), std::string::npos) << r.output;
}

TEST_F(SweepTest, a_crashed_worker_is_reported_by_name_and_the_next_sweep_finishes_it) {
  const std::string long_cells = "stop.epochs=3000 watch.eval_every=3000 seed=0..1";
  const Result r = shell(command(long_cells) +
                         " & parent=$!; w=; for i in $(seq 400); do w=$(pgrep -P $parent | head -1); "
                         "[ -n \"$w\" ] && break; sleep 0.05; done; sleep 0.2; kill -SEGV $w; wait $parent");
  EXPECT_EQ(r.code, 3) << r.output;
  EXPECT_NE(r.output.find("crashed: cell"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("Segmentation fault"), std::string::npos) << r.output;
  EXPECT_EQ(sweep_json(long_cells)["ran"], 1);
}

TEST_F(SweepTest, a_full_disk_is_reported_and_the_others_finish) {
  fs::create_directories(folder_ / "out");
  if (shell("mount -t tmpfs -o size=60m none " + (folder_ / "out")).code != 0) GTEST_SKIP() << "needs the right to mount";
  const Result r = sweep("model.width=8,2048 seed=0..1");
  const bool small_ones = r.output.find("2 cells finished") != std::string::npos;
  shell("umount " + (folder_ / "out"));
  EXPECT_EQ(r.code, 3) << r.output;
  EXPECT_NE(r.output.find("disk full: cell"), std::string::npos) << r.output;
  EXPECT_TRUE(small_ones) << r.output;
}

TEST_F(SweepTest, stopped_by_a_signal_it_goes_on_later) {
  const std::string cells = "stop.epochs=3000 watch.eval_every=3000 seed=0..1";
  const Result r = shell(command(cells) + " & parent=$!; sleep 0.3; kill -TERM $parent; wait $parent");
  EXPECT_EQ(r.code, 75) << r.output;
  EXPECT_EQ(sweep_json(cells)["finished"], 2);
  EXPECT_EQ(ends(), 2);
}

TEST_F(SweepTest, dry_run_leaves_no_trace) {
  const nlohmann::json j = sweep_json("pe.sigma=0.1,2 seed=0..2 --dry-run");
  EXPECT_EQ(j["count"], 6);
  EXPECT_EQ(j["to_run"], 6);
  EXPECT_GT(j["seconds"].get<double>(), 0);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(SweepTest, gc_drops_models_by_policy_and_never_measures) {
  sweep("seed=0..1 --quiet");
  const std::string gc = std::string(LOCUS_BINARY) + " gc " + (folder_ / "out");
  EXPECT_EQ(shell(gc + " </dev/null").code, 2);
  EXPECT_EQ(shell("ls -d " + (folder_ / "out") + "/cells/*/checkpoints | wc -l").output, "2\n");
  EXPECT_EQ(shell(gc + " --keep all-models --yes").code, 0);
  EXPECT_EQ(shell("ls " + (folder_ / "out") + "/cells/*/checkpoints 2>/dev/null | wc -l").output, "0\n");
  EXPECT_EQ(shell("ls -d " + (folder_ / "out") + "/cells/*/init | wc -l").output, "2\n");
  EXPECT_EQ(shell(gc + " --keep nothing --yes").code, 0);
  EXPECT_EQ(shell("ls " + (folder_ / "out") + "/cells/*/*/model.safetensors 2>/dev/null | wc -l").output, "0\n");
  EXPECT_EQ(
      shell("ls " + (folder_ / "out") + "/cells/*/summary.json " + (folder_ / "out") + "/cells/*/metrics.* | wc -l").output,
      "6\n");
  EXPECT_EQ(sweep_json("seed=0..1")["ran"], 0);
}

}  // namespace
}  // namespace locus
