// The subcommands as plain functions: main.cpp parses options into these structs and calls one. Each returns an exit code:
// 0 done, 1 failed, 2 usage, 3 some cells of a sweep failed, 75 checkpointed, run me again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace locus {
struct Dataset;
struct RunConfig;
class Ranks;
}  // namespace locus

namespace locus::cli {

class MpiRanks;

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitSomeFailed = 3;
inline constexpr int kExitAgain = 75;

struct CommonOptions {
  bool json = false;
  bool quiet = false;
  int threads = 0;  // 0: SLURM_CPUS_PER_TASK, OMP_NUM_THREADS, then the affinity mask
};

struct TrainOptions : CommonOptions {
  std::string config;
  std::vector<std::string> overrides;
  std::string out;
  std::string isa;
  bool no_baselines = false;
  bool no_mpi = false;  // one process, also under mpirun
};
int run_train(const TrainOptions& options, const std::string& command_line);

struct EvalCommandOptions : CommonOptions {
  std::string dir;
  std::string model;  // empty: final, or the newest checkpoint of a run that is not at its end
  std::vector<std::string> splits;
  std::vector<std::string> overrides;
  std::string export_csv;
  double noise = 0;
  bool no_baselines = false;
};
int run_eval(const EvalCommandOptions& options);

struct InspectOptions : CommonOptions {
  std::string path;
};
int run_inspect(const InspectOptions& options);

struct ConfigOptions : CommonOptions {
  std::string config;
  std::vector<std::string> overrides;
  std::string key;
};
int run_config(const ConfigOptions& options);

int run_encodings(const CommonOptions& options);
int run_selfcheck(const CommonOptions& options);
int run_version(const CommonOptions& options);

struct LstOptions : CommonOptions {
  std::string path;  // out folder, CSV file or puzzle text
  std::int64_t n = 4;
  std::int64_t seed = 1;
  std::int64_t per_difficulty = 3000;
  std::vector<std::string> overrides;  // of section lst, over the three above
  std::int64_t index = 0;
  bool answer = false;
};
int run_lst_generate(const LstOptions& options);
int run_lst_solve(const LstOptions& options);
int run_lst_show(const LstOptions& options);

struct DataCommandOptions : CommonOptions {
  std::string config;
  std::vector<std::string> overrides;
  std::vector<std::string> files;
  std::string out;
  std::string atlas;
  std::string dataset;
};
int run_nmar_simulate(const DataCommandOptions& options);
int run_fmri_check(const DataCommandOptions& options);

// As load_run_config; the configuration of a run names data as seen from the folder it was trained in.
RunConfig train_config(const TrainOptions& options);

// Trains with progress and prints the summary; kExitAgain when interrupted. Baselines are added to the data.
int train_in(const RunConfig& config, Dataset& dataset, const TrainOptions& options, const std::string& command_line,
             Ranks* ranks = nullptr);
int train_in_ranks(const TrainOptions& options, const std::string& command_line, MpiRanks& ranks);

// A user's own data on the command line.
struct DataOptions : CommonOptions {
  std::vector<std::string> words;  // files or a folder, and key=value
  std::string labels;
  std::string dataset;
  std::vector<std::string> target;  // columns, an array or a file
  std::string task;
  std::string groups;
  std::string missing;
  bool images = false;
  bool random_split = false;
};
int run_check(const DataOptions& options);

struct FitOptions : DataOptions {
  std::string out;
  bool no_baselines = false;
};
int run_fit(const FitOptions& options, const std::string& command_line);

// Threads of a rank shall not be held to one core.
inline constexpr const char* kLauncher = "mpirun --bind-to none -n";

struct SweepOptions : CommonOptions {
  std::string file;
  std::vector<std::string> overrides;
  std::string out;
  int jobs = 0;
  std::string shard;
  bool dry_run = false;
  int retry = 0;
  bool fail_fast = false;
  double max_hours = 0;
  std::vector<std::string> when;
  std::string isa;
  int ranks = 1;         // of each cell
  std::string launcher;  // in front of their number
  std::string cells;     // a file with the hashes of those to run
  bool no_collect = false;
};
int run_sweep(const SweepOptions& options, const std::string& program, const std::string& command_line);

struct CollectOptions : CommonOptions {
  std::string dir;
  bool afresh = false;
};
int run_collect(const CollectOptions& options);

struct SubmitOptions : SweepOptions {
  std::string partition;
  std::string account;
  std::string time;
  std::string memory;
  std::string cells_per_task = "auto";
  int jobs_per_task = 1;
  int at_once = 0;
  double cell_seconds = 0;
  int warning_seconds = 120;
  std::vector<std::string> sbatch;
  std::string tune;  // budget of `locus tune`; "": a sweep
};
int run_submit(const SubmitOptions& options);

struct QueueOptions : CommonOptions {
  std::string dir;
  bool all = false;
};
int run_status(const QueueOptions& options);
int run_cancel(const QueueOptions& options);

struct CompareOptions : CommonOptions {
  std::vector<std::string> dirs;
  std::string by = "pe.sigma";
  std::string metric;  // empty: what runs of this kind are compared by
  std::string pair = "seed";
  std::vector<std::string> filters;
};
int run_compare(const CompareOptions& options);

struct RunsOptions : CommonOptions {
  std::vector<std::string> dirs;
  std::vector<std::string> filters;
  std::string sort;
  std::vector<std::string> columns;
};
int run_runs(const RunsOptions& options);

struct WatchOptions : CommonOptions {
  std::vector<std::string> dirs;
  double every = 2;  // seconds between two looks, at least
  bool once = false;
};
int run_watch(const WatchOptions& options);

struct GcOptions : CommonOptions {
  std::vector<std::string> dirs;
  std::string keep = "final";
  bool yes = false;
};
int run_gc(const GcOptions& options);

struct AnalyzeCommandOptions : CommonOptions {
  std::vector<std::string> dirs;
  std::vector<std::string> names;
  std::vector<std::string> references;
  std::vector<std::string> settings;
  std::string out;
  bool list = false;
  bool force = false;
};
int run_analyze(const AnalyzeCommandOptions& options);

struct ResultsOptions : CommonOptions {
  std::vector<std::string> paths;
  std::string to;
  bool check = false;
};
int run_results_keep(const ResultsOptions& options);
int run_results_tables(const ResultsOptions& options);

struct ReportCommandOptions : CommonOptions {
  std::vector<std::string> dirs;
  std::string out;  // empty: report.html
  std::string title;
};
int run_report(const ReportCommandOptions& options);

struct PlotCommandOptions : CommonOptions {
  std::string figure;
  std::vector<std::string> dirs;
  std::string out;
  std::string theme = "light";
  std::vector<std::string> choices;
  bool list = false;
};
int run_plot(const PlotCommandOptions& options);

struct BenchOptions : CommonOptions {
  std::vector<std::string> workloads;  // names of make_workload, "encodings", "data"; empty: all
  std::string mode;                    // train, infer; empty: both
  int rounds = 9;
  std::string python;  // interpreter with PyTorch; empty: no comparison
  std::string peer;    // python/locus/bench_peer.py
  bool growth = false;
  bool sweep = false;
  std::string alone;  // run this workload in this process and print time and memory
  int steps = 1;
};
int run_bench(const BenchOptions& options);

struct DemoOptions : CommonOptions {
  std::string out;  // empty: runs/demo, or runs/demo-SEED
  std::int64_t seed = 0;
  double minutes = 0;
};
// `program`: how the user calls it.
int run_demo(const DemoOptions& options, const std::string& command_line, const std::string& program);

}  // namespace locus::cli
