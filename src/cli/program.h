// The command line as a function, so that another program can add sources, tasks, analyses and figures and have all
// commands.
#pragma once

namespace locus::cli {

// Runs the command that the arguments name and returns the exit code. Sweeps start the running program again as their
// workers, so whatever it registers must be registered before this call, every time it starts.
int run(int argc, char** argv);

}  // namespace locus::cli
