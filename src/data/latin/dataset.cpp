#include "data/latin/dataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "core/error.h"
#include "core/hash.h"
#include "core/rng.h"
#include "core/text.h"
#include "data/latin/csv.h"
#include "data/latin/generate.h"

namespace locus {
namespace {

// Two sets of 108 random 4x4 puzzles leave about 1 puzzle in 3,000 far enough from both, and hardly any with many cells
// filled; validation items chosen among candidates to exclude few leave far more.
constexpr int kValidationCandidates = 100;
constexpr int kRoomSample = 500;  // per difficulty

void check_options(const LatinOptions& o) {
  const auto need = [](bool ok, const char* key, const std::string& got, const char* expected) {
    if (!ok) throw ConfigError({.what = fmt::format("{} is out of range", key), .got = got, .expected = expected});
  };
  need(o.n >= kMinLatinSize && o.n <= kMaxLatinSize, "n", std::to_string(o.n), "3 to 9");
  need(o.per_difficulty >= 1 && o.per_difficulty <= 1'000'000, "per_difficulty", std::to_string(o.per_difficulty),
       "1 to 1000000");
  need(o.test_fraction >= 0 && o.test_fraction < 1, "test_fraction", shortest(o.test_fraction), "0 <= test_fraction < 1");
  need(o.heldout_items >= 0 && o.heldout_items <= 10'000, "heldout_items", std::to_string(o.heldout_items), "0 to 10000");
  need(o.validation_items >= 0 && o.validation_items <= 10'000, "validation_items", std::to_string(o.validation_items),
       "0 to 10000");
  need(o.rotations >= 1 && o.rotations <= 4, "rotations", std::to_string(o.rotations), "1 to 4");
  need(o.min_distance >= 0 && o.min_distance <= 1, "min_distance", shortest(o.min_distance), "0 to 1");
  need(o.authors_dir.empty() || o.n == 4, "n", std::to_string(o.n), "4: the published files hold 4x4 puzzles");
}

LatinSet make_items(PuzzleGenerator& generator, const LatinOptions& o, int items) {
  LatinSet set{.n = o.n};
  for (const Difficulty d : kOneStepKinds) {
    for (Puzzle& p :
         generator.generate({.n = o.n, .difficulty = d, .count = items, .rotations = o.rotations, .like_heldout = true})) {
      set.base_item.push_back(static_cast<int>(set.puzzles.size()) / o.rotations);
      set.puzzles.push_back(std::move(p));
    }
  }
  return set;
}

// Splits the pool, difficulty by difficulty, at random; both parts keep the pool's order.
void split_pool(const std::vector<std::vector<Puzzle>>& pool, double test_fraction, Rng& rng, LatinData& data) {
  int item = 0;
  for (const auto& puzzles : pool) {
    std::vector<std::size_t> order(puzzles.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    rng.shuffle(std::span(order));
    const auto tests = static_cast<std::size_t>(std::lround(test_fraction * static_cast<double>(puzzles.size())));
    std::vector<bool> is_test(puzzles.size(), false);
    for (std::size_t i = 0; i < tests; ++i) is_test[order[i]] = true;
    for (std::size_t i = 0; i < puzzles.size(); ++i) {
      LatinSet& set = is_test[i] ? data.test : data.train;
      set.puzzles.push_back(puzzles[i]);
      set.base_item.push_back(item++);
    }
  }
}

// Puzzles as the pool would have them if only the held-out set had to be kept away from.
std::vector<Puzzle> sample_pool(const LatinOptions& o, const LatinSet& heldout) {
  PuzzleGenerator generator(o.n, o.seed, "latin/room");
  generator.set_min_distance(o.min_distance);
  generator.keep_away_from(heldout.puzzles);
  std::vector<Puzzle> sample;
  for (const Difficulty d : kOneStepKinds) {
    for (Puzzle& p : generator.generate({.n = o.n, .difficulty = d, .count = std::min(kRoomSample, o.per_difficulty)}))
      sample.push_back(std::move(p));
  }
  return sample;
}

LatinData generate_data(const LatinOptions& o) {
  LatinData data;
  PuzzleGenerator heldout(o.n, o.seed, "latin/heldout");
  data.heldout = make_items(heldout, o, o.heldout_items);
  PuzzleGenerator validation(o.n, o.seed, "latin/validation");
  validation.set_min_distance(o.min_distance);
  validation.keep_away_from(data.heldout.puzzles);
  // Side 3 is listed, not searched; there the choice among candidates would use the list up.
  if (o.n > kMinLatinSize && o.validation_items > 0 && o.min_distance > 0) {
    validation.leave_room_for(sample_pool(o, data.heldout), kValidationCandidates);
  }
  data.validation = make_items(validation, o, o.validation_items);
  PuzzleGenerator pool(o.n, o.seed, "latin/pool");
  pool.set_min_distance(o.min_distance);
  pool.keep_away_from(data.heldout.puzzles);
  pool.keep_away_from(data.validation.puzzles);
  std::vector<std::vector<Puzzle>> puzzles;
  for (const Difficulty d : kOneStepKinds) {
    puzzles.push_back(pool.generate({.n = o.n, .difficulty = d, .count = o.per_difficulty}));
  }
  Rng rng(o.seed, "latin/split");
  split_pool(puzzles, o.test_fraction, rng, data);
  data.note = fmt::format(
      "Generated; train, test and validation are at Jaccard distance >= {0} from held-out, train and test from validation.",
      shortest(o.min_distance));
  return data;
}

LatinData authors_data(const LatinOptions& o) {
  LatinData data;
  const LatinCsv heldout = read_latin_csv(o.authors_dir + "/puzzle_data_original.csv");
  std::map<std::string, int> items;
  for (std::size_t i = 0; i < heldout.puzzles.size(); ++i) {
    const auto [it, is_new] = items.try_emplace(heldout.numbers[i], static_cast<int>(items.size()));
    data.heldout.puzzles.push_back(heldout.puzzles[i]);
    data.heldout.base_item.push_back(it->second);
  }
  std::vector<std::vector<Puzzle>> pool;
  for (const Difficulty d : kOneStepKinds) {
    const std::string path =
        fmt::format("{}/generated_puzzle_data_{}_dist80.csv", o.authors_dir, to_lower(difficulty_name(d)));
    pool.push_back(read_latin_csv(path).puzzles);
  }
  PuzzleGenerator validation(o.n, o.seed, "latin/validation");
  validation.set_min_distance(o.min_distance);
  validation.keep_away_from(data.heldout.puzzles);
  for (const auto& puzzles : pool) validation.forbid(puzzles);
  data.validation = make_items(validation, o, o.validation_items);
  constexpr std::uint64_t kSplitSeed = 0;  // one split of the published pool for every seed
  Rng rng(kSplitSeed, "latin/authors-split");
  split_pool(pool, o.test_fraction, rng, data);
  data.note = fmt::format(
      "Published files; validation is generated, at Jaccard distance >= {} from held-out, and holds no puzzle of the pool "
      "(but near ones).",
      shortest(o.min_distance));
  return data;
}

}  // namespace

LatinData make_latin_data(const LatinOptions& options) {
  check_options(options);
  LatinData data = options.authors_dir.empty() ? generate_data(options) : authors_data(options);
  for (LatinSet* set : {&data.train, &data.test, &data.validation, &data.heldout}) set->n = options.n;
  return data;
}

std::string latin_data_hash(const LatinData& data) {
  Sha256 hash;
  const auto add = [&](const char* name, const LatinSet& set) {
    hash.update(fmt::format("{} {}\n", name, set.puzzles.size()));
    for (std::size_t i = 0; i < set.puzzles.size(); ++i) {
      const Puzzle& p = set.puzzles[i];
      hash.update(fmt::format("{},{},{},{}\n", set.base_item[i], difficulty_name(p.difficulty), puzzle_text(p), p.answer));
    }
  };
  add("train", data.train);
  add("test", data.test);
  add("validation", data.validation);
  add("heldout", data.heldout);
  return hash.hex();
}

LatinSetSummary summarize(const LatinSet& set) {
  LatinSetSummary s;
  for (const Puzzle& p : set.puzzles) {
    if (!is_one_step(p.difficulty)) continue;
    const auto d = static_cast<std::size_t>(p.difficulty);
    ++s.count[d];
    s.mean_filled[d] += p.filled();
  }
  for (std::size_t d = 0; d < 3; ++d) {
    if (s.count[d] > 0) s.mean_filled[d] /= static_cast<double>(s.count[d]);
  }
  return s;
}

double smallest_distance(const LatinSet& a, const LatinSet& b) {
  DistanceIndex index(a.n);
  for (const Puzzle& p : a.puzzles) index.add(p);
  double best = 1.0;
  for (const Puzzle& p : b.puzzles) best = std::min(best, index.nearest(p));
  return best;
}

}  // namespace locus
