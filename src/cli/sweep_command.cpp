// locus sweep.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "cli/commands.h"
#include "cli/queue.h"
#include "cli/sweep_view.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/json.h"
#include "core/parallel.h"
#include "core/text.h"
#include "io/file.h"
#include "sweep/estimate.h"
#include "sweep/run.h"

namespace locus::cli {
namespace {

// --cells, --shard, else the cell that an array job was given, else all.
std::vector<std::int64_t> chosen_cells(const SweepOptions& options, const SweepPlan& plan) {
  if (!options.cells.empty()) return shard_of(listed_cells(plan, options.cells), options.shard);
  const char* task = std::getenv("SLURM_ARRAY_TASK_ID");
  if (!options.shard.empty() || task == nullptr || *task == '\0') return shard_cells(plan, options.shard);
  char* end = nullptr;
  const long long id = std::strtoll(task, &end, 10);
  if (*end != '\0' || id < 0 || id >= static_cast<long long>(plan.cells.size())) {
    throw ConfigError({.what = "no such cell",
                       .where = "SLURM_ARRAY_TASK_ID",
                       .got = task,
                       .expected = fmt::format("0 .. {}", plan.cells.size() - 1),
                       .hint = "submit with --array=0-" + std::to_string(plan.cells.size() - 1) +
                               ", or give each task several cells with --shard"});
  }
  return {id};
}

int dry_run(const SweepOptions& options, const SweepPlan& plan, const std::vector<std::int64_t>& chosen, int jobs,
            const std::atomic<int>& stop) {
  const SweepFolder folder(options.out);
  std::vector<const SweepCell*> open;
  Json cells = Json::array();
  std::string table;
  for (const std::int64_t i : chosen) {
    const SweepCell& cell = plan.cells[static_cast<std::size_t>(i)];
    const CellOutcome there = options.out.empty() ? CellOutcome{} : folder.outcome(cell.hash);
    if (!there.is_final()) open.push_back(&cell);
    if (options.json) {
      cells.push_back({{"index", cell.index},
                       {"cell", cell.hash},
                       {"name", plan.name(cell)},
                       {"status", cell_status_name(there.status)}});
    } else {
      table += fmt::format("{:>6}  {}  {:<9}  {}\n", cell.index, cell.hash, cell_status_name(there.status), plan.name(cell));
    }
  }
  const int threads = std::max(1, options.threads);
  const SweepCost cost = estimate_cells(plan, open, threads, stop);
  if (stop != 0) return kExitAgain;
  const double seconds = cost.seconds / jobs;
  if (options.json) {
    Json json;
    json["cells"] = std::move(cells);
    json["count"] = chosen.size();
    json["to_run"] = open.size();
    json["jobs"] = jobs;
    if (cost.known) json["seconds"] = seconds;
    json["disk_bytes"] = cost.disk;
    print_line(json.dump(1));
    return kExitDone;
  }
  print_line(table + fmt::format("{} cells, {} of them to run", chosen.size(), open.size()));
  if (open.empty()) return kExitDone;
  print_line(cost.known ? fmt::format("time: {}{} with {} at once", cost.upper ? "at most " : "about ",
                                      human_seconds(seconds), jobs)
                        : std::string("time: not known, the runs have no limit of epochs or steps"));
  print_line(fmt::format("disk: about {}{}", human_bytes(cost.disk),
                         options.out.empty() ? "" : ", free " + human_bytes(static_cast<double>(disk_free(options.out)))));
  if (cost.groups > cost.measured) print_line(fmt::format("(from {} of {} sizes of cells)", cost.measured, cost.groups));
  return kExitDone;
}

void print_failures(const SweepFolder& folder, const SweepPlan& plan, const std::vector<SweepFailure>& failures) {
  for (const SweepFailure& f : failures) {
    const std::vector<std::string> lines = split(f.outcome.reason, '\n');
    print_line(fmt::format("{}: cell {} [{}] {}\n  reason: {}\n  log:    {}", cell_status_name(f.outcome.status),
                           f.cell->index, f.cell->hash, plan.name(*f.cell), lines.empty() ? "" : lines[0],
                           folder.log(f.cell->hash).string()));
  }
}

void print_outcome(const SweepOptions& options, const SweepPlan& plan, const SweepOutcome& outcome, int code) {
  const SweepFolder folder(options.out);
  const std::string results = folder.results().string();
  if (options.json) {
    Json json;
    json["finished"] = outcome.finished;
    json["ran"] = outcome.ran;
    json["left"] = outcome.left;
    json["failures"] = Json::array();
    for (const SweepFailure& f : outcome.failures) {
      json["failures"].push_back({{"index", f.cell->index},
                                  {"cell", f.cell->hash},
                                  {"name", plan.name(*f.cell)},
                                  {"status", cell_status_name(f.outcome.status)},
                                  {"reason", f.outcome.reason},
                                  {"log", folder.log(f.cell->hash).string()}});
    }
    json["results"] = results;
    json["exit_code"] = code;
    return print_line(json.dump(1));
  }
  print_failures(folder, plan, outcome.failures);
  print_line(fmt::format("{} cells finished ({} now), {} failed, {} left, {}", outcome.finished, outcome.ran,
                         outcome.failures.size(), outcome.left, human_seconds(outcome.seconds)));
  if (!options.no_collect) print_line("results in " + results);
  if (code == kExitDone && outcome.finished > 0) print_line(next_steps(options.out));
  if (code == kExitAgain) print_line("stopped; the same command goes on from here");
}

}  // namespace

int run_sweep(const SweepOptions& options, const std::string& program, const std::string&) {
  SweepPlan plan = make_plan(load_sweep({config_file(options.file), options.overrides, options.when}));
  if (!options.out.empty()) SweepFolder(options.out).adopt(plan);
  const std::vector<std::int64_t> chosen = chosen_cells(options, plan);
  const int threads = std::max(1, options.threads);
  const int jobs = options.jobs > 0 ? options.jobs : std::max(1, usable_cores() / (threads * options.ranks));
  const std::atomic<int>& stop_signal = install_stop_signals();
  if (options.dry_run) return dry_run(options, plan, chosen, jobs, stop_signal);
  if (options.out.empty()) throw ConfigError({.what = "--out DIR is missing", .where = "locus sweep"});

  SweepRun run;
  run.isa = sweep_isa(options);
  run.collect = !options.no_collect;
  run.plan = &plan;
  run.out = options.out;
  run.cells = chosen;
  run.launcher = launcher_of(options);
  run.program = run.launcher.empty() ? program : std::filesystem::canonical(program).string();
  run.stop_signal = &stop_signal;
  run.jobs = jobs;
  run.threads = threads;
  run.retry = options.retry;
  run.fail_fast = options.fail_fast;
  run.max_seconds = options.max_hours * 3600;
  if (!options.quiet) {
    message_line(fmt::format("{} cells, {} at once, into {}", chosen.size(), jobs, options.out));
  }
  SweepView view(plan, plan.watched(), options.quiet);
  const SweepOutcome outcome = run_cells(run, view.hooks());
  view.finish();
  int code = outcome.failures.empty() ? kExitDone : kExitSomeFailed;
  if (outcome.left > 0 && (outcome.stopped || outcome.failures.empty())) code = kExitAgain;
  print_outcome(options, plan, outcome, code);
  return code;
}

}  // namespace locus::cli
