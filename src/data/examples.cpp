#include "data/examples.h"

#include <algorithm>

#include "config/tasks.h"
#include "core/error.h"

namespace locus {

void take_examples(const ExampleSize& size, const Examples& from, std::span<const std::int64_t> indices, Examples& out) {
  const std::int64_t t = size.tokens;
  out.count = static_cast<std::int64_t>(indices.size());
  const auto copy = [&](const auto& source, auto& to, std::int64_t width) {
    to.resize(source.empty() ? 0 : indices.size() * static_cast<std::size_t>(width));
    if (source.empty()) return;
    auto* place = to.data();
    for (const std::int64_t i : indices) place = std::copy_n(source.data() + i * width, width, place);
  };
  copy(from.ids, out.ids, t);
  copy(from.values, out.values, t * size.features);
  copy(from.labels, out.labels, 1);
  copy(from.targets, out.targets, from.count > 0 ? static_cast<std::int64_t>(from.targets.size()) / from.count : 0);
  copy(from.read_token, out.read_token, 1);
  copy(from.condition, out.condition, 1);
  copy(from.cluster, out.cluster, 1);
  copy(from.masks, out.masks, t);
  copy(from.missing, out.missing, t);
}

Examples take_examples(const ExampleSize& size, const Examples& from, std::span<const std::int64_t> indices) {
  Examples out;
  take_examples(size, from, indices, out);
  return out;
}

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
    out.emplace_back(split_name + "." + task_row(task).measures[0].name + "_" + baseline, value);
  return out;
}

}  // namespace locus
