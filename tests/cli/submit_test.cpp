// Sweeps handed to Slurm and looked at: what the programs of Slurm are asked, with doubles of them in their place. The real
// ones are met by ./run test-slurm.
#include "core/json.h"
#include "core/text.h"
#include "tests/cli/cli_testing.h"

namespace locus {
namespace {

using cli_testing::Result;
using cli_testing::text_of;
using cli_testing::Workplace;
using cli_testing::write;

class SubmitTest : public ::testing::Test {
 protected:
  SubmitTest() {
    write(place_ / "tiny.toml", cli_testing::kTiny);
    // The queue is a file; jobs get the numbers 101, 102, ...
    double_of("sbatch",
              "echo \"sbatch $*\" >>asked\n[ -e refuse ] && { echo 'sbatch: error: invalid partition' >&2; exit 1; }\n"
              "n=$(grep -c ^sbatch asked); echo $((100 + n))");
    double_of("squeue", "cat queue 2>/dev/null || true");
    double_of("scontrol", "echo \"scontrol $*\" >>asked; echo 'MaxArraySize            = 5'");
    double_of("scancel", "echo \"scancel $*\" >>asked");
  }
  void double_of(const std::string& name, const std::string& body) const {
    write(place_ / ("bin/" + name), "#!/bin/bash\ncd '" + place_.folder().string() + "'\n" + body + "\n");
    std::filesystem::permissions(place_ / ("bin/" + name), std::filesystem::perms::owner_all);
  }
  Result shell(const std::string& script) const { return place_.shell("export PATH=$PWD/bin:$PATH\n" + script); }
  std::string asked() const { return text_of(place_ / "asked"); }
  Json status() const { return Json::parse(shell("locus status out --json").out); }

  Workplace place_{testing::UnitTest::GetInstance()->current_test_info()->name()};
};

TEST_F(SubmitTest, a_dry_run_prints_a_script_and_leaves_nothing) {
  const Result r =
      shell("locus submit tiny.toml seed=0..9 --out out --time 2:00:00 -p cpu --mem 1G --dry-run >s.sh && bash -n s.sh");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_FALSE(std::filesystem::exists(place_ / "out"));
  EXPECT_EQ(asked().find("sbatch"), std::string::npos);
  const std::string script = text_of(place_ / "s.sh");
  for (const char* line : {"#SBATCH --partition=cpu\n", "#SBATCH --time=2:00:00", "#SBATCH --mem=1G", "--signal=B:USR1@120"})
    EXPECT_NE(script.find(line), std::string::npos) << line << "\n" << script;
}

TEST_F(SubmitTest, cells_are_packed_into_the_tasks_that_the_cluster_takes) {
  // Cells of an hour would each have a task of their own, but there can be no more than four.
  const Result r = shell("locus submit tiny.toml seed=0..9 --out out --cell-seconds 3600 --mem 1G --json");
  ASSERT_EQ(r.code, 0) << r.err;
  const Json json = Json::parse(r.out);
  EXPECT_EQ(json["tasks"], 4);
  EXPECT_EQ(json["cells"], 10);
  EXPECT_EQ(json["array"], "101");
  EXPECT_EQ(json["collect"], "102");
  EXPECT_NE(asked().find("--dependency=afterany:101 out/jobs/0001/collect.sh"), std::string::npos) << asked();
  EXPECT_NE(text_of(place_ / "out/jobs/0001/array.sh").find("#SBATCH --array=0-3\n"), std::string::npos);
  // Cells of a second share one.
  EXPECT_EQ(Json::parse(shell("locus submit tiny.toml seed=0..9 --out other --cell-seconds 1 --mem 1G --json").out)["tasks"],
            1);
}

TEST_F(SubmitTest, time_and_memory_of_a_cell_are_measured) {
  const Result r = shell("locus submit tiny.toml seed=0..9 --out out");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("10 of 10 cells to run, in 1 task of at most 10 cells"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("a cell takes about"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("memory of a task: "), std::string::npos) << r.out;
  EXPECT_NE(text_of(place_ / "out/jobs/0001/array.sh").find("#SBATCH --mem="), std::string::npos);
}

TEST_F(SubmitTest, a_single_run_is_one_task) {
  const Result r = shell(
      "locus submit tiny.toml --out out --mem 1G --cells-per-task 1 --threads 2 >/dev/null &&\n"
      "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_JOB_ID=101 bash out/jobs/0001/array.sh >/dev/null && bash "
      "out/jobs/0001/collect.sh");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(status()["count"]["finished"], 1);
  EXPECT_EQ(split(text_of(place_ / "out/results.csv"), '\n')[0].substr(0, 5), "cell,");
}

TEST_F(SubmitTest, a_cell_may_have_several_ranks) {
  const Result r = shell("locus submit tiny.toml --out out --cells-per-task 1 --ranks 4 --threads 2 --cell-seconds 60");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("each on 4 ranks of 2 threads"), std::string::npos) << r.out;
  const std::string script = text_of(place_ / "out/jobs/0001/array.sh");
  for (const char* part :
       {"#SBATCH --ntasks=4 --cpus-per-task=2\n", "--ranks 4 --launcher 'mpirun --bind-to none -n'", "--mem-per-cpu="})
    EXPECT_NE(script.find(part), std::string::npos) << part << "\n" << script;
  EXPECT_EQ(shell("locus submit tiny.toml --out other --ranks 4 --jobs-per-task 2").code, 2);
  EXPECT_EQ(shell("locus submit tiny.toml --out other --ranks 4 --tune 20m").code, 2);
}

// The launcher gets what a user would type behind it; its end is the cell's.
TEST_F(SubmitTest, a_sweep_starts_its_cells_through_the_launcher) {
  double_of("starter", "echo \"$*\" >started; shift; exec \"$@\" --no-mpi");
  const Result r = shell("locus sweep tiny.toml --ranks 3 --launcher starter --quiet --out out");
  ASSERT_EQ(r.code, 0) << r.out << r.err;
  const std::string started = text_of(place_ / "started");
  EXPECT_TRUE(started.starts_with("3 " + std::filesystem::canonical(locus::test::binary()).string() + " train out/cells/"))
      << started;
  EXPECT_EQ(status()["count"]["finished"], 1);
  const Result none = shell("locus sweep tiny.toml seed=2 --ranks 3 --launcher no-such-launcher --quiet --out out");
  EXPECT_EQ(none.code, 3) << none.out << none.err;
  EXPECT_NE(none.out.find("cannot start the program"), std::string::npos) << none.out;
}

TEST_F(SubmitTest, a_search_is_one_task_that_goes_on_by_itself) {
  const Result r =
      shell("locus submit tiny.toml optim.lr=1e-4..1e-2:log --tune 20m --jobs-per-task 8 --out out --time 4:00:00");
  ASSERT_EQ(r.code, 0) << r.err;
  const std::string script = text_of(place_ / "out/jobs/0001/array.sh");
  for (const char* part : {"#SBATCH --array=0-0\n", "--cpus-per-task=8\n", " tune tiny.toml optim.lr=1e-4..1e-2:log ",
                           " --budget 20m ", "--jobs 8 --threads 1 --isa ", "scontrol requeue"})
    EXPECT_NE(script.find(part), std::string::npos) << part << "\n" << script;
  EXPECT_EQ(script.find("--shard"), std::string::npos);
  EXPECT_EQ(asked().find("--dependency"), std::string::npos) << "it gathers its own results";
  write(place_ / "queue", "101|0|PENDING|4:00:00||Resources\n");
  const Result there = shell("locus status out");
  EXPECT_EQ(there.out, "0 cells\njob 101: 1 pending (Resources)\n") << there.err;
  EXPECT_EQ(shell("locus submit tiny.toml --tune 20m --out out").code, 2) << "it is in the queue";
}

TEST_F(SubmitTest, what_is_in_the_queue_is_not_submitted_again_and_what_is_missing_is) {
  const std::string command = "locus submit tiny.toml seed=0..3 --out out --mem 1G --cells-per-task 2";
  ASSERT_EQ(shell(command).code, 0);
  write(place_ / "queue",
        "101|0|RUNNING|59:00|n1|None\n101|1|PENDING|1:00:00||Resources\n102|N/A|PENDING|1:00||Dependency\n");
  const Result twice = shell(command);
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.err.find("in the queue already"), std::string::npos) << twice.err;
  // The first task ran by itself; the second never did.
  std::filesystem::remove(place_ / "queue");
  ASSERT_EQ(shell("SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_JOB_ID=101 bash out/jobs/0001/array.sh").code, 0);
  const Result rest = shell(command + " --json");
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(Json::parse(rest.out)["cells"], 2);
  ASSERT_EQ(shell("SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_JOB_ID=103 bash out/jobs/0002/array.sh").code, 0);
  const Result none = shell(command);
  EXPECT_EQ(none.code, 0);
  EXPECT_NE(none.out.find("all 4 cells are finished"), std::string::npos) << none.out;
}

TEST_F(SubmitTest, queue_and_cells_stand_in_one_status) {
  ASSERT_EQ(shell("locus submit tiny.toml seed=0..3 --out out --mem 1G --cells-per-task 2").code, 0);
  write(place_ / "queue", "101|0|RUNNING|59:00|n1|None\n101|1|PENDING|1:00:00||Resources\n999|0|RUNNING|1:00|n2|None\n");
  const Json json = status();
  EXPECT_EQ(json["count"]["in task"], 2) << json.dump(1);
  EXPECT_EQ(json["count"]["queued"], 2);
  EXPECT_EQ(json["tasks"].size(), 2u) << "a job of another folder is none of this one";
  const Result r = shell("locus status out --all");
  EXPECT_TRUE(r.out.starts_with("4 cells: 2 queued, 2 in task\njob 101: 1 pending, 1 running (Resources)\n")) << r.out;
  EXPECT_NE(r.out.find("queued  seed="), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("task 101_1, Resources\n"), std::string::npos) << r.out;
}

TEST_F(SubmitTest, a_local_sweep_has_a_status_and_can_be_cancelled) {
  const Result r = shell(
      "locus sweep tiny.toml stop.epochs=100000 seed=0..2 --jobs 1 --quiet --out out >/dev/null & sweep=$!\n"
      "for i in $(seq 1000); do locus status out 2>/dev/null | grep -q 'epoch [1-9]' && break; sleep 0.05; done\n"
      "locus status out\nlocus cancel out\nwait $sweep; echo code $?\nlocus status out\nlocus cancel out");
  EXPECT_NE(r.out.find("3 cells: 2 waiting, 1 running\n"), std::string::npos) << r.out << r.err;
  EXPECT_NE(r.out.find("running  seed=0\n"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find(" left, on "), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("told 1 sweep on this machine to write checkpoints and stop\ncode 75\n"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("3 cells: 2 waiting, 1 begun\n"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("nothing of this folder is queued, or runs on this machine"), std::string::npos) << r.out;
}

TEST_F(SubmitTest, a_failed_cell_is_shown_with_reason_and_log) {
  shell("locus sweep tiny.toml optim.kind=sgd optim.lr=1e-3,1e6 stop.epochs=20 --quiet --out out");
  const Json json = status();
  ASSERT_EQ(json["count"]["failed"], 1) << json.dump(1);
  const Result r = shell("locus status out");
  EXPECT_NE(r.out.find("diverged: "), std::string::npos) << r.out;
  const std::size_t log = r.out.find("log: out/cells/");
  ASSERT_NE(log, std::string::npos) << r.out;
  EXPECT_TRUE(std::filesystem::exists(place_ / r.out.substr(log + 5, r.out.find('\n', log) - log - 5)));
}

TEST_F(SubmitTest, cancel_takes_back_what_is_queued) {
  ASSERT_EQ(shell("locus submit tiny.toml seed=0..3 --out out --mem 1G --cells-per-task 2").code, 0);
  write(place_ / "queue", "101|0|RUNNING|59:00|n1|None\n102|N/A|PENDING|1:00||Dependency\n999|0|RUNNING|1:00|n2|None\n");
  const Result r = shell("locus cancel out");
  EXPECT_EQ(r.out, "cancelled 101, 102 (2 tasks)\n") << r.err;
  EXPECT_NE(asked().find("scancel 101 102\n"), std::string::npos) << asked();
}

TEST_F(SubmitTest, mistakes_are_told_before_anything_is_written) {
  for (const auto& [options, words] :
       std::vector<std::pair<std::string, std::string>>{{"--time soon", "minutes, HH:MM:SS or D-HH:MM:SS"},
                                                        {"--mem much", "such as 500M or 2G"},
                                                        {"--cells-per-task few", "auto or a number"},
                                                        {"--time 2 --warning 120", "less than the limit of a task"},
                                                        {"--isa pentium", "--isa"}}) {
    const Result r = shell("locus submit tiny.toml seed=0..3 --out out --cell-seconds 1 " + options);
    EXPECT_EQ(r.code, 2) << options << r.err;
    EXPECT_NE(r.err.find(words), std::string::npos) << options << "\n" << r.err;
    EXPECT_FALSE(std::filesystem::exists(place_ / "out")) << options;
  }
  write(place_ / "refuse", "");
  const Result r = shell("locus submit tiny.toml seed=0..3 --out out --mem 1G --cells-per-task 2");
  EXPECT_NE(r.code, 0);
  EXPECT_NE(r.err.find("invalid partition"), std::string::npos) << r.err;
  std::filesystem::remove(place_ / "refuse");
  EXPECT_EQ(shell("locus submit tiny.toml seed=0..3 --out out --mem 1G --cells-per-task 2").code, 0)
      << "the same command, mended";
}

TEST_F(SubmitTest, without_slurm_it_says_what_to_do) {
  const Result r =
      place_.shell("export PATH=/nowhere\nlocus submit tiny.toml seed=0..3 --out out --mem 1G --cells-per-task 2");
  EXPECT_NE(r.code, 0);
  EXPECT_NE(r.err.find("there is no sbatch here"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("locus sweep"), std::string::npos) << r.err;
}

}  // namespace
}  // namespace locus
