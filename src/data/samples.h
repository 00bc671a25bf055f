// Any user's samples x tokens matrix as data for masked prediction, and one door to all data from files.
#pragma once

#include <string>

#include "config/run_config.h"
#include "data/examples.h"

namespace locus {

struct SamplesOptions {
  std::string path;           // samples x tokens: CSV, TSV, NPY, NPZ, MAT, HDF5, ...; a header names the tokens
  std::string labels;         // CSV of tokens: name and label, network, x y z ...; or one label a row; may be empty
  std::string dataset;        // for files with several matrices
  bool random_split = false;  // rows drawn for testing; else the last block of rows, which is safe for series in time
};

// A complete configuration for `locus fit`: the matrix, 10 % validation, 20 % test, an encoder that suits most data.
RunConfig samples_config(const SamplesOptions& options);

// make_series_dataset with DataError when there are too few rows or columns to learn from.
Dataset make_samples_dataset(const RunConfig& config);

// What series.source = files trains on. Named "samples" when it is one samples x tokens matrix.
Dataset make_files_dataset(const RunConfig& config);

}  // namespace locus
