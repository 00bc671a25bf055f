// What a search found, in numbers and in sentences.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tune/search.h"

namespace locus {

// The expected score along one key, with the middle 90 % of the curves that the data allow.
struct CurvePoint {
  double value = 0;  // of the key
  double mean = 0, lo = 0, hi = 0;
};

struct RivalAnswer {
  std::string name;
  std::int64_t steps = 0;  // at which it is compared
  double score = 0;        // mean of its runs
  double behind = 0;       // the best candidate's expected score minus its own; positive: the candidate is better
  double lo = 0, hi = 0;   // middle 90 %
  std::string verdict;     // "worse", "as well", "better"
};

struct TuneAnswer {
  std::size_t best = 0;    // candidate
  std::int64_t steps = 0;  // at which scores are compared
  double score = 0, score_lo = 0, score_hi = 0;
  double noise = 0;                   // standard deviation of a single run over seeds
  std::string key;                    // the curve's; "" when no key has a range
  double value = 0;                   // of the best candidate
  double lo = 0, hi = 0;              // where the best value lies, 90 %
  double alike_lo = 0, alike_hi = 0;  // around the best: nothing differs by more than the noise
  std::string effect;                 // "matters", "does not matter", "cannot tell"
  double seen = 0;                    // a difference as large as this would have been seen
  std::vector<CurvePoint> curve;
  std::vector<RivalAnswer> rivals;
  std::vector<std::string> sentences;
};

inline constexpr const char* kMatters = "matters";
inline constexpr const char* kDoesNotMatter = "does not matter";
inline constexpr const char* kCannotTell = "cannot tell";

struct AnswerWords {
  std::string metric;  // "validation.accuracy"
  std::string words;   // "validation accuracy"
  bool is_fraction = false;
  std::vector<std::string> not_tried;  // what the search left out, from before it began
};

// Of a search that has scores. Costs about a second.
TuneAnswer answer_of(const Search& search, const AnswerWords& words);

// "91.2 %" or "0.0132"; of differences "1.3 points".
std::string show_score(const AnswerWords& words, double value);
std::string show_difference(const AnswerWords& words, double value);

// "pe.sigma 0.107", "rival name": a candidate in words.
std::string candidate_name(const TuneCandidate& candidate);

}  // namespace locus
