// Data that a program has in memory, as a data set: classes or numbers to predict of each sample, or nothing (then hidden
// tokens are predicted).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "data/examples.h"

namespace locus {

// One split. Of `labels` and `targets` at most one is given.
struct ArraySplit {
  std::string name;  // "train" must be there and come first
  std::int64_t count = 0;
  std::vector<float> values;         // (count, T, F)
  std::vector<std::int32_t> labels;  // (count) from 0
  std::vector<float> targets;        // (count, O)
};

struct ArrayData {
  std::int64_t tokens = 0;
  std::int64_t features = 1;
  std::int64_t classes = 0;  // of labels
  std::int64_t outputs = 0;  // of targets
  std::vector<ArraySplit> splits;
  std::vector<std::string> class_names;  // or empty
  std::vector<std::string> names;        // (T) or empty
  MatrixD coordinates;                   // (T, X) or empty
};

// A configuration that suits most arrays, as key=value over the defaults: what `locus fit` takes, with a read-out that fits.
std::vector<std::string> arrays_settings(const std::string& task);

// Evaluation masks, the graph of the training samples' correlations and the content's hash are made here. DataError when
// sizes contradict each other, a number is not finite, or there is nothing to learn from.
Dataset make_arrays_dataset(const RunConfig& config, ArrayData data);

// What the source arrays is made with where no program hands them over: a DataError that says so.
Dataset absent_arrays(const RunConfig& config, const std::string& cache_folder);

}  // namespace locus
