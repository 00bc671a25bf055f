// One process for one cell: started with its output in a log, dying with its parent, and what its end means.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sweep/folder.h"

namespace locus {

struct WorkerStart {
  std::vector<std::string> arguments;  // argv of the program, its name first
  std::string program;                 // a path, or a name that is looked for on PATH
  std::filesystem::path log;
  int claim_fd = -1;  // inherited: the claim lasts as long as the worker
};

struct WorkerProcess {
  pid_t pid = -1;
  std::uint64_t log_start = 0;  // where this attempt begins in the log
};

// The caller's signal mask is not inherited. IoError when no process can be made.
WorkerProcess start_worker(const WorkerStart& start);

// What a worker's wait status and its log say. `before` is the state of the folder after the end.
CellOutcome worker_outcome(int wait_status, const SweepFolder& folder, const SweepCell& cell, std::uint64_t log_start);

}  // namespace locus
