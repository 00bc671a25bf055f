// locus submit, collect, cancel: a sweep on a cluster with Slurm.
#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "cli/commands.h"
#include "cli/process.h"
#include "cli/queue.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/isa.h"
#include "core/json.h"
#include "core/text.h"
#include "io/file.h"
#include "run/claim_owner.h"
#include "run/layout.h"
#include "sweep/batch.h"
#include "sweep/collect.h"
#include "sweep/estimate.h"
#include "sweep/jobs.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kMemoryMargin = 1.3;
constexpr double kMemoryBase = 64 << 20;

[[noreturn]] void refuse_option(const char* option, const std::string& got, std::string expected) {
  throw ConfigError({.what = "not a value for this option", .where = option, .got = got, .expected = std::move(expected)});
}

// From finished cells of the same folder where there are any: they ran on the machines that the others will run on.
CellNeeds needs_of(const SubmitOptions& options, const SweepPlan& plan, const std::vector<const SweepCell*>& open,
                   std::int64_t& measured) {
  CellNeeds needs;
  const bool sized = options.cells_per_task != "auto" && !options.memory.empty();
  needs.seconds = options.cell_seconds > 0 ? options.cell_seconds : -1;
  if (sized || open.empty() || (needs.seconds > 0 && !options.memory.empty())) return needs;
  const SweepFolder folder(options.out);
  double sum = 0;
  for (const SweepCell& cell : plan.cells) {
    const CellOutcome there = folder.outcome(cell.hash);
    if (there.status != CellStatus::kFinished) continue;
    sum += there.summary->seconds;
    ++measured;
  }
  if (needs.seconds <= 0 && measured > 0) needs.seconds = std::max(0.1, sum / static_cast<double>(measured));
  const std::atomic<int>& stop = install_stop_signals();
  const SweepCost cost = estimate_cells(plan, open, std::max(1, options.threads), stop);
  // Measured in one process; ranks share the work (docs/scaling.md).
  if (needs.seconds <= 0 && cost.known) needs.seconds = cost.seconds / static_cast<double>(open.size()) / options.ranks;
  needs.bytes = cost.peak_bytes;
  return needs;
}

std::int64_t max_array_size() {
  const Captured answer = run_and_capture({"scontrol", "show", "config"});
  if (answer.code != 0) return 1001;  // Slurm's own default
  return scontrol_number(answer.output, "MaxArraySize").value_or(1001);
}

Packing packing_of(const SubmitOptions& options, std::size_t cells, const CellNeeds& needs) {
  PackingWish wish;
  wish.cells = static_cast<std::int64_t>(cells);
  wish.jobs_per_task = options.jobs_per_task;
  wish.max_tasks = max_array_size();
  if (!options.time.empty()) {
    const auto seconds = slurm_seconds(options.time);
    if (!seconds) refuse_option("--time", options.time, "minutes, HH:MM:SS or D-HH:MM:SS");
    wish.limit_seconds = *seconds;
    if (*seconds > 0 && static_cast<double>(options.warning_seconds) >= *seconds)
      refuse_option("--warning", std::to_string(options.warning_seconds) + " s",
                    fmt::format("less than the limit of a task, {:.0f} s: else it would be stopped at once", *seconds));
  }
  if (options.cells_per_task != "auto") {
    char* end = nullptr;
    wish.cells_per_task = std::strtoll(options.cells_per_task.c_str(), &end, 10);
    if (*end != '\0' || wish.cells_per_task < 1)
      refuse_option("--cells-per-task", options.cells_per_task, "auto or a number");
  }
  return pack_cells(wish, needs);
}

std::string memory_of(const SubmitOptions& options, const CellNeeds& needs) {
  if (!options.memory.empty()) {
    if (!slurm_bytes(options.memory)) refuse_option("--mem", options.memory, "such as 500M or 2G");
    return options.memory;
  }
  if (needs.bytes <= 0) return "";
  double bytes = (needs.bytes * kMemoryMargin + kMemoryBase) * options.jobs_per_task;
  if (options.ranks > 1) bytes /= std::max(1, options.threads);  // of a core: ranks may be on several nodes
  return fmt::format("{:.0f}M", std::ceil(bytes / (1 << 20) / 16) * 16);
}

BatchScript script_of(const SubmitOptions& options, const fs::path& job_folder, const CellNeeds& needs, std::size_t cells) {
  BatchScript b;
  b.program = fs::canonical(own_program()).string();
  b.folder = fs::absolute(options.out).lexically_normal().string();
  b.work = fs::current_path().string();
  b.name = "locus-" + fs::path(b.folder).filename().string();
  b.sweep = {config_file(options.file)};
  b.sweep.insert(b.sweep.end(), options.overrides.begin(), options.overrides.end());
  for (const std::string& when : options.when) b.sweep.insert(b.sweep.end(), {"--when", when});
  if (options.retry > 0) b.sweep.insert(b.sweep.end(), {"--retry", std::to_string(options.retry)});
  b.logs = fs::absolute(job_folder).lexically_normal().string();
  b.cells_file = b.logs + "/" + sweep_files::kCellList;
  b.packing = packing_of(options, cells, needs);
  b.jobs = options.jobs_per_task;
  b.threads = std::max(1, options.threads);
  b.ranks = options.ranks;
  b.launcher = options.launcher;
  b.time = options.time;
  b.memory = memory_of(options, needs);
  b.memory_per_core = options.ranks > 1 && options.memory.empty();
  b.partition = options.partition;
  b.account = options.account;
  b.at_once = options.at_once;
  b.warning_seconds = options.warning_seconds;
  b.options = options.sbatch;
  return b;
}

// The id that `sbatch --parsable` prints; the cluster's name may follow.
std::string submitted(const std::vector<std::string>& command) {
  const Captured answer = run_and_capture(command);
  const std::string text(trim(answer.output));
  const std::string last = text.substr(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
  const std::string id = last.substr(0, last.find(';'));
  if (answer.code != 0 || id.empty() || id.find_first_not_of("0123456789") != std::string::npos) {
    throw IoError({.what = answer.code == 127 ? "there is no sbatch here" : "sbatch did not take the job",
                   .where = join(command, " "),
                   .got = text,
                   .hint = answer.code == 127 ? "submit on a login node of a cluster with Slurm, or use `locus sweep`"
                                              : "change the options, or the script itself, which stays where it is"});
  }
  return id;
}

std::string summary_text(const BatchScript& b, const CellNeeds& needs, std::size_t open, std::size_t all,
                         std::int64_t measured) {
  std::string text = fmt::format("{} of {} to run, in {} of at most {}, {} at once", open, counted(all, "cell"),
                                 counted(b.packing.tasks, "task"), counted(b.packing.cells_per_task, "cell"), b.jobs);
  if (b.ranks > 1) text += fmt::format(", each on {} ranks of {}", b.ranks, counted(b.threads, "thread"));
  if (needs.seconds > 0)
    text += fmt::format("\na cell takes about {}{}, a task {}", human_seconds(needs.seconds),
                        measured > 0 ? fmt::format(" (mean of {} finished ones)", measured) : "",
                        human_seconds(b.packing.task_seconds));
  if (!b.memory.empty()) text += fmt::format("\nmemory of a {}: {}", b.memory_per_core ? "core" : "task", b.memory);
  if (b.packing.needs_requeue)
    text += fmt::format("\na task is longer than its limit of {}: it will write checkpoints, queue itself again and go on",
                        b.time);
  return text;
}

void refuse_second_submission(const SweepFolder& folder) {
  for (const JobRecord& job : read_jobs(folder)) {
    const std::vector<QueuedTask> tasks = queued_tasks({job});
    const auto left = std::count_if(tasks.begin(), tasks.end(), [&](const QueuedTask& t) { return t.job == job.array; });
    if (left == 0) continue;
    throw ConfigError({.what = "cells of this folder are in the queue already",
                       .where = folder.path().string(),
                       .got = fmt::format("job {} with {} left", job.array, counted(left, "task")),
                       .hint = "`locus status` shows them; `locus cancel` takes them back; wait for them otherwise"});
  }
}

void write_scripts(const BatchScript& script, const fs::path& folder) {
  ensure_writable_directory(folder);
  write_file_atomic(folder / "array.sh", array_script(script));
  if (!script.searches()) write_file_atomic(folder / "collect.sh", collect_script(script));
}

// Writes the scripts and gives them to Slurm; the record is there before, so that nothing queued is unknown to the folder.
void hand_over(JobRecord& job, const BatchScript& script) {
  job.tasks = script.packing.tasks;
  job.time = utc_now();
  write_scripts(script, job.folder);
  write_job(job);
  job.array = submitted({"sbatch", "--parsable", (job.folder / "array.sh").string()});
  write_job(job);
  if (script.searches()) return;  // it gathers its own results
  job.collect =
      submitted({"sbatch", "--parsable", "--dependency=afterany:" + job.array, (job.folder / "collect.sh").string()});
  write_job(job);
}

void tell_submission(const SubmitOptions& options, const JobRecord& job, const std::string& summary) {
  const std::string script = (job.folder / "array.sh").string();
  if (options.json) {
    Json json;
    json["array"] = job.array;
    json["collect"] = job.collect;
    json["tasks"] = job.tasks;
    json["cells"] = job.cells.size();
    json["script"] = script;
    return print_line(json.dump(1));
  }
  print_line(summary);
  print_line(fmt::format("job {} submitted{}; script: {}", job.array,
                         job.collect.empty() ? "" : fmt::format(", and {} to gather the results", job.collect), script));
  print_line(fmt::format("how it goes: locus status {}", options.out));
}

// A search decides by what its runs showed, so it is one task that trains several of them at once.
int submit_search(const SubmitOptions& options) {
  const SweepFolder folder(options.out);
  if (!options.dry_run) refuse_second_submission(folder);
  JobRecord job;
  job.folder = next_job_folder(folder);
  BatchScript script = script_of(options, job.folder, {}, 1);
  script.budget = options.tune;
  script.isa = sweep_isa(options);
  const std::string summary = fmt::format("a search in one task, {} at once; the same command goes on with it",
                                          counted(options.jobs_per_task, "run"));
  if (options.dry_run) {
    print_line(array_script(script));
    message_line(summary);
    return kExitDone;
  }
  hand_over(job, script);
  tell_submission(options, job, summary);
  return kExitDone;
}

void check_submission(const SubmitOptions& options) {
  if (options.out.empty()) throw ConfigError({.what = "--out DIR is missing", .where = "locus submit"});
  if (options.ranks > 1 && options.jobs_per_task > 1)
    refuse_option("--jobs-per-task", std::to_string(options.jobs_per_task), "1 where a cell has several ranks");
  if (options.ranks > 1 && !options.tune.empty())
    refuse_option("--ranks", std::to_string(options.ranks), "1 for a search, whose runs are many and small");
}

}  // namespace

int run_submit(const SubmitOptions& options) {
  check_submission(options);
  if (!options.tune.empty()) return submit_search(options);
  SweepPlan plan = make_plan(load_sweep({config_file(options.file), options.overrides, options.when}));
  const SweepFolder folder(options.out);
  folder.adopt(plan);
  if (!options.dry_run) refuse_second_submission(folder);
  std::vector<const SweepCell*> open;
  for (const SweepCell& cell : plan.cells) {
    if (!folder.outcome(cell.hash).is_final()) open.push_back(&cell);
  }
  if (open.empty()) {
    print_line(fmt::format("all {} cells are finished; results in {}", plan.cells.size(), folder.results().string()));
    return kExitDone;
  }
  std::int64_t measured = 0;
  const CellNeeds needs = needs_of(options, plan, open, measured);
  JobRecord job;
  job.folder = next_job_folder(folder);
  for (const SweepCell* cell : open) job.cells.push_back(cell->hash);
  BatchScript script = script_of(options, job.folder, needs, open.size());
  script.isa = sweep_isa(options);
  const std::string summary = summary_text(script, needs, open.size(), plan.cells.size(), measured);
  if (options.dry_run) {
    print_line(array_script(script) + "\n# then, after every task: collect.sh\n" + collect_script(script));
    message_line(summary);
    return kExitDone;
  }
  folder.prepare();
  folder.write_plan(plan, script.isa);
  hand_over(job, script);
  tell_submission(options, job, summary);
  return kExitDone;
}

int run_collect(const CollectOptions& options) {
  const SweepFolder folder(options.dir);
  if (read_plans(folder).cells.empty())
    throw ConfigError({.what = "no sweep in this folder",
                       .where = options.dir,
                       .expected = "the folder of a sweep, --out of `locus sweep` or `locus submit`"});
  const Collection done = collect_results(folder, options.afresh);
  const std::string results = folder.results().string();
  if (options.json) {
    print_line(Json{
        {"cells", done.written.cells},
        {"read", done.written.read},
        {"by_another", done.by_another},
        {"seconds", done.seconds},
        {"results",
         results}}.dump(1));
  } else if (done.by_another) {
    print_line("another process has just gathered them; results in " + results);
  } else {
    print_line(fmt::format("{} cells, {} of them read now, {:.1f} s; results in {}", done.written.cells, done.written.read,
                           done.seconds, results));
  }
  return kExitDone;
}

int run_cancel(const QueueOptions& options) {
  const SweepFolder folder(options.dir);
  std::set<std::string> ids;
  std::size_t tasks = 0;
  const std::vector<JobRecord> jobs = read_jobs(folder);
  for (const QueuedTask& task : queued_tasks(jobs)) {
    ids.insert(task.job);
    ++tasks;
  }
  if (!ids.empty()) {
    std::vector<std::string> command = {"scancel"};
    command.insert(command.end(), ids.begin(), ids.end());
    const Captured answer = run_and_capture(command);
    if (answer.code != 0)
      throw IoError({.what = "scancel failed", .where = join(command, " "), .got = std::string(trim(answer.output))});
  }
  // Sweeps without a queue, on this machine: their claims say who they are.
  std::set<std::int64_t> stopped;
  for (const std::int64_t pid : sweeps_here(folder)) {
    if (::kill(static_cast<pid_t>(pid), SIGTERM) == 0) stopped.insert(pid);
  }
  if (options.json) {
    print_line(Json{{"jobs", std::vector<std::string>(ids.begin(), ids.end())},
                    {"tasks", tasks},
                    {"processes", std::vector<std::int64_t>(stopped.begin(), stopped.end())}}
                   .dump(1));
    return kExitDone;
  }
  if (ids.empty() && stopped.empty()) print_line("nothing of this folder is queued, or runs on this machine");
  if (!ids.empty())
    print_line(fmt::format("cancelled {} ({})", join(std::vector<std::string>(ids.begin(), ids.end()), ", "),
                           counted(tasks, "task")));
  if (!stopped.empty())
    print_line(fmt::format("told {} on this machine to write checkpoints and stop", counted(stopped.size(), "sweep")));
  return kExitDone;
}

}  // namespace locus::cli
