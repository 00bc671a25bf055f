// The search itself, without files, processes or clocks: which runs come next follows from the plan and the scores so far,
// so it is the same for any number of workers and after any interruption. docs/tune.md describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tune/space.h"
#include "tune/surrogate.h"

namespace locus {

// Something beside the searched keys that is trained for comparison: a frozen or a fixed encoding.
struct TuneRival {
  std::string name;
  std::vector<KeyValue> settings;
};

struct SearchPlan {
  TuneSpace space;
  std::vector<TuneRival> rivals;
  std::vector<std::int64_t> levels;  // steps of each length of training, ascending; the last is the whole
  std::int64_t budget = 0;           // steps of all runs together
  std::uint64_t seed = 0;            // of the search; runs have seed, seed + 1, ...
  bool higher_is_better = true;
  std::int64_t seeds_each = 1;  // of every candidate from its start

  // How the budget is cut: stages of equal share, the first at this level, each later one level higher.
  std::size_t first_level = 0;
  std::size_t stages = 1;
};

// Fills in first_level and stages. ConfigError when the budget is too small to compare anything.
void cut_budget(SearchPlan& plan);

// Steps of the levels for runs of `full` steps: full, a half, a quarter, ... at least `least`.
std::vector<std::int64_t> tune_levels(std::int64_t full, std::int64_t least);

struct TuneCandidate {
  std::string rival;      // "" for a place of the space
  std::vector<double> x;  // empty for a rival
  std::vector<KeyValue> settings;
};

struct TuneTask {
  std::size_t candidate = 0;
  std::int64_t seed = 0;
  bool operator==(const TuneTask&) const = default;
};

struct TuneStage {
  std::size_t level = 0;  // every run of the stage is trained so far
  std::vector<TuneTask> tasks;
};

struct TuneScore {
  TuneTask task;
  std::size_t level = 0;
  std::int64_t steps = 0;  // that the run has by now
  bool diverged = false;   // then it has no score
  double score = 0;        // as measured
};

class Search {
 public:
  explicit Search(SearchPlan plan);

  const SearchPlan& plan() const { return plan_; }
  const std::vector<TuneCandidate>& candidates() const { return candidates_; }
  const std::vector<TuneScore>& scores() const { return scores_; }
  std::int64_t spent() const { return spent_; }
  std::size_t stages_done() const { return done_; }

  std::optional<TuneStage> next();  // nothing when the budget is used up
  void record(const TuneStage& stage, const std::vector<TuneScore>& scores);

  std::size_t top_level() const;  // the highest that any run reached
  Surrogate model() const;        // of all places of the space
  std::size_t best() const;       // the candidate whose score is expected to be highest at the top level; no rival
  double high(double score) const { return plan_.higher_is_better ? score : -score; }
  // Scores of a candidate at a level, made so that high is good; diverged ones left out.
  std::vector<double> scores_of(std::size_t candidate, std::size_t level) const;

 private:
  std::size_t candidate_at(const std::vector<double>& x);
  std::vector<std::int64_t> seeds_of(std::size_t candidate) const;  // of all its runs
  bool has_diverged(std::size_t candidate) const;
  TuneStage first_stage(std::int64_t share);
  void promote(TuneStage& stage, std::int64_t limit, std::int64_t& used) const;
  void add_fresh(TuneStage& stage, std::int64_t share, std::int64_t& used);
  std::vector<std::size_t> ranking(std::size_t level) const;

  SearchPlan plan_;
  std::vector<TuneCandidate> candidates_;
  std::vector<TuneScore> scores_;
  std::int64_t spent_ = 0;
  std::size_t done_ = 0;
};

double mean_of(const std::vector<double>& values);

}  // namespace locus
