// A model of the score over the searched keys and the length of training: a Gaussian process with a constant for each
// length, averaged over its settings by how well each explains the data. docs/tune.md gives the formulas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/rng.h"

namespace locus {

struct ScorePoint {
  std::vector<double> x;  // a place of the space
  int level = 0;          // how long it was trained
  std::int64_t run = 0;   // scores of one run are alike at all lengths
  double score = 0;       // high is good
};

struct PredictedScore {
  double mean = 0;
  double sd = 0;  // of the mean score of many seeds there
};

// Curves that the data allow, each with the noise of a single run that goes with it.
struct ScoreDraws {
  std::vector<std::vector<double>> curves;  // (draws, places)
  std::vector<double> noise;                // (draws)
};

struct SurrogateComponent;

class Surrogate {
 public:
  // `choices`: keys that are lists, whose values have no order. At least one point.
  Surrogate(std::vector<ScorePoint> points, std::vector<bool> choices);
  ~Surrogate();
  Surrogate(const Surrogate&) = delete;
  Surrogate& operator=(const Surrogate&) = delete;
  Surrogate(Surrogate&&) noexcept;
  Surrogate& operator=(Surrogate&&) noexcept;

  PredictedScore at(const std::vector<double>& x, int level) const;
  // How far a run there is expected to lie above `best`, on average.
  double expected_gain(const std::vector<double>& x, int level, double best) const;
  double noise() const;  // standard deviation of a single run's score over seeds
  ScoreDraws draw(const std::vector<std::vector<double>>& places, int level, std::size_t count, Rng& rng) const;

  // With one more point, whose score is the one expected: for choosing several places at once.
  Surrogate believing(const std::vector<double>& x, int level) const;

 private:
  Surrogate() = default;
  void condition();

  std::vector<ScorePoint> points_;
  std::vector<bool> choices_;
  double mean_ = 0, scale_ = 1;  // of the scores, their levels' means taken off
  bool constant_ = false;        // all scores are the same
  std::vector<std::unique_ptr<SurrogateComponent>> components_;
};

}  // namespace locus
