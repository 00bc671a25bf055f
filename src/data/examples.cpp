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

}  // namespace locus
