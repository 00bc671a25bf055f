// The C++ side of oracle.py: for each of its statistics a function from the inputs to the list of outputs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"

namespace locus::stats {

using OracleFunction = std::function<std::vector<double>(const Json& in)>;

const std::map<std::string, OracleFunction>& oracle_table();

}  // namespace locus::stats
