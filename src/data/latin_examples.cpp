#include "data/latin_examples.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "core/text.h"
#include "data/latin/solver.h"
#include "data/puzzle_cache.h"

namespace locus {
namespace {

MatrixD square_grid(std::int64_t n) {
  MatrixD out(n * n, 2);
  for (std::int64_t t = 0; t < n * n; ++t) {
    out(t, 0) = static_cast<double>(t / n);
    out(t, 1) = static_cast<double>(t % n);
  }
  return out;
}

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

// Rules and answers stay when rows change places, columns do, or rows become columns.
std::vector<std::vector<std::int32_t>> latin_symmetries(std::int64_t n) {
  std::vector<std::vector<std::int32_t>> out;
  const auto add = [&](const auto& place) {
    std::vector<std::int32_t> permutation;
    for (std::int64_t t = 0; t < n * n; ++t) {
      const auto [row, column] = place(t / n, t % n);
      permutation.push_back(static_cast<std::int32_t>(row * n + column));
    }
    out.push_back(std::move(permutation));
  };
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    const auto swapped = [i](std::int64_t x) { return x == i ? i + 1 : x == i + 1 ? i : x; };
    add([&](std::int64_t r, std::int64_t c) { return std::pair{swapped(r), c}; });
    add([&](std::int64_t r, std::int64_t c) { return std::pair{r, swapped(c)}; });
  }
  add([](std::int64_t r, std::int64_t c) { return std::pair{c, r}; });
  return out;
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
  info.coordinates = square_grid(n);
  info.coordinates_are_grid = true;
  for (std::int64_t t = 0; t < d.tokens; ++t) info.names.push_back(fmt::format("r{}c{}", t / n + 1, t % n + 1));
  // Cells that constrain each other: the same row or column.
  info.graph = MatrixD(d.tokens, d.tokens);
  for (std::int64_t i = 0; i < d.tokens; ++i) {
    for (std::int64_t j = 0; j < d.tokens; ++j) info.graph(i, j) = i != j && (i / n == j / n || i % n == j % n) ? 1.0 : 0.0;
  }
  info.truths["rook"] = info.graph;
  info.symmetries = latin_symmetries(n);
  d.relabel = c.relabel;
  d.hash = latin_data_hash(data);
  return d;
}

MatrixD latin_coordinates(const LstConfig& config) { return square_grid(config.n); }

AnswerTokens latin_answer_tokens(std::span<const std::int16_t> ids) {
  Puzzle puzzle;
  puzzle.n = static_cast<int>(std::lround(std::sqrt(static_cast<double>(ids.size()))));
  AnswerTokens out;
  out.used.assign(ids.size(), false);
  out.filled.assign(ids.size(), false);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    puzzle.cells.push_back(static_cast<std::uint8_t>(ids[i] + 1));
    if (ids[i] == puzzle.n) puzzle.target = static_cast<int>(i);
    out.filled[i] = ids[i] >= 0 && ids[i] < puzzle.n;
  }
  out.target = puzzle.target;
  if (puzzle.target < 0) return out;
  for (const int cell : solve(puzzle).cells_used) out.used[static_cast<std::size_t>(cell)] = true;
  return out;
}

}  // namespace locus
