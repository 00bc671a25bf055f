// Running another program.
#pragma once

#include <string>
#include <vector>

namespace locus::cli {

// Runs a program found on the path and waits; returns its exit code, 127 when it cannot be started, 128 + signal when
// killed.
int run_and_wait(const std::vector<std::string>& command);

}  // namespace locus::cli
