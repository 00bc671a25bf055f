// What the environment says: threads, the folder of generated data, installed configurations. The program and the Python
// package ask here; the library never does.
#pragma once

#include <string>

namespace locus::cli {

// Threads to use: those asked for (> 0); else SLURM_CPUS_PER_TASK or OMP_NUM_THREADS, but no more than the cores this
// process may use; else those cores.
int thread_count(int asked);

// Where generated data may be kept: LOCUS_CACHE, else XDG_CACHE_HOME/locus, else ~/.cache/locus; "" when there is none.
std::string cache_folder();

// The file itself; else, where the program was installed, the configuration of that name that came with it
// ("configs/lst/default.toml"); the name as it is when there is neither.
std::string config_file(const std::string& path);

// Claims name the job of the batch system, so that a job that was started again knows its own.
void tell_job();

}  // namespace locus::cli
