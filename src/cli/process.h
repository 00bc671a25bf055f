// Running another program.
#pragma once

#include <string>
#include <vector>

namespace locus::cli {

// Runs a program found on the path and waits; returns its exit code, 127 when it cannot be started, 128 + signal when
// killed.
int run_and_wait(const std::vector<std::string>& command);

// The program itself, to start it again: LOCUS_PROGRAM, where a launcher started it, else by the system.
std::string own_program();

struct Captured {
  int code = 0;        // as run_and_wait
  std::string output;  // both streams
};
Captured run_and_capture(const std::vector<std::string>& command);

}  // namespace locus::cli
