#include "analyze/chosen_examples.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "run/data_folder.h"

namespace locus {
std::vector<std::int64_t> sample_indices(std::int64_t available, std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(available));
  std::iota(all.begin(), all.end(), 0);
  if (available <= count) return all;
  Rng rng(seed, "analyze/sample");
  rng.shuffle(std::span<std::int64_t>(all));
  all.resize(static_cast<std::size_t>(count));
  std::sort(all.begin(), all.end());
  return all;
}

Examples sample_examples(const Dataset& dataset, const Examples& from, std::int64_t count, std::uint64_t seed) {
  return take_examples({dataset.tokens, dataset.features}, from, sample_indices(from.count, count, seed));
}

std::string choose_split(const Dataset& dataset, const std::string& wanted) {
  std::vector<std::string> names;
  for (const auto& [name, examples] : dataset.splits) names.push_back(name);
  if (!wanted.empty()) {
    if (dataset.has_split(wanted) && dataset.split(wanted).count > 0) return wanted;
    const std::string near = nearest_name(wanted, names);
    throw DataError({.what = "the data has no such split",
                     .got = wanted,
                     .expected = join(names, ", "),
                     .hint = near.empty() ? "" : "did you mean " + near + "?"});
  }
  for (const char* name : {"heldout", "test", "validation", "train"}) {
    if (dataset.has_split(name) && dataset.split(name).count > 0) return name;
  }
  throw DataError({.what = "the data has no examples"});
}

void require_same_data(const AnalysisRun& run, const Dataset& d) {
  const ModelShape& s = run.structure->shape;
  if (s.tokens != d.tokens || s.features != d.features || s.outputs != d.outputs) {
    throw DataError({.what = "the data set does not fit the run",
                     .where = run.path.string(),
                     .got = fmt::format("{} tokens, {} features, {} outputs", d.tokens, d.features, d.outputs),
                     .expected = fmt::format("{} tokens, {} features, {} outputs", s.tokens, s.features, s.outputs),
                     .hint = "analyse with the data the run was trained on"});
  }
  require_data_of_run(run.path, run.data_hash, d.hash);
}

}  // namespace locus
