// Which data each run was trained on, by a name a reader knows: errors of different data are never ranked.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/inputs.h"

namespace locus::report {

// "aal2" (a folder of files), "samples.csv", "Network simulation" (data made of settings alone).
std::string data_name(const RunConfig& config);

// By run; "" where a run cannot be used. Runs whose data are the same bytes have one name, wherever the files lay.
std::vector<std::string> data_names(const std::vector<Run>& runs);

// The runs of each set of data as a report of their own would have them, by name; nothing when all share one set.
std::vector<std::pair<std::string, Inputs>> by_data(const Inputs& inputs);

}  // namespace locus::report
