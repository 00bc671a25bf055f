// A sweep as a job of Slurm: how many cells a task takes, and the script that runs them. Nothing here starts a program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace locus {

// "30" (minutes), "30:00", "2:00:00", "1-12", "1-12:30", "1-12:30:00", "infinite": seconds; nothing for other texts.
// Zero means that there is no limit.
std::optional<double> slurm_seconds(std::string_view text);
std::string slurm_time(double seconds);                    // "1-02:03:04"
std::optional<double> slurm_bytes(std::string_view text);  // "500M", "2G", "300" (megabytes)

// The number behind `key` in the answer of `scontrol show config`; nothing when there is none.
std::optional<std::int64_t> scontrol_number(std::string_view config, std::string_view key);

struct CellNeeds {
  double seconds = -1;  // of one cell; negative: not known
  double bytes = 0;     // peak memory of one cell; 0: not known
};

struct PackingWish {
  std::int64_t cells = 0;
  std::int64_t cells_per_task = 0;  // 0: by the time of a cell
  int jobs_per_task = 1;            // cells at once in a task
  double limit_seconds = 0;         // of a task; 0: none
  std::int64_t max_tasks = 1001;    // MaxArraySize: indices stay below it
};

struct Packing {
  std::int64_t tasks = 1;
  std::int64_t cells_per_task = 1;  // at most
  double task_seconds = -1;         // expected; negative: not known
  bool needs_requeue = false;       // a task is expected to meet its time limit and go on after it
};

// Tasks that last long enough to be worth a start and short enough for their limit; never more than the cluster takes.
Packing pack_cells(const PackingWish& wish, const CellNeeds& needs);

struct BatchScript {
  std::string name;                // of the job
  std::string program;             // absolute path of locus
  std::string folder;              // of the sweep, absolute
  std::string work;                // where the paths of the sweep file start
  std::vector<std::string> sweep;  // arguments of `locus sweep` that say what is run: file, settings
  std::string cells_file;          // absolute
  std::string logs;                // folder for what the tasks print, absolute
  Packing packing;
  int jobs = 1;
  int threads = 1;
  int ranks = 1;         // of each cell; of several, `launcher` starts them
  std::string launcher;  // "mpirun -n"
  std::string isa;
  std::string time, memory, partition, account;  // as Slurm takes them; "" leaves them to the cluster
  bool memory_per_core = false;                  // ranks may be on several nodes
  std::int64_t at_once = 0;                      // tasks at the same time; 0: as many as there is room for
  std::int64_t warning_seconds = 120;            // before the limit: time to write checkpoints
  std::vector<std::string> options;              // further lines for #SBATCH
  std::string budget;                            // of `locus tune`, which then takes the place of `locus sweep`
  bool searches() const { return !budget.empty(); }
};

// The script of the array's tasks, and of the job that gathers the results after them.
std::string array_script(const BatchScript& batch);
std::string collect_script(const BatchScript& batch);

// One word for the shell.
std::string shell_word(std::string_view text);

}  // namespace locus
