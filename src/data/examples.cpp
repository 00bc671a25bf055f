#include "data/examples.h"

#include "core/error.h"

namespace locus {

bool Dataset::has_split(const std::string& split_name) const {
  for (const auto& [n, examples] : splits) {
    if (n == split_name) return true;
  }
  return false;
}

const Examples& Dataset::split(const std::string& split_name) const {
  for (const auto& [n, examples] : splits) {
    if (n == split_name) return examples;
  }
  check_failed("split exists", __FILE__, __LINE__, "no split " + split_name + " in data set " + name);
}

std::vector<std::pair<std::string, double>> Dataset::baseline_measures(const std::string& split_name) const {
  std::vector<std::pair<std::string, double>> out;
  const auto found = baselines.find(split_name);
  if (found == baselines.end()) return out;
  for (const auto& [baseline, value] : found->second)
    out.emplace_back(split_name + (task == Task::kRegression ? ".mse_" : ".accuracy_") + baseline, value);
  return out;
}

}  // namespace locus
