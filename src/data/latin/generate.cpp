#include "data/latin/generate.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "core/error.h"
#include "core/text.h"
#include "data/latin/solver.h"

namespace locus {
namespace {

constexpr int kProposalsPerDraw = 256;      // of one drawn square, rows, columns and symbols renamed for each
constexpr int kProposalsPerItem = 300'000;  // before a number of filled cells counts as used up

constexpr int kStepsPerOutput = 100;  // of a walker
constexpr int kOutputsPerWalker = 25;

// Means as published; spreads measured on the published files. Places between 4 and 12 filled cells.
struct Published {
  double mean, sd;
};
constexpr Published kPool[3] = {{9.15, 2.07}, {7.34, 1.97}, {6.98, 1.77}};
constexpr Published kHeldout[3] = {{9.42, 1.44}, {8.83, 1.72}, {7.33, 1.49}};

std::string key_of(const Puzzle& p) { return {p.cells.begin(), p.cells.end()}; }

std::vector<double> normal_weights(const FilledLaw& law, double centre) {
  std::vector<double> w;
  double total = 0;
  for (int f = law.lo; f <= law.hi; ++f) {
    const double z = (f - centre) / law.sd;
    w.push_back(std::exp(-0.5 * z * z));
    total += w.back();
  }
  for (double& x : w) x /= total;
  return w;
}

double mean_of(const std::vector<double>& weights, int lo) {
  double mean = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) mean += weights[i] * (lo + static_cast<double>(i));
  return mean;
}

}  // namespace

FilledLaw filled_law(int n, Difficulty difficulty, bool heldout) {
  LOCUS_CHECK(is_one_step(difficulty), "a one-step kind");
  const Published p = (heldout ? kHeldout : kPool)[static_cast<std::size_t>(difficulty)];
  const int lo = n, hi = 3 * n * n / 4;  // n - 1 givens and the target are the least that decides a target in one step
  const double scale = (hi - lo) / 8.0;
  return {.mean = lo + (p.mean - 4.0) * scale, .sd = p.sd * scale, .lo = lo, .hi = hi};
}

std::vector<int> filled_quota(const FilledLaw& law, int count) {
  double below = law.lo - 20 * law.sd, above = law.hi + 20 * law.sd;
  for (int i = 0; i < 100; ++i) {
    const double centre = (below + above) / 2;
    (mean_of(normal_weights(law, centre), law.lo) < law.mean ? below : above) = centre;
  }
  const std::vector<double> weights = normal_weights(law, (below + above) / 2);
  std::vector<int> quota;
  double cumulative = weights[0];
  std::size_t f = 0;
  for (int i = 0; i < count; ++i) {
    const double level = (i + 0.5) / count;
    while (cumulative < level && f + 1 < weights.size()) cumulative += weights[++f];
    quota.push_back(law.lo + static_cast<int>(f));
  }
  return quota;
}

namespace {

// Grids of side 3 without a clash, from the last cell to the first, so that they come in the order of the number whose
// digits (the first cell the lowest) are the cells' values.
class SideThreeLister {
 public:
  SideThreeLister(Difficulty difficulty, int lo, int hi) : difficulty_(difficulty), lo_(lo), hi_(hi) {
    puzzle_ = {.n = kSide, .cells = std::vector<std::uint8_t>(kCells)};
  }

  std::vector<Puzzle> all() {
    choose(kCells - 1, 0, false);
    return std::move(found_);
  }

 private:
  static constexpr int kSide = 3, kCells = 9, kTarget = kSide + 1;

  void choose(int cell, int filled, bool targeted) {
    if (cell < 0) return finish(filled, targeted);
    for (int value = 0; value <= kTarget; ++value) {
      if (value == kTarget ? targeted : clashes(cell, value)) continue;
      const int now = filled + (value != 0 ? 1 : 0);
      if (now > hi_ || now + cell < lo_) continue;
      puzzle_.cells[static_cast<std::size_t>(cell)] = static_cast<std::uint8_t>(value);
      if (value == kTarget) puzzle_.target = cell;
      choose(cell - 1, now, targeted || value == kTarget);
    }
  }

  // With the cells after it, which are chosen already.
  bool clashes(int cell, int value) const {
    if (value == 0) return false;
    for (int other = cell + 1; other < kCells; ++other) {
      const bool in_line = other / kSide == cell / kSide || other % kSide == cell % kSide;
      if (in_line && puzzle_.cells[static_cast<std::size_t>(other)] == value) return true;
    }
    return false;
  }

  void finish(int filled, bool targeted) {
    if (!targeted || filled < lo_) return;
    const OneStep step = classify_one_step(puzzle_);
    if (step.kind != difficulty_ || possible_answers(puzzle_) == 0) return;
    puzzle_.answer = step.answer;
    puzzle_.difficulty = step.kind;
    found_.push_back(puzzle_);
  }

  Difficulty difficulty_;
  int lo_, hi_;
  Puzzle puzzle_;
  std::vector<Puzzle> found_;
};

}  // namespace

std::vector<Puzzle> all_puzzles_of_side_three(Difficulty difficulty, int lo, int hi) {
  return SideThreeLister(difficulty, lo, hi).all();
}

// State of one quota being filled.
struct PuzzleGenerator::Attempt {
  GenerateRequest request;
  FilledLaw law;
  std::map<int, std::vector<Puzzle>> listed;  // n = 3: all puzzles not yet looked at, by filled cells
  std::map<int, Walker> walkers;              // by filled cells
  std::vector<int> open;                      // numbers of filled cells that are not used up
  std::size_t existing = 0;                   // n = 3: puzzles that are far enough and not forbidden
};

PuzzleGenerator::PuzzleGenerator(int n, std::uint64_t seed, std::string_view stream)
    : n_(n), rng_(seed, stream), sampler_(n, rng_), away_(n), room_(n) {}

void PuzzleGenerator::keep_away_from(const std::vector<Puzzle>& puzzles) {
  for (const Puzzle& p : puzzles) away_.add(p);
  forbid(puzzles);
}

void PuzzleGenerator::forbid(const std::vector<Puzzle>& puzzles) {
  for (const Puzzle& p : puzzles) seen_.insert(key_of(p));
}

// Uncovers n - 1 cells of square_ that decide the target in the way of this kind; each such set is equally likely.
void PuzzleGenerator::reveal_witness(Difficulty difficulty, Puzzle& puzzle) {
  const auto show = [&](int cell) {
    puzzle.cells[static_cast<std::size_t>(cell)] = square_[static_cast<std::size_t>(cell)];
  };
  std::uint32_t coins = rng_.next_u32();  // one for the line and one for each of its at most 8 other cells
  const auto coin = [&] {
    const bool heads = (coins & 1U) != 0;
    coins >>= 1;
    return heads;
  };
  const int row = puzzle.target_row(), column = puzzle.target_column();
  const int answer = square_[static_cast<std::size_t>(puzzle.target)];
  const bool is_row = coin();
  for (int k = 0; k < n_; ++k) {
    const int own = is_row ? row * n_ + k : k * n_ + column;  // cell k of the target's line
    if (own == puzzle.target) continue;
    if (difficulty == Difficulty::kBinary || coin()) {
      show(own);
      continue;
    }
    // Ternary: the same symbol in the target's other line. Quaternary: the answer in the line that crosses here.
    const int wanted = difficulty == Difficulty::kTernary ? square_[static_cast<std::size_t>(own)] : answer;
    for (int m = 0; m < n_; ++m) {
      const int other = difficulty == Difficulty::kTernary ? (is_row ? m * n_ + column : row * n_ + m)
                                                           : (is_row ? m * n_ + k : k * n_ + m);
      if (square_[static_cast<std::size_t>(other)] == wanted) show(other);
    }
  }
}

// How many of the sets reveal_witness may uncover lie inside the puzzle: it is proposed that many times too often.
double PuzzleGenerator::witnesses(const Puzzle& puzzle) const {
  const auto value = [&](int cell) { return static_cast<int>(puzzle.cells[static_cast<std::size_t>(cell)]); };
  const int row = puzzle.target_row(), column = puzzle.target_column();
  double total = 0;
  for (const bool is_row : {true, false}) {
    double product = 1;
    for (int k = 0; k < n_; ++k) {
      const int own = is_row ? row * n_ + k : k * n_ + column;
      if (own == puzzle.target) continue;
      int ways = value(own) != 0;
      if (puzzle.difficulty == Difficulty::kQuaternary) {
        for (int m = 0; m < n_; ++m) ways += value(is_row ? m * n_ + k : k * n_ + m) == puzzle.answer;
      } else if (puzzle.difficulty == Difficulty::kTernary) {
        const int symbol = square_[static_cast<std::size_t>(own)];
        for (int m = 0; m < n_; ++m) ways += value(is_row ? m * n_ + column : row * n_ + m) == symbol;
      }
      product *= ways;
    }
    total += product;
  }
  return total;
}

bool PuzzleGenerator::propose(Difficulty difficulty, int filled, Puzzle& puzzle) {
  if (square_uses_ == 0) square_ = sampler_.draw();
  shuffle_square(square_, n_, rng_);
  square_uses_ = (square_uses_ + 1) % kProposalsPerDraw;
  const auto size = static_cast<std::uint32_t>(n_ * n_);
  puzzle.n = n_;
  puzzle.cells.assign(size, 0);
  puzzle.target = static_cast<int>(rng_.below(size));
  reveal_witness(difficulty, puzzle);
  puzzle.cells[static_cast<std::size_t>(puzzle.target)] = static_cast<std::uint8_t>(n_ + 1);
  std::array<int, kMaxLatinSize * kMaxLatinSize> hidden{};
  std::uint32_t left = 0;
  for (int i = 0; i < n_ * n_; ++i) {
    if (puzzle.cells[static_cast<std::size_t>(i)] == 0) hidden[left++] = i;
  }
  for (int more = filled - n_; more > 0; --more) {
    const std::uint32_t pick = rng_.below(left);
    const auto cell = static_cast<std::size_t>(hidden[pick]);
    puzzle.cells[cell] = square_[cell];
    hidden[pick] = hidden[--left];
  }
  const OneStep step = classify_one_step(puzzle);
  if (step.kind != difficulty) return false;
  puzzle.difficulty = step.kind;
  puzzle.answer = step.answer;
  const double times = witnesses(puzzle);
  return times <= 1 || rng_.uniform() * times < 1.0;
}

void PuzzleGenerator::leave_room_for(const std::vector<Puzzle>& sample, int candidates) {
  LOCUS_CHECK(candidates >= 1, "at least one candidate");
  for (const Puzzle& p : sample) room_.add(p);
  room_lost_.assign(room_.size(), 0);
  candidates_ = candidates;
}

bool PuzzleGenerator::is_far(const Puzzle& item, int rotations) const {
  if (min_distance_ <= 0) return true;
  if (!away_.is_far(item, min_distance_)) return false;
  for (int j = 1; j < rotations; ++j) {
    if (!away_.is_far(rotate_puzzle(item, j, j), min_distance_)) return false;
  }
  return true;
}

// All rotations of an item, if every one is new.
bool PuzzleGenerator::turn_item(const Puzzle& item, int rotations, std::vector<Puzzle>& turned) const {
  turned.clear();
  for (int j = 0; j < rotations; ++j) {
    Puzzle p = rotate_puzzle(item, j, j);
    if (seen_.count(key_of(p)) != 0 || std::find(turned.begin(), turned.end(), p) != turned.end()) return false;
    turned.push_back(std::move(p));
  }
  return true;
}

// A change of square, visible cells or target that is as likely as its reverse; the number of filled cells stays.
void PuzzleGenerator::step(Walker& w) {
  const auto size = static_cast<std::uint32_t>(n_ * n_);
  const auto side = static_cast<std::uint32_t>(n_);
  std::vector<std::uint8_t>& cells = w.puzzle.cells;
  const std::uint32_t kind = rng_.below(8);
  if (kind < 4) {  // another cell shown in the place of one
    const std::uint32_t a = rng_.below(size), b = rng_.below(size);
    const auto target = static_cast<std::uint32_t>(w.puzzle.target);
    if (a == target || b == target || (cells[a] == 0) == (cells[b] == 0)) return;
    cells[a] = cells[a] == 0 ? w.square[a] : std::uint8_t{0};
    cells[b] = cells[b] == 0 ? w.square[b] : std::uint8_t{0};
  } else if (kind == 4) {  // target and another cell change roles
    const std::uint32_t x = rng_.below(size);
    const auto old = static_cast<std::uint32_t>(w.puzzle.target);
    if (x == old) return;
    cells[old] = cells[x] == 0 ? std::uint8_t{0} : w.square[old];
    cells[x] = static_cast<std::uint8_t>(n_ + 1);
    w.puzzle.target = static_cast<int>(x);
  } else {  // two rows, or two columns, change places in one cycle of columns (rows)
    const bool rows = rng_.below(2) == 0;
    const std::uint32_t r1 = rng_.below(side), r2 = rng_.below(side), start = rng_.below(side);
    if (r1 == r2) return;
    const auto at = [&](std::uint32_t r, std::uint32_t c) { return rows ? r * side + c : c * side + r; };
    std::uint32_t c = start;
    do {
      std::swap(w.square[at(r1, c)], w.square[at(r2, c)]);
      // The symbol now doubled in row r2 stands in another column there: go on with that one.
      const std::uint8_t doubled = w.square[at(r2, c)];
      std::uint32_t next = start;
      for (std::uint32_t k = 0; k < side; ++k) {
        if (k != c && w.square[at(r2, k)] == doubled) next = k;
      }
      c = next;
    } while (c != start);
    for (std::uint32_t i = 0; i < size; ++i) {
      if (cells[i] != 0 && static_cast<int>(i) != w.puzzle.target) cells[i] = w.square[i];
    }
  }
}

// Random steps that stay in the kind and at distance. A walker starts at a uniform draw of such puzzles, and every step
// keeps that law, so each output has it too; outputs of one walker are only somewhat alike.
void PuzzleGenerator::walk(const GenerateRequest& request, int steps, Walker& walker) {
  for (int i = 0; i < steps; ++i) {
    scratch_ = walker;
    step(scratch_);
    const OneStep found = classify_one_step(scratch_.puzzle);
    if (found.kind != request.difficulty) continue;
    scratch_.puzzle.answer = found.answer;
    if (is_far(scratch_.puzzle, request.rotations)) std::swap(walker, scratch_);
  }
}

Puzzle PuzzleGenerator::draw(Difficulty difficulty, int filled, int steps) {
  LOCUS_CHECK(filled >= n_ && filled <= n_ * n_ && is_one_step(difficulty) && away_.size() == 0, "a drawable kind");
  Walker walker;
  while (!propose(difficulty, filled, walker.puzzle)) {
  }
  walker.square = square_;
  walk({.n = n_, .difficulty = difficulty}, steps, walker);
  return walker.puzzle;
}

// By rejection. Where that is slow, leaves a walker behind for the next items.
bool PuzzleGenerator::fresh_item(Attempt& attempt, int filled, std::vector<Puzzle>& turned) {
  const GenerateRequest& request = attempt.request;
  Puzzle item;
  for (int i = 0; i < kProposalsPerItem; ++i) {
    if (!propose(request.difficulty, filled, item) || !is_far(item, request.rotations)) continue;
    if (!turn_item(item, request.rotations, turned)) continue;
    attempt.walkers[filled] = {
        .square = square_, .puzzle = item, .outputs_left = std::min(kOutputsPerWalker, i / kStepsPerOutput)};
    return true;
  }
  return false;
}

bool PuzzleGenerator::next_item(Attempt& attempt, int filled, std::vector<Puzzle>& turned) {
  const GenerateRequest& request = attempt.request;
  if (n_ == kMinLatinSize) {
    std::vector<Puzzle>& list = attempt.listed[filled];
    while (!list.empty()) {
      const Puzzle item = std::move(list.back());
      list.pop_back();
      if (is_far(item, request.rotations) && turn_item(item, request.rotations, turned)) return true;
    }
    return false;
  }
  Walker& walker = attempt.walkers[filled];
  while (walker.outputs_left > 0) {
    --walker.outputs_left;
    walk(request, kStepsPerOutput, walker);
    if (turn_item(walker.puzzle, request.rotations, turned)) return true;
  }
  return fresh_item(attempt, filled, turned);
}

bool PuzzleGenerator::roomiest_item(Attempt& attempt, int filled, std::vector<Puzzle>& turned) {
  if (!next_item(attempt, filled, turned)) return false;
  if (room_.size() == 0 || n_ == kMinLatinSize) return true;
  const auto lost_with = [&](const std::vector<Puzzle>& item) {
    std::vector<char> lost = room_lost_;
    for (const Puzzle& p : item) room_.mark_near(p, min_distance_, lost);
    return lost;
  };
  const auto count = [](const std::vector<char>& lost) { return std::count(lost.begin(), lost.end(), 1); };
  std::vector<char> least = lost_with(turned);
  std::vector<Puzzle> other;
  for (int i = 1; i < candidates_ && next_item(attempt, filled, other); ++i) {
    std::vector<char> lost = lost_with(other);
    if (count(lost) < count(least)) {
      least.swap(lost);
      turned.swap(other);
    }
  }
  room_lost_.swap(least);
  return true;
}

void PuzzleGenerator::fail(const Attempt& attempt, std::size_t items) const {
  const GenerateRequest& request = attempt.request;
  const std::string kind = to_lower(difficulty_name(request.difficulty));
  const std::string conditions = fmt::format(
      "{0} to {1} filled cells{2}", attempt.law.lo, attempt.law.hi,
      away_.size() == 0 ? "" : fmt::format(", distance >= {} from {} other puzzles", min_distance_, away_.size()));
  const std::string rotated = request.rotations > 1 ? fmt::format(" of {} rotations each", request.rotations) : "";
  std::string got;
  if (n_ == kMinLatinSize) {
    got = fmt::format("{} exist in all ({}), which gave {} items{}", attempt.existing, conditions, items, rotated);
  } else {
    got = fmt::format(
        "{} items{} found ({}); then {} more tries for each number of filled cells gave no new one; more may exist", items,
        rotated, conditions, kProposalsPerItem);
  }
  throw DataError(
      {.what = fmt::format("not enough {0} puzzles of size {1}x{1}", kind, n_),
       .got = got,
       .expected = fmt::format("{} items{}", request.count, rotated),
       .hint =
           "ask for fewer puzzles (lst.per_difficulty), fewer held-out items (lst.heldout_items, lst.rotations), a smaller "
           "lst.min_distance, or a larger grid"});
}

std::vector<Puzzle> PuzzleGenerator::generate(const GenerateRequest& request) {
  LOCUS_CHECK(request.n == n_ && is_one_step(request.difficulty), "a one-step kind of the generator's size");
  LOCUS_CHECK(request.rotations >= 1 && request.rotations <= 4, "1 to 4 rotations");
  Attempt attempt{.request = request,
                  .law = filled_law(n_, request.difficulty, request.like_heldout),
                  .listed = {},
                  .walkers = {},
                  .open = {}};
  for (int f = attempt.law.lo; f <= attempt.law.hi; ++f) attempt.open.push_back(f);
  if (n_ == kMinLatinSize) {
    for (Puzzle& p : all_puzzles_of_side_three(request.difficulty, attempt.law.lo, attempt.law.hi)) {
      if (seen_.count(key_of(p)) != 0 || (min_distance_ > 0 && !away_.is_far(p, min_distance_))) continue;
      ++attempt.existing;
      attempt.listed[p.filled()].push_back(std::move(p));
    }
    for (auto& [filled, list] : attempt.listed) rng_.shuffle(std::span(list));
  }
  std::vector<int> quota = filled_quota(attempt.law, request.count);
  rng_.shuffle(std::span(quota));
  std::vector<Puzzle> out, turned;
  for (std::size_t item = 0; item < quota.size(); ++item) {
    for (;;) {
      if (attempt.open.empty()) fail(attempt, item);
      const auto nearest = std::min_element(attempt.open.begin(), attempt.open.end(), [&](int a, int b) {
        return std::abs(a - quota[item]) < std::abs(b - quota[item]);
      });
      if (roomiest_item(attempt, *nearest, turned)) break;
      attempt.open.erase(nearest);
    }
    for (Puzzle& p : turned) {
      seen_.insert(key_of(p));
      out.push_back(std::move(p));
    }
  }
  return out;
}

}  // namespace locus
