// The results of a folder, gathered by one process at a time, however many ask: who waits for another finds its own cells
// gathered, too, and does nothing more.
#pragma once

#include "sweep/results.h"

namespace locus {

struct Collection {
  ResultsWritten written;
  bool by_another = false;  // a process that began to look after this one asked has written them
  double seconds = 0;       // without the wait
};

// IoError as write_results, and when another process gathers for longer than `wait_seconds`.
Collection collect_results(const SweepFolder& folder, bool afresh = false, double wait_seconds = 600);

}  // namespace locus
