// Options of every subcommand (help.cpp, command_words.cpp and tune_options.cpp beside it: the only files that know the
// option parser), errors to messages and exit codes.
#include "cli/program.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "cli/command_words.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/data_options.h"
#include "cli/environment.h"
#include "cli/help.h"
#include "cli/process.h"
#include "cli/terminal.h"
#include "cli/tune_options.h"
#include "core/error.h"
#include "core/isa.h"
#include "core/json.h"
#include "core/text.h"
#include "run/layout.h"

namespace locus::cli {
namespace {

constexpr const char* kOverrides = "key=value settings over the file; `locus config` lists every key";

constexpr const char* kIsa = "Instruction set: baseline, avx2, avx512, neon (default: LOCUS_ISA, or the best here)";

constexpr std::int64_t kLargestSeed = 9'000'000'000'000'000;

// Parses, then runs what was chosen.
class Program {
 public:
  Program(int argc, char** argv) : argc_(argc), argv_(argv) {
    for (int i = 0; i < argc; ++i) command_line_ += (i == 0 ? "" : " ") + std::string(i == 0 ? "locus" : argv[i]);
    app_.name(argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "locus");
    app_.require_subcommand(1);
    app_.set_help_all_flag("--help-all", "Help of all subcommands");
    app_.footer(kHelpFooter);
    add_training();
    add_information();
    add_data();
    add_results();
    add_sweeps();
    add_tune();
    add_cluster();
    add_demo();
    add_bench();
  }

  int run() {
    try {
      // An empty variable counts as none, as with every other.
      if (const char* isa = std::getenv("LOCUS_ISA"); isa != nullptr && *isa != '\0') use_isa(parse_isa(isa, "LOCUS_ISA"));
      tell_job();
      if (const std::optional<int> helped = help_asked_for(app_, argc_, argv_)) return *helped;
      app_.parse(argc_, argv_);
      return action_();
    } catch (const CLI::ParseError& e) {
      const std::string typo = e.get_exit_code() == 0 ? "" : unknown_word(app_, argc_, argv_);
      if (!typo.empty()) {
        message_line(typo);
        return kExitUsage;
      }
      if (const std::string help = help_of_command_alone(app_, argc_, argv_); !help.empty() && e.get_exit_code() != 0) {
        message_line(std::string("error: ") + e.what() + "\n\n" + help);
        return kExitUsage;
      }
      return answer(app_, e);
    } catch (const ConfigError& e) {
      message_line(std::string("error: ") + e.what());
      return kExitUsage;
    } catch (const std::bad_alloc&) {
      message_line("error: out of memory\n  hint:     lower train.batch, train.microbatch_tokens or the data's size");
      return kExitFailed;
    } catch (const std::exception& e) {
      message_line(std::string("error: ") + e.what());
      return kExitFailed;
    }
  }

 private:
  CLI::App* command(const std::string& name, const std::string& help, const std::string& example,
                    CLI::App* parent = nullptr) {
    CLI::App* c = (parent != nullptr ? parent : &app_)->add_subcommand(name, help);
    c->footer("Example:\n  " + example);
    return c;
  }

  void common(CLI::App* c, CommonOptions& o) {
    c->add_flag("--json", o.json, "Print JSON for programs");
    c->add_flag("-q,--quiet", o.quiet, "No progress and messages");
    c->add_option("-t,--threads", o.threads,
                  "Threads (default: usable cores, or fewer by SLURM_CPUS_PER_TASK, OMP_NUM_THREADS)")
        ->check(CLI::Range(1, 1024));
  }

  int run_completion() const {
    const std::string script = completion_script(shell_, words_of(app_));
    print_line(script.substr(0, script.size() - 1));
    return kExitDone;
  }

  void on(CLI::App* c, std::function<int()> action) {
    c->callback([this, action] { action_ = action; });
  }

  void add_training();
  void add_information();
  void add_data();
  void add_results();
  void add_sweeps();
  void add_tune();
  void add_cluster();
  void sweep_options(CLI::App* c, SweepOptions& o);
  void add_demo();
  void add_bench();

  int argc_;
  char** argv_;
  std::string command_line_;
  CLI::App app_{"Locus learns where tokens are: small transformer encoders with learnable positional encodings."};
  std::function<int()> action_;
  TrainOptions train_;
  EvalCommandOptions eval_;
  FitOptions fit_;
  DataOptions check_;
  InspectOptions inspect_;
  ConfigOptions config_;
  CommonOptions common_;
  std::string shell_;
  LstOptions lst_;
  DataCommandOptions data_;
  ReportCommandOptions report_;
  PlotCommandOptions plot_;
  AnalyzeCommandOptions analyze_;
  ResultsOptions results_;
  DemoOptions demo_;
  SweepOptions sweep_;
  TuneCommandOptions tune_;
  SubmitOptions submit_;
  QueueOptions queue_;
  CollectOptions collect_;
  CompareOptions compare_;
  RunsOptions runs_;
  GcOptions gc_;
  WatchOptions watch_;
  BenchOptions bench_;
};

void Program::add_training() {
  CLI::App* c = command("train", "Train one encoder; goes on where an interrupted run stopped",
                        "locus train configs/lst/default.toml pe.sigma=0.1 seed=3 --out runs/a");
  c->add_option("config", train_.config, "Configuration file (TOML)")->required();
  c->add_option("overrides", train_.overrides, kOverrides);
  c->add_option("-o,--out", train_.out, "Run directory")->required();
  c->add_flag("--no-baselines", train_.no_baselines, "Skip the baselines of masked studies");
  c->add_option("--isa", train_.isa, kIsa);
  c->add_flag("--no-mpi", train_.no_mpi, "One process of its own, also when started by mpirun or srun");
  common(c, train_);
  on(c, [this] { return run_train(train_, command_line_); });

  c = command("fit", "Learn from a table, pictures or region time series of your own, to a report",
              "locus fit flowers.csv --target species --out runs/flowers\n"
              "  locus fit samples.csv --labels labels.csv --out runs/mine\n"
              "  locus fit recordings/ --labels regions.csv --out runs/rest");
  add_data_options(c, fit_);
  c->add_option("-o,--out", fit_.out, "Run directory")->required();
  c->add_flag("--no-baselines", fit_.no_baselines, "Skip the simple predictors to compare with");
  common(c, fit_);
  on(c, [this] { return run_fit(fit_, command_line_); });

  c = command("check", "Say what would be read as what in your data, and what is doubtful, without training",
              "locus check flowers.csv --target species");
  add_data_options(c, check_);
  common(c, check_);
  on(c, [this] { return run_check(check_); });

  c = command("eval", "Evaluate a run's model on its splits", "locus eval runs/a --split heldout --noise 0.2");
  c->add_option("dir", eval_.dir, "Run directory")->required();
  c->add_option("overrides", eval_.overrides, kOverrides);
  c->add_option("--model", eval_.model,
                fmt::format("{} (default at its end, else the newest checkpoint), {}, {}/<epoch> or {}/<step>",
                            run_files::kFinal, run_files::kInit, run_files::kSnapshots, run_files::kCheckpoints));
  c->add_option("--split", eval_.splits, "Splits (default: all)");
  c->add_option("--noise", eval_.noise, "Standard deviation of noise on each block's input")->check(CLI::NonNegativeNumber);
  c->add_option("--export", eval_.export_csv, "Write predictions of Latin squares as CSV in the authors' layout");
  c->add_flag("--no-baselines", eval_.no_baselines, "Skip the baselines of masked studies");
  common(c, eval_);
  on(c, [this] { return run_eval(eval_); });
}

void Program::add_information() {
  CLI::App* c =
      command("inspect", "What is in a run directory or a data file: shapes, norms, measures", "locus inspect runs/a");
  c->add_option("path", inspect_.path, "Run directory, model folder, safetensors or matrix file")->required();
  common(c, inspect_);
  on(c, [this] { return run_inspect(inspect_); });

  c = command("config", "List every key with its default and meaning, or resolve a configuration", "locus config --key pe.");
  c->add_option("config", config_.config, "Configuration file to resolve");
  c->add_option("overrides", config_.overrides, kOverrides);
  c->add_option("--key", config_.key, "Only keys that contain this");
  common(c, config_);
  on(c, [this] { return run_config(config_); });

  c = command("encodings", "List the positional encodings", "locus encodings --json");
  common(c, common_);
  on(c, [this] { return run_encodings(common_); });
  c = command("selfcheck", "Train tiny models: does this machine compute what is expected?", "locus selfcheck");
  common(c, common_);
  on(c, [this] { return run_selfcheck(common_); });
  c = command("completion", "Script that completes commands and keys in a shell", "source <(locus completion bash)");
  c->add_option("shell", shell_, "bash, zsh or fish")->required();
  on(c, [this] { return run_completion(); });
  c = command("version", "Version, commit, compiler, instruction set", "locus version --json");
  common(c, common_);
  on(c, [this] { return run_version(common_); });
}

void Program::add_data() {
  CLI::App* lst = command("lst", "Latin-square puzzles", "locus lst show 2000500234001000");
  lst->require_subcommand(1);
  CLI::App* c = command("generate", "Make train, test, validation and heldout puzzles",
                        "locus lst generate puzzles --n 4 --seed 1", lst);
  c->add_option("out", lst_.path, "Folder for the CSV files")->required();
  c->add_option("overrides", lst_.overrides, "key=value of section lst, such as lst.heldout_items=4");
  c->add_option("--n", lst_.n, "Side of the square (lst.n)")->check(CLI::Range(3, 9));
  c->add_option("--seed", lst_.seed, "Seed (lst.pool_seed)")->check(CLI::Range(std::int64_t{0}, kLargestSeed));
  c->add_option("--per-difficulty", lst_.per_difficulty, "Puzzles per difficulty (lst.per_difficulty)")
      ->check(CLI::Range(1, 1000000));
  common(c, lst_);
  on(c, [this] { return run_lst_generate(lst_); });
  c = command("solve", "Check a whole CSV file, or solve one puzzle", "locus lst solve puzzles/heldout.csv", lst);
  c->add_option("file", lst_.path, "CSV file, or a puzzle as text")->required();
  common(c, lst_);
  on(c, [this] { return run_lst_solve(lst_); });
  c = command("show", "Show a puzzle and how it is solved", "locus lst show puzzles/heldout.csv --index 7", lst);
  c->add_option("puzzle", lst_.path, "Puzzle as text (16 digits for 4x4), or a CSV file")->required();
  c->add_option("--index", lst_.index, "Row of the CSV file, from 0");
  c->add_flag("--answer", lst_.answer, "Fill in the answer");
  common(c, lst_);
  on(c, [this] { return run_lst_show(lst_); });

  CLI::App* nmar = command("nmar", "A simulated network of nodes in modules", "locus nmar simulate --out data/nmar");
  nmar->require_subcommand(1);
  c = command("simulate", "Simulate a modular network and save samples and ground truth",
              "locus nmar simulate nmar.sizes=[10,20,30] nmar.gain=0.9 --out data/nmar", nmar);
  c->add_option("overrides", data_.overrides, kOverrides);
  c->add_option("--config", data_.config, "Configuration file");
  c->add_option("-o,--out", data_.out, "Folder to write")->required();
  common(c, data_);
  on(c, [this] { return run_nmar_simulate(data_); });

  CLI::App* fmri = command("fmri", "Region time series", "locus fmri check rest/*.h5 --atlas parcels.csv");
  fmri->require_subcommand(1);
  c = command("check", "What is in the data: shapes, coverage, connectivity, orientation",
              "locus fmri check rest/*.h5 --atlas parcels.csv", fmri);
  c->add_option("files", data_.files, "Files or globs; or use --config");
  c->add_option("--config", data_.config, "Configuration file with a [series] section");
  c->add_option("--set", data_.overrides, kOverrides);
  c->add_option("--atlas", data_.atlas, "CSV/TSV of regions");
  c->add_option("--dataset", data_.dataset, "HDF5 data set or MATLAB variable");
  common(c, data_);
  on(c, [this] { return run_fmri_check(data_); });
}

void Program::add_results() {
  CLI::App* c = command("analyze", "Find out what trained models learned about positions; --list says what can be asked",
                        "locus analyze runs/sweep --reference runs/sweep/2d --only recovery --only attention");
  c->add_option("dirs", analyze_.dirs, "Run directories or folders of them");
  c->add_option("--only", analyze_.names, "Analyses by name (default: all but the slow ones; \"all\": every one)");
  c->add_option("--reference", analyze_.references,
                "Runs to compare attention with, such as those with a 2-D sinusoidal encoding");
  c->add_option("--set", analyze_.settings, "A setting of an analysis, key=value; --list names them");
  c->add_option("-o,--out", analyze_.out, "Folder for results over several runs (default: the first)");
  c->add_flag("--list", analyze_.list, "List the analyses and what they need");
  c->add_flag("--force", analyze_.force, "Compute again what is there");
  common(c, analyze_);
  on(c, [this] { return run_analyze(analyze_); });

  c = command("report", "One self-contained page about runs, with every figure as SVG and CSV",
              "locus report runs/demo --out report.html");
  c->add_option("dirs", report_.dirs, "Run directories or folders of them")->required();
  c->add_option("-o,--out", report_.out, "Page to write (default: report.html)");
  c->add_option("--title", report_.title, "Title of the page");
  common(c, report_);
  on(c, [this] { return run_report(report_); });

  CLI::App* results = command("results", "Keep results of finished runs as small files, and fill tables of pages from them",
                              "locus results keep runs/sweep --to results/lst");
  results->require_subcommand(1);
  c = command("keep", "Copy summary and configuration of finished runs", "locus results keep runs/sweep --to results/lst",
              results);
  c->add_option("dirs", results_.paths, "Run directories or folders of them")->required();
  c->add_option("--to", results_.to, "Folder to write")->required();
  on(c, [this] { return run_results_keep(results_); });
  c = command("tables", "Fill the tables of documents from kept results", "locus results tables docs/experiments/lst.md",
              results);
  c->add_option("documents", results_.paths, "Markdown files with a .tables.toml beside them")->required();
  c->add_flag("--check", results_.check, "Only say whether they are up to date");
  on(c, [this] { return run_results_tables(results_); });
  c = command("figure", "Draw a figure of a document from kept results, as SVG and CSV beside its description",
              "locus results figure docs/experiments/readability.figure.toml", results);
  c->add_option("figures", results_.paths, "Descriptions: NAME.figure.toml")->required();
  on(c, [this] { return run_results_tables(results_); });

  c = command("plot", "One figure as SVG, PNG, PDF or its data as CSV",
              "locus plot accuracy_vs_sigma runs/sweep -o figure.svg");
  c->add_option("figure", plot_.figure, "Name of the figure; --list shows them");
  c->add_option("dirs", plot_.dirs, "Run directories or folders of them");
  c->add_option("-o,--out", plot_.out, "File to write; its ending says what (default: SVG to stdout)");
  c->add_option("--theme", plot_.theme, "light or dark");
  c->add_option("--choose", plot_.choices, "Which of several versions of the figure, such as layer=2");
  c->add_flag("--list", plot_.list, "List the figures and what they need");
  common(c, plot_);
  on(c, [this] { return run_plot(plot_); });
}

// What a sweep varies, and how its cells are run.
void Program::sweep_options(CLI::App* c, SweepOptions& o) {
  c->add_option("file", o.file, "Sweep file, or a configuration (TOML)")->required();
  c->add_option("overrides", o.overrides, "key=value, key=a,b,c, key=0..14, key=1e-4..1e-2:5:log over the file");
  c->add_option("-o,--out", o.out, "Folder of the sweep");
  c->add_option("--when", o.when, "Condition, such as pe.sigma:pe.kind=learned")->allow_extra_args(false);
  c->add_option("--retry", o.retry, "Further attempts of a failed cell")->check(CLI::Range(0, 100));
  c->add_option("--isa", o.isa, kIsa);
  c->add_option("--ranks", o.ranks, "MPI ranks of each cell (default: 1, no MPI)")->check(CLI::Range(1, 65536));
  c->add_option("--launcher", o.launcher, "Starts the ranks; their number follows")->default_val(kLauncher);
}

void Program::add_sweeps() {
  CLI::App* c =
      command("sweep", "Train every cell of a grid; may be killed and started again, finished cells never run twice",
              "locus sweep configs/lst/default.toml pe.sigma=0.1,0.5,2 seed=0..14 --out runs/sigma");
  sweep_options(c, sweep_);
  c->add_option("-j,--jobs", sweep_.jobs, "Cells at once (default: usable cores / threads)")->check(CLI::Range(1, 4096));
  c->add_option("--shard", sweep_.shard, "i/n: every n-th cell (default: the cell SLURM_ARRAY_TASK_ID, or all)");
  c->add_option("--cells", sweep_.cells, "Only cells whose hashes stand in this file; --shard then counts its lines");
  c->add_flag("--no-collect", sweep_.no_collect, "Leave the table of results to `locus collect`");
  c->add_flag("-n,--dry-run", sweep_.dry_run, "Print the cells, their number, the time and disk they will take");
  c->add_flag("--fail-fast", sweep_.fail_fast, "Stop at the first failure");
  c->add_option("--max-hours", sweep_.max_hours, "Stop after so many hours: write checkpoints and exit with 75")
      ->check(CLI::PositiveNumber);
  common(c, sweep_);
  c->get_option("--threads")->description("Threads of each cell (default: 1)");
  on(c, [this] { return run_sweep(sweep_, own_program(), command_line_); });

  c = command("compare", "Means, intervals, paired tests and effect sizes between the values of a key",
              "locus compare runs/sigma --by pe.sigma --metric heldout.accuracy");
  c->add_option("dirs", compare_.dirs, "Sweep folders, run directories or folders of them")->required();
  c->add_option("--by", compare_.by, "Key whose values are compared; several with commas; or case");
  c->add_option("--metric", compare_.metric,
                "Measure, such as heldout.accuracy.ternary or test.mse (default: the one of the runs' task)");
  c->add_option("--pair", compare_.pair, "Key whose equal values make pairs");
  c->add_option("--filter", compare_.filters, "Only runs with key=value (also !=, <, >, <=, >=)")->allow_extra_args(false);
  common(c, compare_);
  on(c, [this] { return run_compare(compare_); });

  c = command("runs", "List runs, filtered and sorted",
              "locus runs runs/sigma --filter pe.sigma=0.1 --sort -heldout.accuracy");
  c->add_option("dirs", runs_.dirs, "Run directories or folders of them")->required();
  c->add_option("--filter", runs_.filters, "Only runs with key=value (also !=, <, >, <=, >=)")->allow_extra_args(false);
  c->add_option("--sort", runs_.sort, "Key, measure, status or seconds; with - in front descending");
  c->add_option("--columns", runs_.columns, "Keys and measures to show")->delimiter(',');
  common(c, runs_);
  on(c, [this] { return run_runs(runs_); });

  c = command("watch", "Runs and sweeps while they train: time left, curves, the best on validation, failures",
              "locus watch runs/sigma");
  c->add_option("dirs", watch_.dirs, "Sweep folders, run directories or folders of them")->required();
  c->add_option("--every", watch_.every, "Seconds between two looks")->check(CLI::Range(0.1, 3600.0));
  c->add_flag("--once", watch_.once, "Show the state once and end");
  common(c, watch_);
  on(c, [this] { return run_watch(watch_); });

  c = command("gc", "Remove checkpoints and models of finished runs; never metrics", "locus gc runs/sigma --keep final");
  c->add_option("dirs", gc_.dirs, "Run directories or folders of them")->required();
  c->add_option(
       "--keep", gc_.keep,
       "final: the last model; all-models: also init and snapshots; nothing: neither models nor arrays of analyses nor "
       "figures beside reports")
      ->check(CLI::IsMember({"final", "all-models", "nothing"}));
  c->add_flag("-y,--yes", gc_.yes, "Do not ask");
  common(c, gc_);
  on(c, [this] { return run_gc(gc_); });
}

void Program::add_tune() {
  CLI::App* c = command("tune", kTuneHelp, kTuneExample);
  add_tune_options(*c, tune_);
  common(c, tune_);
  c->get_option("--threads")->description("Threads of each run (default: 1)");
  on(c, [this] { return run_tune(tune_, own_program()); });
  c = command("advise", kAdviseHelp, kAdviseExample);
  add_advise_options(*c, tune_);
  common(c, tune_);
  on(c, [this] { return run_advise(tune_); });
}

void Program::add_cluster() {
  CLI::App* c =
      command("submit", "Hand a sweep to Slurm: packed into tasks, resumed after time limits, collected at the end",
              "locus submit sweep.toml --out runs/big --partition cpu --time 4:00:00");
  sweep_options(c, submit_);
  c->add_option("-p,--partition", submit_.partition, "Partition of the cluster");
  c->add_option("-A,--account", submit_.account, "Account that pays");
  c->add_option("--time", submit_.time, "Limit of a task: minutes, HH:MM:SS or D-HH:MM:SS");
  c->add_option("--mem", submit_.memory, "Memory of a task, such as 2G (default: measured)");
  c->add_option("--cells-per-task", submit_.cells_per_task,
                "auto (by the time of a cell and the cluster's limits) or a number");
  c->add_option("--jobs-per-task", submit_.jobs_per_task, "Cells at once in a task")->check(CLI::Range(1, 4096));
  c->add_option("--at-once", submit_.at_once, "Tasks at the same time (default: no limit)")->check(CLI::PositiveNumber);
  c->add_option("--cell-seconds", submit_.cell_seconds, "Time of a cell, instead of measuring it")
      ->check(CLI::PositiveNumber);
  c->add_option("--warning", submit_.warning_seconds, "Seconds before the limit at which checkpoints are written")
      ->check(CLI::Range(1, 36000));
  c->add_option("--sbatch", submit_.sbatch, "A further option of sbatch, such as '--constraint=avx512'")
      ->allow_extra_args(false);
  c->add_option("--tune", submit_.tune, "Search instead of a sweep: the budget of `locus tune`, such as 20m");
  c->add_flag("-n,--dry-run", submit_.dry_run, "Print the script and submit nothing");
  common(c, submit_);
  c->get_option("--threads")->description("Threads of each cell (default: 1)");
  on(c, [this] { return run_submit(submit_); });

  c = command("status", "Cells and queue of a sweep: waiting, running, finished, failed and why", "locus status runs/big");
  c->add_option("dir", queue_.dir, "Folder of the sweep")->required();
  c->add_flag("--all", queue_.all, "Every cell, not only those that run or failed");
  common(c, queue_);
  on(c, [this] { return run_status(queue_); });

  c = command("cancel", "Take a sweep's jobs out of the queue, stop its processes here", "locus cancel runs/big");
  c->add_option("dir", queue_.dir, "Folder of the sweep")->required();
  common(c, queue_);
  on(c, [this] { return run_cancel(queue_); });

  c = command("collect", "Gather the results of a sweep's cells into one table", "locus collect runs/big");
  c->add_option("dir", collect_.dir, "Folder of the sweep")->required();
  c->add_flag("--afresh", collect_.afresh, "Read every cell again");
  common(c, collect_);
  on(c, [this] { return run_collect(collect_); });
}

void Program::add_demo() {
  CLI::App* c = command("demo", "Four small encoders on Latin squares, a table and a report: two minutes",
                        "locus demo --out runs/demo");
  c->add_option("-o,--out", demo_.out, "Folder for the runs and the report (default: runs/demo, or runs/demo-SEED)");
  c->add_option("--seed", demo_.seed, "Master seed")->check(CLI::Range(std::int64_t{0}, kLargestSeed));
  common(c, demo_);
  on(c, [this] { return run_demo(demo_, command_line_, argv_[0]); });
}

void Program::add_bench() {
  CLI::App* c = command("bench", "Speed and memory of this machine, of Locus and of PyTorch side by side",
                        "locus bench --workload lst --python python3 --peer python/locus/bench_peer.py");
  c->add_option("-w,--workload", bench_.workloads,
                "lst, nmar, fmri, long, wide, lst/<encoding>, sizes (t=512,d=64,layers=2,batch=1), encodings, data");
  c->add_option("--mode", bench_.mode, "train or infer (default: both)")->check(CLI::IsMember({"train", "infer"}));
  c->add_option("--rounds", bench_.rounds, "Rounds of each comparison; medians are reported")->check(CLI::Range(1, 1000));
  c->add_option("--python", bench_.python, "Interpreter that has PyTorch (default: no comparison)")->take_last();
  c->add_option("--peer", bench_.peer, "The PyTorch side of the benchmark: python/locus/bench_peer.py")->take_last();
  c->add_flag("--growth", bench_.growth, "Time and memory against tokens, width, layers and batch, as Markdown");
  c->add_flag("--sweep", bench_.sweep, "Throughput of eight runs with one and with two workers");
  c->add_option("--alone", bench_.alone, "Only run this workload here; print milliseconds a step and peak memory");
  c->add_option("--steps", bench_.steps, "Steps with --alone")->check(CLI::PositiveNumber);
  common(c, bench_);
  on(c, [this] { return run_bench(bench_); });
}

}  // namespace

int run(int argc, char** argv) {
  open_closed_streams();
  // Before any work: whoever stops a run that can be continued shall read so from the exit code, however early it is.
  const std::string_view command = argc > 1 ? argv[1] : "";
  for (const std::string_view goes_on : {"train", "fit", "sweep", "tune", "demo"}) {
    if (command == goes_on) install_early_stop();
  }
  const int code = Program(argc, argv).run();
  try {
    close_output();
  } catch (const Error& e) {
    message_line(std::string("error: ") + e.what());
    return code == kExitDone ? kExitFailed : code;
  }
  return code;
}

}  // namespace locus::cli
