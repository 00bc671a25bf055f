// Region time series that someone names on a command line, as files or a folder of them: what is a recording, what describes
// the regions, and a complete configuration for training on them.
#pragma once

#include <string>
#include <vector>

#include "config/run_config.h"

namespace locus {

struct OwnSeriesOptions {
  std::vector<std::string> paths;  // files, or one folder
  std::string labels;              // CSV of regions; empty: one that stands in the folder and fits
  std::string dataset;             // for files with several matrices
};

// Several files, a folder, or a file of a format that holds recordings (HDF5, MATLAB, NIfTI, CIFTI). One table or NumPy file
// is a matrix of samples x tokens instead.
bool are_region_series(const std::vector<std::string>& paths);

// Orientation as `locus fmri check` finds it; split by subject where there are three or more, else the end of every run is
// for testing. IoError for a folder without recordings.
RunConfig own_series_config(const OwnSeriesOptions& options);

}  // namespace locus
