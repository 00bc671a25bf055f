// The jobs that a folder's cells were handed to: jobs/<number>/ with the scripts, the list of cells, what the tasks print
// and job.json, which names the jobs of the batch system.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sweep/folder.h"

namespace locus {

struct JobRecord {
  std::filesystem::path folder;  // jobs/<number>
  std::string array;             // job ids; "" while they are not known
  std::string collect;
  std::string time;  // of the submission
  std::int64_t tasks = 0;
  std::vector<std::string> cells;  // hashes; task i has those whose place % tasks == i
};

// The folder of the next submission; made when it is written.
std::filesystem::path next_job_folder(const SweepFolder& folder);
void write_job(const JobRecord& job);
std::vector<JobRecord> read_jobs(const SweepFolder& folder);  // oldest first; one that cannot be read is left out

// A task of a job array as `squeue` tells of it.
struct QueuedTask {
  std::string job;  // of the array, or of a plain job
  std::int64_t index = -1;
  std::string state;  // PENDING, RUNNING, ...
  std::string time_left;
  std::string node;
  std::string reason;
};
inline constexpr const char* kQueueFormat = "%F|%K|%T|%L|%N|%r";  // for squeue -h -r -o
std::vector<QueuedTask> parse_queue(std::string_view answer);

}  // namespace locus
