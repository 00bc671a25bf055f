#include "study/datasets.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"
#include "data/baselines.h"
#include "data/latin/dataset.h"
#include "data/samples.h"
#include "study/puzzle_cache.h"

namespace locus {
namespace {

// Tokens: symbol s is channel s - 1, the target channel n, a blank the zero vector.
Examples latin_examples(const LatinSet& set) {
  Examples e;
  e.count = static_cast<std::int64_t>(set.puzzles.size());
  for (std::size_t i = 0; i < set.puzzles.size(); ++i) {
    const Puzzle& p = set.puzzles[i];
    for (const std::uint8_t cell : p.cells) e.ids.push_back(static_cast<std::int16_t>(static_cast<int>(cell) - 1));
    e.labels.push_back(p.answer - 1);
    e.read_token.push_back(p.target);
    e.condition.push_back(static_cast<std::int32_t>(p.difficulty));
    e.cluster.push_back(set.base_item.empty() ? static_cast<std::int32_t>(i) : set.base_item[i]);
  }
  return e;
}

std::string count_text(const LatinSet& set) {
  const LatinSetSummary s = summarize(set);
  return fmt::format("{} puzzles ({} / {} / {}), filled cells {:.2f} / {:.2f} / {:.2f}", set.puzzles.size(), s.count[0],
                     s.count[1], s.count[2], s.mean_filled[0], s.mean_filled[1], s.mean_filled[2]);
}

Dataset make_lst_dataset(const RunConfig& config, const std::string& cache_folder) {
  const LstConfig& c = config.lst;
  const LatinData data = cached_latin_data(latin_options(c), cache_folder);

  Dataset d;
  d.name = "lst";
  const std::int64_t n = data.train.n;
  d.tokens = n * n;
  d.features = n + 1;
  d.outputs = n;
  for (const Difficulty kind : kOneStepKinds) d.conditions.push_back(to_lower(difficulty_name(kind)));
  for (const auto& [name, set] : {std::pair<const char*, const LatinSet*>{"train", &data.train},
                                  {"test", &data.test},
                                  {"validation", &data.validation},
                                  {"heldout", &data.heldout}}) {
    if (set->puzzles.empty()) continue;
    d.splits.emplace_back(name, latin_examples(*set));
    d.description[name] = count_text(*set);
  }
  d.description["source"] =
      c.source == LstSource::kAuthors ? "the authors' files" : fmt::format("generated, seed {}", c.pool_seed);
  d.description["distances"] = data.note;
  TokenInfo& info = d.tokens_info;
  info.coordinates = MatrixD(d.tokens, 2);
  info.coordinates_are_grid = true;
  for (std::int64_t t = 0; t < d.tokens; ++t) {
    info.names.push_back(fmt::format("r{}c{}", t / n + 1, t % n + 1));
    info.coordinates(t, 0) = static_cast<double>(t / n);
    info.coordinates(t, 1) = static_cast<double>(t % n);
  }
  // Cells that constrain each other: the same row or column.
  info.graph = MatrixD(d.tokens, d.tokens);
  for (std::int64_t i = 0; i < d.tokens; ++i) {
    for (std::int64_t j = 0; j < d.tokens; ++j) info.graph(i, j) = i != j && (i / n == j / n || i % n == j % n) ? 1.0 : 0.0;
  }
  d.hash = latin_data_hash(data);
  return d;
}

}  // namespace

LatinOptions latin_options(const LstConfig& c) {
  LatinOptions options;
  options.n = static_cast<int>(c.n);
  options.seed = static_cast<std::uint64_t>(c.pool_seed);
  options.per_difficulty = static_cast<int>(c.per_difficulty);
  options.test_fraction = c.test_fraction;
  options.heldout_items = static_cast<int>(c.heldout_items);
  options.validation_items = static_cast<int>(c.heldout_items);
  options.rotations = static_cast<int>(c.rotations);
  options.min_distance = c.min_distance;
  if (c.source == LstSource::kAuthors) options.authors_dir = c.dir;
  return options;
}

Dataset make_dataset(const RunConfig& config, const std::string& cache_folder) {
  switch (config.study) {
    case Study::kLst:
      return make_lst_dataset(config, cache_folder);
    case Study::kMasked:
      return make_masked_dataset(config);
  }
  check_failed("known study", __FILE__, __LINE__, "study");
}

void add_baselines(Dataset& dataset, ThreadPool& pool) {
  if (dataset.task == Task::kRegression) record_baselines(dataset, compute_baselines(dataset, {}, pool));
}

}  // namespace locus
