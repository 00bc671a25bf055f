// Sweeps as jobs of Slurm: times and sizes as it writes them, packing, the script, the queue.
#include "sweep/batch.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"
#include "sweep/status.h"
#include "tests/support/fake_run.h"

namespace locus {
namespace {

using testing_support::TempFolder;

TEST(SlurmTextTest, times_as_slurm_writes_them) {
  const auto is = [](const char* text, double seconds) { EXPECT_EQ(slurm_seconds(text).value_or(-1), seconds) << text; };
  is("30", 1800);
  is("30:15", 1815);
  is("2:00:00", 7200);
  is("1-12", 36 * 3600);
  is("1-12:30", 36.5 * 3600);
  is("1-12:30:05", 36.5 * 3600 + 5);
  is("UNLIMITED", 0);
  for (const char* text : {"", "a", "1:2:3:4", "-3", "1-", "2h", "1.5"}) EXPECT_FALSE(slurm_seconds(text)) << text;
  for (const double seconds : {5.0, 3600.0, 90061.0, 864000.0}) EXPECT_EQ(slurm_seconds(slurm_time(seconds)), seconds);
}

TEST(SlurmTextTest, sizes_as_slurm_writes_them) {
  EXPECT_EQ(slurm_bytes("300"), 300.0 * (1 << 20));
  EXPECT_EQ(slurm_bytes("2G"), 2.0 * (1 << 30));
  EXPECT_EQ(slurm_bytes("512k"), 512.0 * 1024);
  for (const char* text : {"", "G", "2GB", "1.5G", "x"}) EXPECT_FALSE(slurm_bytes(text)) << text;
}

TEST(SlurmTextTest, limits_of_the_cluster) {
  const std::string config =
      "Configuration data as of now\nKillWait                = 30 sec\nMaxArraySize            = 1001\n";
  EXPECT_EQ(scontrol_number(config, "MaxArraySize"), 1001);
  EXPECT_EQ(scontrol_number(config, "KillWait"), 30);
  EXPECT_FALSE(scontrol_number(config, "MaxArray"));
}

TEST(PackingTest, every_cell_has_a_task_and_the_cluster_takes_them) {
  for (const std::int64_t cells : {1, 2, 59, 60, 1000, 1001, 10000, 100000}) {
    for (const double seconds : {-1.0, 0.01, 3.0, 700.0, 50000.0}) {
      for (const double limit : {0.0, 600.0, 86400.0}) {
        for (const int jobs : {1, 8}) {
          PackingWish wish;
          wish.cells = cells;
          wish.jobs_per_task = jobs;
          wish.limit_seconds = limit;
          const Packing p = pack_cells(wish, {seconds, 0});
          EXPECT_LE(p.tasks, 1000);
          EXPECT_GE(p.tasks * p.cells_per_task, cells);
          EXPECT_LT((p.tasks - 1) * p.cells_per_task, cells) << "the last task has nothing";
          EXPECT_EQ(p.needs_requeue, limit > 0 && p.task_seconds > limit);
        }
      }
    }
  }
}

TEST(PackingTest, tasks_are_worth_their_start_and_fit_their_limit) {
  PackingWish wish;
  wish.cells = 600;
  wish.limit_seconds = 3600;
  const Packing p = pack_cells(wish, {60, 0});
  EXPECT_EQ(p.cells_per_task, 15);
  EXPECT_EQ(p.tasks, 40);
  EXPECT_FALSE(p.needs_requeue);
  wish.limit_seconds = 300;
  EXPECT_EQ(pack_cells(wish, {60, 0}).cells_per_task, 3);
  wish.jobs_per_task = 4;
  EXPECT_EQ(pack_cells(wish, {60, 0}).cells_per_task, 12);
  wish.cells_per_task = 100;
  EXPECT_EQ(pack_cells(wish, {60, 0}).tasks, 6);
  EXPECT_TRUE(pack_cells(wish, {60, 0}).needs_requeue);
}

BatchScript small_script() {
  BatchScript b;
  b.name = "locus-big";
  b.program = "/opt/locus bin/locus";
  b.folder = "/data/it's here";
  b.work = "/home/me";
  b.sweep = {"sweep.toml", "seed=0..4", "nmar.sizes=[10,20]"};
  b.logs = "/data/jobs/0001";
  b.cells_file = b.logs + "/cells.txt";
  b.packing = {3, 2, 100, false};
  b.jobs = 2;
  b.threads = 4;
  b.isa = "avx2";
  b.time = "2:00:00";
  b.partition = "cpu";
  return b;
}

TEST(BatchScriptTest, the_script_says_what_is_run_and_is_taken_by_the_shell) {
  const std::string text = array_script(small_script());
  for (const char* part :
       {"#SBATCH --array=0-2\n", "--cpus-per-task=8\n", "#SBATCH --partition=cpu\n", "#SBATCH --time=2:00:00\n",
        "'/opt/locus bin/locus' sweep sweep.toml seed=0..4 'nmar.sizes=[10,20]'", "--out '/data/it'\\''s here'",
        "--shard \"$SLURM_ARRAY_TASK_ID/3\"", "--isa avx2", "--no-collect", "--signal=B:USR1@120",
        "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(text.find("--mem"), std::string::npos);
  EXPECT_EQ(text.find("--account"), std::string::npos);
  const TempFolder folder("batch");
  for (const std::string& script : {text, collect_script(small_script())}) {
    std::ofstream(folder / "script.sh") << script;
    EXPECT_EQ(std::system(("bash -n " + (folder / "script.sh")).c_str()), 0);
  }
}

TEST(JobRecordTest, jobs_are_found_again_and_their_tasks_by_cell) {
  const TempFolder folder("jobs");
  const SweepPlan plan = make_plan(load_sweep({"", {"seed=0..4"}, {}}));
  const SweepFolder sweep(folder / "out");
  sweep.prepare();
  sweep.write_plan(plan);
  EXPECT_EQ(next_job_folder(sweep).filename(), "0001");
  JobRecord job;
  job.folder = next_job_folder(sweep);
  std::filesystem::create_directories(job.folder);
  job.array = "70";
  job.collect = "71";
  job.tasks = 2;
  for (const SweepCell& cell : plan.cells) job.cells.push_back(cell.hash);
  write_job(job);
  EXPECT_EQ(next_job_folder(sweep).filename(), "0002");
  std::filesystem::create_directories(next_job_folder(sweep));  // of a submission that was cut off
  const std::vector<JobRecord> jobs = read_jobs(sweep);
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].cells, job.cells);

  Summary summary;
  std::filesystem::create_directories(sweep.run(plan.cells[0].hash));
  write_summary_file(sweep.run(plan.cells[0].hash) / "summary.json", summary);
  std::filesystem::create_directories(sweep.run(plan.cells[2].hash));
  sweep.record_failure(plan.cells[1].hash, "", {CellStatus::kKilled, "Killed", {}});
  const SweepStatus status =
      sweep_status(sweep, jobs, parse_queue("70|1|PENDING|1:00:00||Resources\n70|0|RUNNING|59:59|n1|None\nnonsense\n"));
  ASSERT_EQ(status.cells.size(), 5u);
  EXPECT_EQ(status.cells[0].place, CellPlace::kFinished);
  EXPECT_EQ(status.cells[1].place, CellPlace::kQueued) << "it will be tried again";
  EXPECT_EQ(status.cells[1].task->reason, "Resources");
  EXPECT_EQ(status.cells[2].place, CellPlace::kInTask);
  EXPECT_EQ(status.cells[4].task->node, "n1");
  const SweepStatus calm = sweep_status(sweep, jobs, {});
  EXPECT_EQ(calm.cells[1].place, CellPlace::kFailed);
  EXPECT_EQ(calm.cells[2].place, CellPlace::kBegun);
  EXPECT_EQ(calm.cells[3].place, CellPlace::kWaiting);
}

TEST(ListedCellsTest, a_list_is_cut_by_its_lines_and_knows_its_sweep) {
  const TempFolder folder("listed");
  const SweepPlan plan = make_plan(load_sweep({"", {"seed=0..5"}, {}}));
  std::ofstream(folder / "cells.txt") << plan.cells[5].hash << "\n"
                                      << plan.cells[1].hash << "\n\n"
                                      << plan.cells[2].hash << "\n";
  const std::vector<std::int64_t> cells = listed_cells(plan, folder / "cells.txt");
  EXPECT_EQ(cells, (std::vector<std::int64_t>{5, 1, 2}));
  EXPECT_EQ(shard_of(cells, "0/2"), (std::vector<std::int64_t>{5, 2}));
  EXPECT_EQ(shard_of(cells, "1/2"), (std::vector<std::int64_t>{1}));
  std::ofstream(folder / "cells.txt") << "0123456789abcdef\n";
  EXPECT_THROW(listed_cells(plan, folder / "cells.txt"), ConfigError);
}

}  // namespace
}  // namespace locus
