// What is to be predicted: classes of any names, or numbers. Which of the two is told from the values, and said.
#pragma once

#include <string>
#include <vector>

#include "data/table/raw_samples.h"

namespace locus {

struct RawTarget {
  TableTask task = TableTask::kMasked;  // never kAuto
  std::string why;                      // "3 different texts", for the user
  std::vector<std::string> names;       // of the outputs
  std::vector<std::string> classes;     // sorted: numbers by value, texts by name
  std::vector<std::int32_t> labels;     // (samples) into `classes`
  MatrixD values;                       // (samples, outputs) for numbers

  bool is_given() const { return task != TableTask::kMasked; }
};

// The target that `config` names; without one the task is masked prediction. DataError when labels are missing, when there
// is one class only or a class of one sample, and where texts were to be numbers.
RawTarget read_target(const RawTable& table, const TableConfig& config);

}  // namespace locus
