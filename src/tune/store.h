// search.json in the folder of a search: the question, the scores of every stage, and the answer. Nothing in it depends on
// when or by how many processes the runs were trained.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "tune/answer.h"

namespace locus {

namespace tune_files {
inline constexpr const char* kSearch = "search.json";
inline constexpr const char* kBest = "best.toml";
inline constexpr const char* kTable = "candidates.csv";
inline constexpr const char* kLock = "search.lock";
}  // namespace tune_files

// One recorded stage: its scores, each with the name of its run's folder.
struct StoredStage {
  TuneStage stage;
  std::vector<TuneScore> scores;
  std::vector<std::string> runs;  // names in cells/
  std::vector<double> agreement;  // of P - P0 with other seeds of the candidate; NaN where there is none
};

struct StoredSearch {
  Json question;                  // what was asked: equal question, same search
  std::int64_t budget_steps = 0;  // as counted, or converted from minutes once
  double steps_per_second = 0;    // by which; 0 where the budget was given in steps
  std::vector<StoredStage> stages;
};

void write_search(const std::filesystem::path& folder, const StoredSearch& stored, const Search& search,
                  const TuneAnswer* answer);
// Nothing when there is none; IoError when it is damaged.
std::optional<StoredSearch> read_search(const std::filesystem::path& folder);

// What a figure needs of it.
struct SearchPicture {
  struct Run {
    std::string candidate, rival, run;
    std::int64_t seed = 0, steps = 0;
    double value = 0;  // of the curve's key; NaN for rivals
    double score = 0;
    bool diverged = false;
  };
  std::string metric, key;
  bool log = false;
  std::int64_t steps = 0;  // of the curve
  double best = 0, lo = 0, hi = 0, alike_lo = 0, alike_hi = 0;
  std::string effect;
  std::vector<Run> runs;  // each at the longest training it had
  std::vector<CurvePoint> curve;
  std::vector<std::string> sentences;
};
// Nothing without a finished search.
std::optional<SearchPicture> read_search_picture(const std::filesystem::path& folder);

}  // namespace locus
