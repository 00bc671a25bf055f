// Runs compared between the values of a key: means with confidence intervals, paired tests, effect sizes, and plain words
// about what the number of seeds allows to say.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/nan.h"
#include "results/compare_table.h"
#include "stats/distributions.h"

namespace locus {

struct CompareLevel {
  std::string name;
  std::map<std::string, double> by_pair;  // mean over the runs with this value of the pairing key
  std::vector<double> values;             // of by_pair, in its order
  int runs = 0;
  double mean = 0;
  double sd = 0;             // NaN below two values
  stats::Interval interval;  // 95 % of the mean; NaN below three values, as in reports
};

struct CompareTest {
  std::size_t a = 0;  // levels
  std::size_t b = 0;
  bool paired = false;
  int n = 0;              // pairs, or the smaller group
  double difference = 0;  // mean of a minus mean of b, over the pairs where paired
  stats::Interval interval = kNone;
  double p = 1;           // all exchanges of signs or of values where they can be counted, else paired or Welch's t
  double p_rank = 1;      // Wilcoxon's signed ranks, or Mann-Whitney's U; exact where p is
  double p_holm = 1;      // p, corrected for the number of tests
  bool exact = false;     // p counts every arrangement
  double effect = kNan;   // Cohen's dz, or Hedges' g
  bool constant = false;  // no spread: neither interval nor effect, both NaN
  stats::Interval effect_interval = kNone;

  static constexpr stats::Interval kNone{kNan, kNan};
};

struct Comparison {
  std::string by;
  std::string metric;
  std::string pair;
  std::vector<CompareLevel> levels;
  std::vector<CompareTest> tests;  // none where seeds are too few
  std::vector<std::string> notes;  // what was left out, what limits a conclusion
};

struct CompareChoice {
  std::string by;  // keys with commas, or "case"
  std::string metric;
  std::string pair = "seed";
};
Comparison compare_runs(const RunTable& table, const CompareChoice& choice);

}  // namespace locus
