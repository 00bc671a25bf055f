#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

#include "core/error.h"
#include "core/rng.h"
#include "data/latin/generate.h"
#include "data/latin/render.h"
#include "data/latin/solver.h"

namespace locus {
namespace {

using Grid = std::vector<int>;  // n*n

// All Latin squares of side n, by plain trial cell by cell.
void list_squares(int n, Grid& grid, std::size_t cell, std::vector<Grid>& out) {
  if (cell == grid.size()) {
    out.push_back(grid);
    return;
  }
  const std::size_t side = static_cast<std::size_t>(n), r = cell / side, c = cell % side;
  for (int s = 1; s <= n; ++s) {
    bool fits = true;
    for (std::size_t k = 0; k < c; ++k) fits &= grid[r * side + k] != s;
    for (std::size_t k = 0; k < r; ++k) fits &= grid[k * side + c] != s;
    if (!fits) continue;
    grid[cell] = s;
    list_squares(n, grid, cell + 1, out);
    grid[cell] = 0;
  }
}

const std::vector<Grid>& squares(int n) {
  static std::vector<Grid> of_three, of_four;
  auto& out = n == 3 ? of_three : of_four;
  if (out.empty()) {
    Grid grid(static_cast<std::size_t>(n * n));
    list_squares(n, grid, 0, out);
  }
  return out;
}

bool extends(const Grid& square, const Puzzle& p) {
  for (std::size_t i = 0; i < square.size(); ++i) {
    if (p.cells[i] >= 1 && p.cells[i] <= p.n && p.cells[i] != square[i]) return false;
  }
  return true;
}

// Can symbol s be put at (r, c) by looking along that row and column only?
bool fits_directly(const Puzzle& p, int r, int c, int s) {
  for (int k = 0; k < p.n; ++k) {
    if (p.cells[static_cast<std::size_t>(r * p.n + k)] == s || p.cells[static_cast<std::size_t>(k * p.n + c)] == s)
      return false;
  }
  return true;
}

// The rules as written, the slow way: answers by listing all squares, kinds by sets of symbols.
struct Truth {
  Difficulty difficulty;
  int answer;
  std::uint64_t completions;
};
Truth brute_force(const Puzzle& p) {
  std::set<int> answers;
  std::uint64_t completions = 0;
  for (const Grid& square : squares(p.n)) {
    if (!extends(square, p)) continue;
    ++completions;
    answers.insert(square[static_cast<std::size_t>(p.target)]);
  }
  if (answers.empty()) return {Difficulty::kContradictory, 0, completions};
  if (answers.size() > 1) return {Difficulty::kAmbiguous, 0, completions};
  const int answer = *answers.begin(), n = p.n, tr = p.target_row(), tc = p.target_column();
  std::set<int> row, column, both;
  for (int k = 0; k < n; ++k) {
    row.insert(p.cells[static_cast<std::size_t>(tr * n + k)]);
    column.insert(p.cells[static_cast<std::size_t>(k * n + tc)]);
  }
  for (std::set<int>* s : {&row, &column}) {
    s->erase(0);
    s->erase(n + 1);
    both.insert(s->begin(), s->end());
  }
  const auto full = static_cast<std::size_t>(n - 1);
  if (row.size() == full || column.size() == full) return {Difficulty::kBinary, answer, completions};
  if (both.size() == full) return {Difficulty::kTernary, answer, completions};
  bool only_in_row = true, only_in_column = true;
  for (int k = 0; k < n; ++k) {
    if (k != tc && p.cells[static_cast<std::size_t>(tr * n + k)] == 0 && fits_directly(p, tr, k, answer))
      only_in_row = false;
    if (k != tr && p.cells[static_cast<std::size_t>(k * n + tc)] == 0 && fits_directly(p, k, tc, answer))
      only_in_column = false;
  }
  return {only_in_row || only_in_column ? Difficulty::kQuaternary : Difficulty::kBeyond, answer, completions};
}

// Givens not in cells_used may go, and the answer stays; none of cells_used may.
void expect_irreducible(const Puzzle& p, const Solution& s) {
  Puzzle bare = p;
  for (int i = 0; i < p.n * p.n; ++i) {
    if (i != p.target && !std::binary_search(s.cells_used.begin(), s.cells_used.end(), i))
      bare.cells[static_cast<std::size_t>(i)] = 0;
  }
  ASSERT_EQ(possible_answers(bare), 1U << (s.answer - 1)) << puzzle_text(p);
  for (const int cell : s.cells_used) {
    ASSERT_NE(p.cells[static_cast<std::size_t>(cell)], 0);
    Puzzle less = bare;
    less.cells[static_cast<std::size_t>(cell)] = 0;
    ASSERT_NE(std::popcount(possible_answers(less)), 1) << puzzle_text(p) << " without cell " << cell;
  }
}

void expect_truth(const Puzzle& p) {
  const Truth truth = brute_force(p);
  const Solution s = solve(p);
  ASSERT_EQ(s.difficulty, truth.difficulty) << puzzle_text(p);
  ASSERT_EQ(s.answer, truth.answer) << puzzle_text(p);
  ASSERT_EQ(count_completions(p, 1'000'000), truth.completions) << puzzle_text(p);
  ASSERT_FALSE(s.words.empty());
  if (is_one_step(s.difficulty)) {
    ASSERT_EQ(s.cells_used.size(), static_cast<std::size_t>(p.n - 1));
    const OneStep step = classify_one_step(p);
    ASSERT_EQ(step.kind, s.difficulty);
    ASSERT_EQ(step.answer, s.answer);
  }
  if (s.answer != 0) expect_irreducible(p, s);
}

TEST(SolverTest, lists_as_many_squares_as_there_are) {
  EXPECT_EQ(squares(3).size(), 12U);
  EXPECT_EQ(squares(4).size(), 576U);
}

// 9 targets x 4^8 fillings, contradictory ones included.
TEST(SolverTest, agrees_with_brute_force_on_every_puzzle_of_side_three) {
  for (int target = 0; target < 9; ++target) {
    for (int code = 0; code < (1 << 16); ++code) {
      Puzzle p{.n = 3, .cells = std::vector<std::uint8_t>(9), .target = target};
      for (int i = 0, k = 0; i < 9; ++i)
        p.cells[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i == target ? 4 : code >> 2 * k++ & 3);
      ASSERT_NO_FATAL_FAILURE(expect_truth(p));
    }
  }
}

TEST(SolverTest, agrees_with_brute_force_on_random_puzzles_of_side_four) {
  Rng rng(3, "test/solver4");
  std::array<int, 6> seen{};
  for (int i = 0; i < 6000; ++i) {
    const Grid& square = squares(4)[rng.below(576)];
    Puzzle p{.n = 4, .cells = std::vector<std::uint8_t>(16), .target = static_cast<int>(rng.below(16))};
    const double density = rng.uniform();
    for (std::size_t k = 0; k < 16; ++k) {
      if (rng.uniform() < density) p.cells[k] = static_cast<std::uint8_t>(square[k]);
      if (i % 5 == 0 && rng.below(20) == 0) p.cells[k] = static_cast<std::uint8_t>(1 + rng.below(4));
    }
    p.cells[static_cast<std::size_t>(p.target)] = 5;
    ASSERT_NO_FATAL_FAILURE(expect_truth(p));
    ++seen[static_cast<std::size_t>(brute_force(p).difficulty)];
  }
  for (int count : seen) EXPECT_GT(count, 30);
}

TEST(SolverTest, explains_each_kind_in_words_and_cells) {
  const auto solved = [](const char* text) { return solve(parse_puzzle(text)); };
  const Solution binary = solved("1345/0000/0000/0000");
  EXPECT_EQ(binary.words, "Row 1 holds 1, 3 and 4, so only 2 is left.");
  EXPECT_EQ(binary.cells_used, (std::vector<int>{0, 1, 2}));
  const Solution ternary = solved("1305/0000/0004/0000");
  EXPECT_EQ(ternary.words, "Row 1 holds 1 and 3 and column 4 holds 4, so only 2 is left.");
  EXPECT_EQ(ternary.cells_used, (std::vector<int>{0, 1, 11}));
  const Solution quaternary = solved("5003/0200/0020/0000");
  EXPECT_EQ(quaternary.words,
            "Row 1 needs a 2. Columns 2 and 3 already hold one and the cell in column 4 is filled, so 2 can only stand at "
            "the target.");
  EXPECT_EQ(quaternary.cells_used, (std::vector<int>{3, 5, 10}));
  EXPECT_EQ(solved("5000/0000/0000/0000").words, "The target may be 1, 2, 3 or 4: the givens do not decide.");
  EXPECT_EQ(solved("1105/0000/0000/0000").difficulty, Difficulty::kContradictory);
}

TEST(SolverTest, solves_large_grids_by_search) {
  Rng rng(1, "test/large");
  LatinSampler sampler(9, rng);
  for (int i = 0; i < 20; ++i) {
    const LatinSquare square = sampler.draw();
    Puzzle p{.n = 9, .cells = square, .target = static_cast<int>(rng.below(81))};
    const int answer = square[static_cast<std::size_t>(p.target)];
    for (auto& cell : p.cells) {
      if (rng.uniform() < 0.5) cell = 0;
    }
    p.cells[static_cast<std::size_t>(p.target)] = 10;
    const Solution s = solve(p);
    EXPECT_NE(s.difficulty, Difficulty::kContradictory);
    EXPECT_TRUE(std::find(s.possible.begin(), s.possible.end(), answer) != s.possible.end());
    EXPECT_EQ(parse_puzzle(puzzle_text(p)).cells, p.cells);
  }
}

TEST(PuzzleTest, text_form_marks_the_target_by_size) {
  EXPECT_EQ(puzzle_text(parse_puzzle("13?.../000")), "134000000");
  EXPECT_EQ(puzzle_text(parse_puzzle(std::string(80, '0') + "?")), std::string(80, '0') + "?");
  for (const char* bad : {"", "134", "13400000", "1340000x0", "134400000", "130000000"})
    EXPECT_THROW(parse_puzzle(bad), DataError) << bad;
}

TEST(PuzzleTest, four_quarter_turns_give_the_puzzle_back) {
  const Puzzle p = parse_puzzle("0040405210200030");
  EXPECT_EQ(puzzle_text(rotate_puzzle(p, 1, 1)), "0210000043510030");
  EXPECT_EQ(rotate_puzzle(rotate_puzzle(p, 1, 1), 3, 3), p);
  for (int j = 0; j < 4; ++j) EXPECT_EQ(parse_puzzle(puzzle_text(rotate_puzzle(p, j, j))), rotate_puzzle(p, j, j));
}

TEST(PuzzleTest, jaccard_counts_the_target_as_a_symbol) {
  const Puzzle a = parse_puzzle("1345000000000000"), b = parse_puzzle("1305000200000000");
  EXPECT_DOUBLE_EQ(jaccard_distance(a, b), 1.0 - 3.0 / 5.0);
  EXPECT_DOUBLE_EQ(jaccard_distance(a, a), 0.0);
  DistanceIndex index(4);
  index.add(a);
  EXPECT_DOUBLE_EQ(index.nearest(b), jaccard_distance(a, b));
  EXPECT_TRUE(index.is_far(b, 0.4));
  EXPECT_FALSE(index.is_far(b, 0.41));
}

TEST(RenderTest, grid_marks_the_cells_used) {
  const Puzzle p = parse_puzzle("13?/000/000");
  EXPECT_EQ(render_grid(p, {0, 1}, {}),
            "┌───┬───┬───┐\n│[1]│[3]│ ? │\n├───┼───┼───┤\n│ · │ · │ · │\n├───┼───┼───┤\n│ · │ · │ · │\n└───┴───┴───┘\n");
  EXPECT_NE(render_explained(p, {}).find("Binary, answer 2\nRow 1 holds 1 and 3, so only 2 is left.\n"), std::string::npos);
  EXPECT_NE(render_explained(p, {.colour = true, .show_answer = true}).find("\x1b[1;33m 2 \x1b[0m"), std::string::npos);
}

}  // namespace
}  // namespace locus
