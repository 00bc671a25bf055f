// How time and memory grow with a model's sizes, and how throughput grows with workers.
#pragma once

#include <vector>

#include "cli/commands.h"

namespace locus::bench {

// Slope of log y over log x by least squares: the exponent of a power law.
double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y);

int run_growth(const cli::BenchOptions& options);
int run_sweep_scaling(const cli::BenchOptions& options);

}  // namespace locus::bench
