// Sweeps as a user runs them: the program itself, in a folder, with tiny cells.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "core/json.h"
#include "io/file.h"
#include "tests/support/fake_run.h"
#include "tests/support/paths.h"

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

  std::string command(const std::string& arguments, int jobs = 2) const {
    return locus::test::binary() + " sweep " + (folder_ / "tiny.toml") + " --jobs " + std::to_string(jobs) + " --out " +
           (folder_ / "out") + " " + arguments;
  }
  Result sweep(const std::string& arguments) const { return shell(command(arguments)); }
  Json sweep_json(const std::string& arguments, int code = 0) const {
    const Result r = shell(command(arguments + " --json --quiet 2>/dev/null"));
    EXPECT_EQ(r.code, code) << r.output;
    return Json::parse(r.output);
  }
  // A script whose folder of the sweep is a disk of its own; exit code kNoDisk where that cannot be had. It goes away with
  // the script.
  Result on_small_disk(int megabytes, const std::string& script) const {
    fs::create_directories(folder_ / "out");
    std::ofstream(folder_ / "script.sh") << "out=" << (folder_ / "out") << "\nmount -t tmpfs -o size=" << megabytes
                                         << "m none $out || exit " << kNoDisk << "\n"
                                         << script << "\n";
    return shell(std::string(::geteuid() == 0 ? "unshare -m" : "unshare -rm") + " sh " + (folder_ / "script.sh") +
                 " || { code=$?; [ $code -eq 1 ] && ! unshare -rm true && code=" + std::to_string(kNoDisk) +
                 "; exit $code; }");
  }
  // Shell: waits until $parent has a worker and its run the file, then stops it; $worker is its id.
  static std::string stop_worker_at(const std::string& file) {
    return "for i in $(seq 2000); do worker=$(pgrep -P $parent | head -1); [ -n \"$worker\" ] && ls " + file +
           " >/dev/null 2>&1 && break; sleep 0.01; done; kill -STOP $worker\n";
  }
  std::string text_of_logs() const { return shell("cat " + (folder_ / "out") + "/cells/*/log.txt").output; }
  int starts() const { return std::stoi(shell("cat " + (folder_ / "out") + "/cells/*.log | grep -c '^== '").output); }
  int ends() const {
    return std::stoi(shell("cat " + (folder_ / "out") + "/cells/*/log.txt | grep -c ' finished: '").output);
  }

  static constexpr int kNoDisk = 99;
  TempFolder folder_{"sweep_cli"};
};

// Cells that take seconds and write checkpoints on their way.
constexpr const char* kLong = " stop.epochs=3000 watch.eval_every=3000 watch.checkpoint_every=50 ";
// Width of a model that no test's memory limit allows.
constexpr const char* kMemoryLimit = "ulimit -v 2000000; ";

TEST_F(SweepTest, added_cells_are_the_only_ones_that_run) {
  EXPECT_EQ(sweep_json("pe.sigma=0.1,2 seed=0..1")["ran"], 4);
  const std::string before = read_text_file(folder_ / "out/results.csv");
  EXPECT_EQ(sweep_json("pe.sigma=0.1,2 seed=0..1")["ran"], 0);
  EXPECT_EQ(read_text_file(folder_ / "out/results.csv"), before);
  EXPECT_EQ(sweep_json("pe.sigma=0.1,2 seed=0..6")["ran"], 10);
  EXPECT_EQ(ends(), 14);
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
  EXPECT_EQ(Json::parse(r.output)["ran"], 1);
  EXPECT_EQ(shell("SLURM_ARRAY_TASK_ID=5 " + command("seed=0..4")).code, 2);
  EXPECT_EQ(sweep_json("seed=0..4")["ran"], 2);
}

TEST_F(SweepTest, a_divergence_is_reported_and_the_others_finish) {
  const Json j = sweep_json("optim.kind=sgd optim.lr=0.001,1e6 stop.epochs=20 seed=0..1", 3);
  EXPECT_EQ(j["finished"], 2);
  ASSERT_EQ(j["failures"].size(), 2u);
  EXPECT_EQ(j["failures"][0]["status"], "diverged");
  EXPECT_TRUE(fs::exists(j["failures"][0]["log"].get<std::string>()));
  EXPECT_NE(sweep("optim.kind=sgd optim.lr=0.001,1e6 stop.epochs=20 seed=0..1").output.find("optim.lr=1e+06"),
            std::string::npos);
}

TEST_F(SweepTest, a_cell_beyond_the_memory_limit_is_reported_and_the_others_finish) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer reserves more address space than any limit leaves";
#endif
  const Result r = shell("ulimit -v 2000000; " + command("model.width=8,16384 seed=0"));
  EXPECT_EQ(r.code, 3) << r.output;
  EXPECT_NE(r.output.find("out of memory: cell 1"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("1 cells finished"), std::string::npos) << r.output;
}

TEST_F(SweepTest, a_crashed_worker_is_reported_by_name_and_the_next_sweep_finishes_it) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer turns a SIGSEGV into an exit code of its own";
#endif
  const std::string long_cells = "stop.epochs=3000 watch.eval_every=3000 seed=0..1";
  const Result r = shell(command(long_cells) + " & parent=$!\n" + stop_worker_at((folder_ / "out") + "/cells/*/init") +
                         "kill -SEGV $worker; kill -CONT $worker; wait $parent");
  EXPECT_EQ(r.code, 3) << r.output;
  EXPECT_NE(r.output.find("crashed: cell"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("Segmentation fault"), std::string::npos) << r.output;
  EXPECT_EQ(sweep_json(long_cells)["ran"], 1);
}

TEST_F(SweepTest, a_disk_too_small_for_a_cell_is_reported_and_the_others_finish) {
  const Result r = on_small_disk(60, command("model.width=8,2048 seed=0..1"));
  if (r.code == kNoDisk) GTEST_SKIP() << "needs the right to mount";
  EXPECT_EQ(r.code, 3) << r.output;
  EXPECT_NE(r.output.find("disk full: cell"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("2 cells finished"), std::string::npos) << r.output;
}

TEST_F(SweepTest, a_disk_that_fills_up_during_a_run_is_reported_and_the_others_finish) {
  // A checkpoint of the first cell (15 MB) is more than what is left when it goes on; the others have room enough.
  const std::string run = command("model.width=320,8,16 seed=0 stop.epochs=8 watch.checkpoint_every=1", 1);
  const Result r = on_small_disk(
      100, run + " & parent=$!\n" + stop_worker_at("$out/cells/*/checkpoints/0*") +
               "free=$(df --output=avail -k $out | tail -1); head -c $(((free - 10500) * 1024)) /dev/zero >$out/filler\n"
               "kill -CONT $worker; wait $parent; echo first sweep: $?\n"
               "rm $out/filler\n" +
               run + "; echo second sweep: $?; cat $out/cells/*/log.txt");
  if (r.code == kNoDisk) GTEST_SKIP() << "needs the right to mount";
  EXPECT_NE(r.output.find("disk full: cell 0"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("reason: "), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("No space left on device"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("2 cells finished (2 now), 1 failed, 0 left"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("first sweep: 3"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("3 cells finished (1 now), 0 failed, 0 left"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("second sweep: 0"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("resumed from step"), std::string::npos) << r.output;
}

TEST_F(SweepTest, retry_tries_a_failed_cell_again_at_once) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer reserves more address space than any limit leaves";
#endif
  const Result r = shell(kMemoryLimit + command("model.width=16384 seed=0 --retry 2"));
  EXPECT_EQ(r.code, 3) << r.output;
  EXPECT_EQ(starts(), 3) << r.output;
  // Nothing changes a divergence: it is not tried again.
  const Result diverged = sweep("optim.kind=sgd optim.lr=1e6 stop.epochs=20 seed=0 --retry 2");
  EXPECT_EQ(diverged.code, 3) << diverged.output;
  EXPECT_EQ(starts(), 4) << diverged.output;
}

TEST_F(SweepTest, retry_saves_a_cell_that_was_killed_once) {
  const Result r = shell(command(std::string(kLong) + "seed=0 --retry 1") + " & parent=$!\n" +
                         stop_worker_at((folder_ / "out") + "/cells/*/checkpoints/0*") + "kill -KILL $worker; wait $parent");
  EXPECT_EQ(r.code, 0) << r.output;
  EXPECT_NE(r.output.find("killed"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("trying again"), std::string::npos) << r.output;
  EXPECT_EQ(starts(), 2) << r.output;
  EXPECT_NE(text_of_logs().find("resumed from step"), std::string::npos);
}

TEST_F(SweepTest, fail_fast_stops_at_the_first_failure) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer reserves more address space than any limit leaves";
#endif
  const std::string cells = "model.width=16384,8 seed=0..1 ";
  const Result r = shell(kMemoryLimit + command(cells + "--fail-fast", 1));
  EXPECT_EQ(r.code, 3) << r.output;
  EXPECT_NE(r.output.find("out of memory: cell 0"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("0 cells finished (0 now), 1 failed, 3 left"), std::string::npos) << r.output;
  const Result on = shell(kMemoryLimit + command(cells, 1));
  EXPECT_NE(on.output.find("2 cells finished (2 now), 2 failed, 0 left"), std::string::npos) << on.output;
}

TEST_F(SweepTest, the_time_limit_leaves_checkpoints_to_go_on_from) {
  // No limit lets such a cell finish, so each is cut; on a slow machine the first may strike before the first step.
  const std::string endless = "stop.epochs=100000000 watch.eval_every=100000000 seed=0..3 ";
  for (const char* hours : {"0.0002", "0.0003", "0.001", "0.003", "0.01"}) {
    const Result r = sweep(endless + "--max-hours " + hours);
    ASSERT_EQ(r.code, 75) << r.output;
    EXPECT_NE(r.output.find("the same command goes on from here"), std::string::npos) << r.output;
    if (text_of_logs().find("resumed from step") != std::string::npos) break;
  }
  EXPECT_NE(text_of_logs().find("resumed from step"), std::string::npos) << "no cell went on from a checkpoint";
  // When to stop is no part of a cell: the same ones, cut or not begun, now end.
  EXPECT_EQ(sweep_json("stop.epochs=1 seed=0..3")["finished"], 4);
  EXPECT_EQ(ends(), 4);
}

TEST_F(SweepTest, stopped_as_early_as_can_be_nothing_is_half_done) {
  const std::string tiny = folder_ / "tiny.toml";
  const auto stopped = [&](const std::string& run, const std::string& out, const char* moment) {
    const Result r = shell(run + " & sleep " + moment + "; kill -TERM $!; wait $!");
    // Within the first moments no program can answer; then nothing is there either.
    EXPECT_TRUE(r.code == 75 || r.code == 0 || (r.code == 143 && !fs::exists(out))) << run << moment << r.code << r.output;
    EXPECT_EQ(shell(run).code, 0) << run;
    fs::remove_all(out);
  };
  for (const char* moment : {"0", "0.01", "0.03", "0.1", "0.3"}) {
    stopped(command("seed=0"), folder_ / "out", moment);
    stopped(locus::test::binary() + " train " + tiny + " --quiet --out " + (folder_ / "run"), folder_ / "run", moment);
  }
  // While the puzzles are made there is nothing to save yet, and nobody waits for them.
  const Result r = shell("export LOCUS_CACHE=" + (folder_ / "cache") + "; " + locus::test::binary() + " train " + tiny +
                         " lst.per_difficulty=1000000 --out " + (folder_ / "big") +
                         " & while read -r stat </proc/$!/stat; do set -- $stat; [ ${14} -ge 20 ] && break; sleep 0.02; "
                         "done; kill -TERM $!; wait $!");
  EXPECT_EQ(r.code, 75) << r.output;
  EXPECT_NE(r.output.find("before anything was begun"), std::string::npos) << r.output;
  EXPECT_FALSE(fs::exists(folder_ / "big"));
}

TEST_F(SweepTest, stopped_by_a_signal_it_goes_on_later) {
  const std::string cells = "stop.epochs=3000 watch.eval_every=3000 seed=0..1";
  const Result r = shell(command(cells) + " & parent=$!\n" + stop_worker_at((folder_ / "out") + "/cells/*/init") +
                         "kill -TERM $parent; sleep 0.1; kill -CONT $worker; wait $parent");
  EXPECT_EQ(r.code, 75) << r.output;
  EXPECT_EQ(sweep_json(cells)["finished"], 2);
  EXPECT_EQ(ends(), 2);
}

TEST_F(SweepTest, asked_again_it_stops_without_waiting_for_checkpoints) {
  // A worker that hangs can write none.
  const Result r = shell(command(std::string(kLong) + "seed=0") + " & parent=$!\n" +
                         stop_worker_at((folder_ / "out") + "/cells/*/checkpoints/0*") +
                         "for i in $(seq 100); do kill -TERM $parent 2>/dev/null || break; sleep 0.2; done; wait $parent");
  EXPECT_EQ(r.code, 75) << r.output;
  EXPECT_NE(r.output.find("0 cells finished (0 now), 0 failed, 1 left"), std::string::npos) << r.output;
  EXPECT_EQ(sweep_json(std::string(kLong) + "seed=0")["finished"], 1);
  EXPECT_NE(text_of_logs().find("resumed from step"), std::string::npos);
}

TEST_F(SweepTest, dry_run_leaves_no_trace) {
  const Json j = sweep_json("pe.sigma=0.1,2 seed=0..2 --dry-run");
  EXPECT_EQ(j["count"], 6);
  EXPECT_EQ(j["to_run"], 6);
  EXPECT_GT(j["seconds"].get<double>(), 0);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(SweepTest, gc_drops_models_by_policy_and_never_measures) {
  sweep("seed=0..1 --quiet");
  const std::string gc = locus::test::binary() + " gc " + (folder_ / "out");
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
