// What the batch system and the machine say of a folder's cells: tasks in the queue and sweeps that run here.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "sweep/jobs.h"

namespace locus::cli {

// Tasks of these jobs that are queued or running; empty without Slurm.
std::vector<QueuedTask> queued_tasks(const std::vector<JobRecord>& jobs);

// Processes of this machine that hold a cell of the folder and were started by no batch system.
std::set<std::int64_t> sweeps_here(const SweepFolder& folder);

std::string counted(std::int64_t n, std::string_view what);  // "1 cell", "2 cells"

// What starts the ranks of a cell: the words of --launcher and their number; empty without ranks.
std::vector<std::string> launcher_of(const SweepOptions& options);

// The instruction set of every cell of a sweep: the one that the folder's plans name, so that cells trained on unlike
// machines can be compared; at first the one in use. ConfigError when this machine lacks it or another one was asked for.
std::string sweep_isa(const SweepOptions& options);

}  // namespace locus::cli
