#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "core/error.h"
#include "data/latin/dataset.h"
#include "data/latin/generate.h"
#include "data/latin/solver.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

bool is_latin(const LatinSquare& s, int n) {
  for (int i = 0; i < n; ++i) {
    std::set<int> row, column;
    for (int k = 0; k < n; ++k) {
      row.insert(s[static_cast<std::size_t>(i * n + k)]);
      column.insert(s[static_cast<std::size_t>(k * n + i)]);
    }
    if (static_cast<int>(row.size()) != n || static_cast<int>(column.size()) != n || *row.begin() != 1 || *row.rbegin() != n)
      return false;
  }
  return true;
}

// A chi-square value as a standard normal one (Wilson-Hilferty).
double chi_to_normal(double chi, double df) { return (std::cbrt(chi / df) - (1 - 2 / (9 * df))) / std::sqrt(2 / (9 * df)); }

// Chi-square of draws against the uniform law over `squares` squares.
double chi_square_z(int n, int draws, int squares) {
  Rng rng(5, "test/uniform");
  LatinSampler sampler(n, rng);
  std::map<LatinSquare, int> counts;
  for (int i = 0; i < draws; ++i) ++counts[sampler.draw()];
  EXPECT_EQ(static_cast<int>(counts.size()), squares);
  const double expected = static_cast<double>(draws) / squares, df = squares - 1;
  double chi = 0;
  for (const auto& [square, count] : counts) chi += (count - expected) * (count - expected) / expected;
  return chi_to_normal(chi, df);
}

TEST(LatinSamplerTest, draws_are_latin_squares_of_every_size) {
  for (int n = 3; n <= 9; ++n) {
    Rng rng(1, "test/latin");
    LatinSampler sampler(n, rng);
    for (int i = 0; i < 20; ++i) {
      LatinSquare s = sampler.draw();
      EXPECT_TRUE(is_latin(s, n)) << n;
      shuffle_square(s, n, rng);
      EXPECT_TRUE(is_latin(s, n)) << n;
    }
  }
}

TEST(LatinSamplerTest, is_uniform_over_the_12_squares_of_side_three) {
  EXPECT_LT(std::abs(chi_square_z(3, 24'000, 12)), 3.5);
}

TEST(LatinSamplerTest, is_uniform_over_the_576_squares_of_side_four) {
  EXPECT_LT(std::abs(chi_square_z(4, 57'600, 576)), 3.5);
}

TEST(FilledQuotaTest, has_the_published_means) {
  const double pool[] = {9.15, 7.34, 6.98}, heldout[] = {9.42, 8.83, 7.33};
  for (const Difficulty d : kOneStepKinds) {
    for (const bool held : {false, true}) {
      const int count = held ? 12 : 3000;
      double sum = 0;
      for (int f : filled_quota(filled_law(4, d, held), count)) {
        EXPECT_TRUE(f >= 4 && f <= 12);
        sum += f;
      }
      EXPECT_NEAR(sum / count, (held ? heldout : pool)[static_cast<int>(d)], held ? 0.1 : 0.01);
    }
  }
}

// All 4x4 puzzles of a kind with three givens, each with the number of squares that extend it.
std::map<std::string, double> small_puzzles(Difficulty kind) {
  std::map<std::string, double> weight;
  for (std::size_t target = 0; target < 16; ++target) {
    for (std::size_t a = 0; a < 16; ++a) {
      for (std::size_t b = a + 1; b < 16; ++b) {
        for (std::size_t c = b + 1; c < 16; ++c) {
          if (a == target || b == target || c == target) continue;
          Puzzle p{.n = 4, .cells = std::vector<std::uint8_t>(16), .target = static_cast<int>(target)};
          p.cells[target] = 5;
          for (int code = 0; code < 64; ++code) {
            p.cells[a] = static_cast<std::uint8_t>(code % 4 + 1);
            p.cells[b] = static_cast<std::uint8_t>(code / 4 % 4 + 1);
            p.cells[c] = static_cast<std::uint8_t>(code / 16 + 1);
            if (classify_one_step(p).kind != kind) continue;
            if (const auto count = count_completions(p, 1000); count > 0)
              weight[puzzle_text(p)] = static_cast<double>(count);
          }
        }
      }
    }
  }
  return weight;
}

// Squares are uniform, so a puzzle's share is the number of squares that extend it.
TEST(PuzzleGeneratorTest, draws_and_walks_follow_the_stated_law) {
  for (const Difficulty kind : kOneStepKinds) {
    const auto weight = small_puzzles(kind);
    double total = 0;
    for (const auto& [text, w] : weight) total += w;
    for (const int steps : {0, 25}) {
      PuzzleGenerator generator(4, 8, "test/law");
      std::map<std::string, int> counts;
      const int draws = 6 * static_cast<int>(weight.size());
      for (int i = 0; i < draws; ++i) ++counts[puzzle_text(generator.draw(kind, 4, steps))];
      double chi = 0;
      for (const auto& [text, w] : weight) {
        const double expected = draws * w / total, d = counts[text] - expected;
        chi += d * d / expected;
      }
      EXPECT_EQ(counts.size(), weight.size());  // nothing outside the list
      EXPECT_LT(std::abs(chi_to_normal(chi, static_cast<double>(weight.size()) - 1)), 3.5)
          << difficulty_name(kind) << ", " << steps << " steps, " << weight.size() << " puzzles";
    }
  }
}

TEST(PuzzleGeneratorTest, makes_every_size_and_kind_with_a_single_answer) {
  for (int n = 4; n <= 9; ++n) {
    PuzzleGenerator generator(n, 2, "test/sizes");
    for (const Difficulty d : kOneStepKinds) {
      const auto puzzles = generator.generate({.n = n, .difficulty = d, .count = 15});
      ASSERT_EQ(puzzles.size(), 15U);
      for (const Puzzle& p : puzzles)
        EXPECT_EQ(parse_puzzle(puzzle_text(p)), p) << "kind or answer differs from the solver's";
    }
  }
}

TEST(PuzzleGeneratorTest, side_three_can_be_used_up_and_says_how_many_exist) {
  const FilledLaw law = filled_law(3, Difficulty::kBinary, false);
  const auto all = all_puzzles_of_side_three(Difficulty::kBinary, law.lo, law.hi);
  std::set<std::string> texts;
  for (const Puzzle& p : all) texts.insert(puzzle_text(p));
  EXPECT_EQ(texts.size(), all.size());
  PuzzleGenerator exact(3, 1, "test/all");
  const auto drawn = exact.generate({.n = 3, .difficulty = Difficulty::kBinary, .count = static_cast<int>(all.size())});
  std::set<std::string> got;
  for (const Puzzle& p : drawn) got.insert(puzzle_text(p));
  EXPECT_EQ(got, texts);
  PuzzleGenerator more(3, 1, "test/all");
  try {
    more.generate({.n = 3, .difficulty = Difficulty::kBinary, .count = static_cast<int>(all.size()) + 1});
    ADD_FAILURE() << "no error";
  } catch (const DataError& e) {
    EXPECT_NE(std::string(e.what()).find(std::to_string(all.size()) + " exist"), std::string::npos) << e.what();
  }
}

TEST(PuzzleGeneratorTest, a_quota_out_of_reach_says_what_was_found) {
  PuzzleGenerator all(4, 1, "test/near");
  const auto puzzles = all.generate({.n = 4, .difficulty = Difficulty::kTernary, .count = 300});
  PuzzleGenerator generator(4, 1, "test/far");
  generator.set_min_distance(1.0);
  generator.keep_away_from(puzzles);
  try {
    generator.generate({.n = 4, .difficulty = Difficulty::kTernary, .count = 10});
    ADD_FAILURE() << "no error";
  } catch (const DataError& e) {
    EXPECT_NE(std::string(e.what()).find("0 items found"), std::string::npos) << e.what();
  }
}

class LatinDataTest : public testing::Test {
 protected:
  static const LatinData& data() {
    static const LatinData made = make_latin_data({.seed = 4});
    return made;
  }
};

TEST_F(LatinDataTest, splits_have_the_sizes_of_the_paper) {
  const std::pair<const LatinSet*, std::size_t> sizes[] = {
      {&data().train, 2700}, {&data().test, 300}, {&data().validation, 36}, {&data().heldout, 36}};
  for (const auto& [set, count] : sizes) {
    const LatinSetSummary s = summarize(*set);
    for (std::size_t d = 0; d < 3; ++d) EXPECT_EQ(s.count[d], count);
    EXPECT_EQ(set->puzzles.size(), 3 * count);
    EXPECT_EQ(set->base_item.size(), set->puzzles.size());
    EXPECT_EQ(set->n, 4);
  }
}

TEST_F(LatinDataTest, keeps_the_least_distances) {
  EXPECT_GE(smallest_distance(data().heldout, data().train), 0.8 - 1e-12);
  EXPECT_GE(smallest_distance(data().heldout, data().test), 0.8 - 1e-12);
  EXPECT_GE(smallest_distance(data().heldout, data().validation), 0.8 - 1e-12);
  EXPECT_GE(smallest_distance(data().validation, data().train), 0.8 - 1e-12);
  EXPECT_GE(smallest_distance(data().validation, data().test), 0.8 - 1e-12);
}

TEST_F(LatinDataTest, is_filled_like_the_published_puzzles) {
  const double pool[] = {9.15, 7.34, 6.98}, heldout[] = {9.42, 8.83, 7.33};
  const LatinSetSummary train = summarize(data().train), held = summarize(data().heldout),
                        valid = summarize(data().validation);
  for (std::size_t d = 0; d < 3; ++d) {
    EXPECT_NEAR(train.mean_filled[d], pool[d], 0.15);
    EXPECT_NEAR(held.mean_filled[d], heldout[d], 0.15);
    EXPECT_NEAR(valid.mean_filled[d], heldout[d], 0.15);
  }
}

TEST_F(LatinDataTest, every_puzzle_is_new_and_solved_rightly) {
  std::set<std::string> texts;
  std::size_t count = 0;
  for (const LatinSet* set : {&data().train, &data().test, &data().validation, &data().heldout}) {
    for (const Puzzle& p : set->puzzles) {
      ++count;
      texts.insert(puzzle_text(p));
      ASSERT_EQ(parse_puzzle(puzzle_text(p)), p);
    }
  }
  EXPECT_EQ(texts.size(), count);
}

TEST_F(LatinDataTest, heldout_and_validation_come_in_three_rotations_of_an_item) {
  for (const LatinSet* set : {&data().heldout, &data().validation}) {
    for (std::size_t i = 0; i < set->puzzles.size(); ++i) {
      EXPECT_EQ(set->base_item[i], static_cast<int>(i / 3));
      const int turn = static_cast<int>(i % 3);
      EXPECT_EQ(set->puzzles[i], rotate_puzzle(set->puzzles[i - i % 3], turn, turn));
    }
  }
}

TEST(LatinDataSeedTest, the_seed_alone_decides) {
  const LatinOptions small{.n = 5, .seed = 3, .per_difficulty = 60, .heldout_items = 2, .validation_items = 2};
  LatinOptions other = small;
  other.seed = 4;
  EXPECT_EQ(latin_data_hash(make_latin_data(small)), latin_data_hash(make_latin_data(small)));
  EXPECT_NE(latin_data_hash(make_latin_data(small)), latin_data_hash(make_latin_data(other)));
}

TEST(LatinDataOptionsTest, nonsense_is_a_config_error) {
  EXPECT_THROW(make_latin_data({.n = 2}), ConfigError);
  EXPECT_THROW(make_latin_data({.n = 10}), ConfigError);
  EXPECT_THROW(make_latin_data({.test_fraction = 1.0}), ConfigError);
  EXPECT_THROW(make_latin_data({.rotations = 5}), ConfigError);
  EXPECT_THROW(make_latin_data({.n = 5, .authors_dir = "x"}), ConfigError);
  EXPECT_THROW(make_latin_data({.authors_dir = "/nonexistent"}), IoError);
}

TEST(LatinDataAuthorsTest, the_published_files_become_four_splits) {
  const std::string folder = locus::test::shared_data() + "/lst";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no published puzzle files at " << folder;
  const LatinData a = make_latin_data({.seed = 0, .authors_dir = folder}),
                  b = make_latin_data({.seed = 1, .authors_dir = folder});
  EXPECT_EQ(a.train.puzzles, b.train.puzzles);
  EXPECT_EQ(a.train.puzzles.size(), 8100U);
  EXPECT_EQ(a.test.puzzles.size(), 900U);
  EXPECT_EQ(a.heldout.puzzles.size(), 108U);
  EXPECT_EQ(a.validation.puzzles.size(), 108U);
  EXPECT_EQ(a.heldout.base_item.back(), 35);
  EXPECT_GE(smallest_distance(a.heldout, a.train), 0.8);
  EXPECT_GE(smallest_distance(a.heldout, a.validation), 0.8 - 1e-12);
  EXPECT_GT(smallest_distance(a.validation, a.train), 0.0);
  const LatinSetSummary s = summarize(a.heldout);
  EXPECT_NEAR(s.mean_filled[0], 9.42, 0.005);
  EXPECT_NEAR(s.mean_filled[1], 8.83, 0.005);
  EXPECT_NEAR(s.mean_filled[2], 7.33, 0.005);
}

}  // namespace
}  // namespace locus
