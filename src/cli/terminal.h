// What is printed and how: results to stdout, progress and messages to stderr; colour and carriage returns only on a
// terminal.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/environment.h"

namespace locus::cli {

bool stdout_is_terminal();
bool stderr_is_terminal();
bool colour_allowed();  // a terminal, and NO_COLOR is not set

// Standard streams that are closed become /dev/null: else the next file to be opened takes their number, and messages are
// written into it. Call before any file is opened.
void open_closed_streams();

std::string next_steps(const std::string& out);  // from trained runs to sentences and figures: two commands
void print_line(const std::string& text);     // to stdout; IoError when it cannot be written, but a closed pipe is no error
void print_wrapped(const std::string& text);  // the same for sentences: broken between words
void message_line(const std::string& text);   // to stderr; on a terminal broken between words
void close_output();                          // the last of stdout; IoError as print_line
std::string text_table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows);

inline int thread_count(const CommonOptions& options) { return thread_count(options.threads); }

// While nothing is begun that would have to be saved: TERM, INT, USR1 and USR2 end the program at once with kExitAgain.
void install_early_stop();

// While everything that is finished is kept and the rest can be done again: the same, with these words and a line end.
void stop_at_once(const char* words);
inline constexpr const char* kStoppedAnalysing =
    "\nstopped while analysing; what is computed is kept, the same command goes on from here\n";

// From now on these signals only set the flag, which holds the signal's number.
const std::atomic<int>& install_stop_signals();

}  // namespace locus::cli
