#include "cli/queue.h"

#include <fmt/core.h>

#include <cstdlib>

#include "cli/process.h"
#include "core/error.h"
#include "core/isa.h"
#include "core/text.h"
#include "run/claim.h"
#include "run/files.h"

namespace locus::cli {

namespace fs = std::filesystem;

std::vector<QueuedTask> queued_tasks(const std::vector<JobRecord>& jobs) {
  std::set<std::string> ids;
  for (const JobRecord& job : jobs) {
    for (const std::string& id : {job.array, job.collect}) {
      if (!id.empty()) ids.insert(id);
    }
  }
  if (ids.empty()) return {};
  // Of this user and not by id: Slurm answers nothing at all when it has forgotten one of them.
  const Captured answer = run_and_capture({"squeue", "-h", "-r", "--me", "-o", kQueueFormat});
  if (answer.code == 127) return {};
  if (answer.code != 0)
    throw IoError({.what = "squeue failed", .got = answer.output, .hint = "the controller of Slurm may be down: try again"});
  std::vector<QueuedTask> out;
  for (QueuedTask& task : parse_queue(answer.output)) {
    if (ids.count(task.job) != 0) out.push_back(std::move(task));
  }
  return out;
}

std::set<std::int64_t> sweeps_here(const SweepFolder& folder) {
  std::set<std::int64_t> out;
  const ClaimOwner me = this_owner(ClaimKind::kLock);
  std::error_code code;
  for (fs::directory_iterator it(folder.cells(), code), end; !code && it != end; it.increment(code)) {
    if (it->path().extension() != ".lock") continue;
    const std::optional<ClaimOwner> owner = claim_owner(it->path());
    const bool here = owner && owner->boot == me.boot && owner->pid_namespace == me.pid_namespace && owner->job.empty();
    if (here && is_locked(it->path()) && !provably_dead(*owner, me, false)) out.insert(owner->pid);
  }
  return out;
}

std::string counted(std::int64_t n, std::string_view what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::vector<std::string> launcher_of(const SweepOptions& options) {
  if (options.ranks <= 1) return {};
  std::vector<std::string> out;
  for (const std::string& word : split(options.launcher, ' ')) {
    if (!word.empty()) out.push_back(word);
  }
  if (out.empty()) throw ConfigError({.what = "nothing to start ranks with", .where = "--launcher", .expected = kLauncher});
  out.push_back(std::to_string(options.ranks));
  return out;
}

std::string sweep_isa(const SweepOptions& options) {
  if (!options.isa.empty()) use_isa(parse_isa(options.isa, "--isa"));
  const std::string planned = options.out.empty() ? "" : SweepFolder(options.out).planned_isa();
  if (planned.empty()) return std::string(isa_name(isa_in_use()));
  const char* variable = std::getenv("LOCUS_ISA");
  const bool chosen = !options.isa.empty() || (variable != nullptr && *variable != '\0');
  if (chosen && planned != isa_name(isa_in_use())) {
    throw ConfigError({.what = "this sweep was begun with another instruction set, and cells of two cannot be compared",
                       .where = options.out,
                       .got = std::string(isa_name(isa_in_use())),
                       .expected = planned,
                       .hint = "leave --isa and LOCUS_ISA away, or sweep into another folder"});
  }
  try {
    use_isa(parse_isa(planned, options.out));
  } catch (const ConfigError& e) {
    ErrorParts parts = e.parts();
    parts.what = "this machine cannot train cells of this sweep: " + parts.what;
    parts.hint =
        "choose other nodes (with Slurm: --sbatch '--constraint=...'), or begin the sweep anew in another folder with --isa "
        "and a set that all of them have";
    throw ConfigError(parts);
  }
  return planned;
}

}  // namespace locus::cli
