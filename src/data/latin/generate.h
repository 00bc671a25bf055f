// Makes Latin-square puzzles with quotas per difficulty, a wanted spread of filled cells and a least distance from other
// puzzles. A puzzle is a uniform square, a uniform target and a uniform set of further cells, given its difficulty and
// number of filled cells; see docs/puzzles.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/rng.h"
#include "data/latin/puzzle.h"
#include "data/latin/square.h"

namespace locus {

// Puzzles kept as bit sets of (cell, symbol) features, to ask for distances quickly.
class DistanceIndex {
 public:
  explicit DistanceIndex(int n);
  void add(const Puzzle& puzzle);
  // True if the puzzle has Jaccard distance >= min_distance from everything added.
  bool is_far(const Puzzle& puzzle, double min_distance) const;
  // Sets near[i] for every puzzle i (in order of adding) that is closer than min_distance.
  void mark_near(const Puzzle& puzzle, double min_distance, std::vector<char>& near) const;
  double nearest(const Puzzle& puzzle) const;  // smallest distance, 1 for an empty index
  std::size_t size() const { return filled_.size(); }

 private:
  using Word = std::uint64_t;
  void encode(const Puzzle& puzzle, Word* words) const;
  int shared(const Word* a, const Word* b) const;

  int n_;
  std::size_t words_;
  std::vector<Word> bits_;
  std::vector<int> filled_;
};

// Filled cells (target included) of one kind of puzzle: a normal law cut to lo..hi and tilted to the mean.
struct FilledLaw {
  double mean = 0;
  double sd = 1;
  int lo = 0;
  int hi = 0;
};

// Like the published pool (heldout = false) or the published 108; N other than 4 keeps the place between n and 3/4 n*n.
FilledLaw filled_law(int n, Difficulty difficulty, bool heldout);

// The law's quantiles at (i + 1/2) / count, rising: count numbers of filled cells with very nearly the wanted mean.
std::vector<int> filled_quota(const FilledLaw& law, int count);

struct GenerateRequest {
  int n = 4;
  Difficulty difficulty = Difficulty::kBinary;  // a one-step kind
  int count = 0;                                // base items wanted
  int rotations = 1;                            // puzzles per item, turn j with symbols moved on by j; 1..4
  bool like_heldout = false;                    // which filled_law
};

// Draws puzzles that differ from all it drew before and keep their distance from those in `away`.
class PuzzleGenerator {
 public:
  PuzzleGenerator(int n, std::uint64_t seed, std::string_view stream);
  PuzzleGenerator(const PuzzleGenerator&) = delete;  // the sampler refers to rng_
  PuzzleGenerator& operator=(const PuzzleGenerator&) = delete;

  void keep_away_from(const std::vector<Puzzle>& puzzles);  // at least min_distance from each
  void set_min_distance(double min_distance) { min_distance_ = min_distance; }
  void forbid(const std::vector<Puzzle>& puzzles);  // not these very ones
  // From now on draws `candidates` items for every place and takes the one that lies within min_distance of the
  // fewest puzzles of `sample` (those lost are forgotten): leaves room for a later set that must keep away from this one.
  void leave_room_for(const std::vector<Puzzle>& sample, int candidates);

  // count * rotations puzzles, the rotations of an item next to each other, items in random order of filled cells.
  // Throws DataError when the quota cannot be met: with the true number for n = 3 (all are listed), otherwise with
  // the number found before a bounded search gave up.
  std::vector<Puzzle> generate(const GenerateRequest& request);

  // One puzzle by rejection with no regard to distance or to earlier draws, then so many random steps, which keep the
  // law: every (square, target, cells) of this kind and number of filled cells is equally likely. filled >= n.
  Puzzle draw(Difficulty difficulty, int filled, int steps);

 private:
  struct Attempt;
  struct Walker {
    LatinSquare square;
    Puzzle puzzle;
    int outputs_left = 0;
  };
  bool propose(Difficulty difficulty, int filled, Puzzle& puzzle);
  void reveal_witness(Difficulty difficulty, Puzzle& puzzle);
  double witnesses(const Puzzle& puzzle) const;
  bool is_far(const Puzzle& item, int rotations) const;
  bool turn_item(const Puzzle& item, int rotations, std::vector<Puzzle>& turned) const;
  bool next_item(Attempt& attempt, int filled, std::vector<Puzzle>& turned);
  bool fresh_item(Attempt& attempt, int filled, std::vector<Puzzle>& turned);
  void walk(const GenerateRequest& request, int steps, Walker& walker);
  void step(Walker& walker);
  bool roomiest_item(Attempt& attempt, int filled, std::vector<Puzzle>& turned);
  [[noreturn]] void fail(const Attempt& attempt, std::size_t items) const;

  int n_;
  Rng rng_;
  LatinSampler sampler_;
  LatinSquare square_;
  int square_uses_ = 0;
  double min_distance_ = 0;
  DistanceIndex away_;
  DistanceIndex room_;
  std::vector<char> room_lost_;
  int candidates_ = 1;
  Walker scratch_;
  std::unordered_set<std::string> seen_;
};

// Every puzzle of side 3 of one kind with lo..hi filled cells (each once); the whole space is small.
std::vector<Puzzle> all_puzzles_of_side_three(Difficulty difficulty, int lo, int hi);

}  // namespace locus
