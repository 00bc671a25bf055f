// What is printed and how: results to stdout, progress and messages to stderr; colour and carriage returns only on a
// terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "train/trainer.h"

namespace locus::cli {

bool stdout_is_terminal();
bool stderr_is_terminal();
bool colour_allowed();  // a terminal, and NO_COLOR is not set

void print_line(const std::string& text);    // to stdout
void message_line(const std::string& text);  // to stderr
std::string text_table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows);

// Threads to use: the option, SLURM_CPUS_PER_TASK, OMP_NUM_THREADS, then the cores this process may use.
int thread_count(const CommonOptions& options);

// Where generated data may be kept: LOCUS_CACHE, else XDG_CACHE_HOME/locus, else ~/.cache/locus; "" when there is none.
std::string cache_folder();

// While nothing is begun that would have to be saved: TERM, INT, USR1 and USR2 end the program at once with kExitAgain.
void install_early_stop();

// From now on these signals only set the flag, which holds the signal's number.
const std::atomic<int>& install_stop_signals();

// Progress of one training: a line that is redrawn on a terminal, a line an evaluation elsewhere.
class ProgressLine {
 public:
  ProgressLine(bool quiet, std::string label);
  void update(const Progress& progress);
  void finish();

 private:
  bool quiet_;
  bool live_;
  bool open_ = false;
  std::string label_;
  std::string measured_;
};

}  // namespace locus::cli
