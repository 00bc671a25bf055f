// The C++ side of oracle.py: for each of its statistics a function from the inputs to the list of outputs.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace locus::stats {

using OracleFunction = std::function<std::vector<double>(const nlohmann::json& in)>;

const std::map<std::string, OracleFunction>& oracle_table();

}  // namespace locus::stats
