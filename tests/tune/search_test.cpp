// The search on planted scores: what it chooses, what it says, what it spends.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "core/error.h"
#include "core/rng.h"
#include "tune/answer.h"
#include "tune/search.h"

namespace locus {
namespace {

constexpr std::int64_t kFull = 1600;
const AnswerWords kWords{"validation.accuracy", "validation accuracy", true, {}};

// Score of a place after some steps, without noise.
using Truth = std::function<double(double sigma, double part)>;

double sigma_of(const TuneCandidate& c) { return std::get<double>(c.settings[0].second); }

SearchPlan plan_of(std::int64_t budget, std::uint64_t seed = 0) {
  SearchPlan plan;
  plan.space = TuneSpace({parse_tune_key("pe.sigma=0.01..3:log")});
  plan.levels = tune_levels(kFull, 8);
  plan.budget = budget;
  plan.seed = seed;
  cut_budget(plan);
  return plan;
}

struct Planted {
  Truth truth;
  double noise = 0.01;
  double diverges_above = 1e9;

  TuneScore score(const Search& search, const TuneTask& task, std::size_t level) const {
    TuneScore s;
    s.task = task;
    s.level = level;
    s.steps = search.plan().levels[level];
    const double sigma = sigma_of(search.candidates()[task.candidate]);
    s.diverged = sigma > diverges_above;
    Rng rng(derive_seed(static_cast<std::uint64_t>(task.seed), "noise", static_cast<std::uint64_t>(sigma * 1e6)), "planted");
    s.score = truth(sigma, static_cast<double>(s.steps) / kFull) + noise * rng.normal();
    return s;
  }

  Search run(const SearchPlan& plan) const {
    Search search(plan);
    while (const auto stage = search.next()) {
      std::vector<TuneScore> scores;
      for (const TuneTask& task : stage->tasks) scores.push_back(score(search, task, stage->level));
      search.record(*stage, scores);
    }
    return search;
  }
};

// Best at 0.1, half as good a decade away.
double peaked(double sigma, double part) {
  const double d = std::log10(sigma / 0.1);
  return 0.3 + 0.6 * std::sqrt(part) * std::exp(-0.7 * d * d);
}

TEST(SearchTest, the_best_sigma_is_found_with_two_whole_runs) {
  int near = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Search search = Planted{peaked, 0.01}.run(plan_of(2 * kFull, seed));
    const double sigma = sigma_of(search.candidates()[search.best()]);
    if (peaked(sigma, 1) > peaked(0.1, 1) - 0.03) ++near;
  }
  EXPECT_GE(near, 19);
}

TEST(SearchTest, the_budget_is_never_exceeded_and_most_of_it_is_used) {
  for (const std::int64_t budget : {kFull, 2 * kFull, 4 * kFull, 10 * kFull, 20 * kFull}) {
    const Search search = Planted{peaked}.run(plan_of(budget));
    EXPECT_LE(search.spent(), budget);
    EXPECT_GT(search.spent(), budget / 2) << budget;
  }
}

TEST(SearchTest, what_is_spent_is_the_length_of_every_run_once) {
  const Search search = Planted{peaked}.run(plan_of(4 * kFull));
  std::map<std::pair<std::size_t, std::int64_t>, std::vector<std::int64_t>> runs;
  for (const TuneScore& s : search.scores()) runs[{s.task.candidate, s.task.seed}].push_back(s.steps);
  std::int64_t sum = 0;
  for (const auto& [run, steps] : runs) {
    EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
    EXPECT_EQ(std::adjacent_find(steps.begin(), steps.end()), steps.end())
        << "a run is never trained to the same step twice";
    sum += steps.back();
  }
  EXPECT_EQ(sum, search.spent());
}

TEST(SearchTest, recorded_scores_lead_to_the_same_next_stage) {
  const Planted planted{peaked, 0.05};
  const Search whole = planted.run(plan_of(6 * kFull));
  // Begun again before every stage, as after a kill.
  std::vector<std::pair<TuneStage, std::vector<TuneScore>>> done;
  while (true) {
    Search search(plan_of(6 * kFull));
    for (const auto& [stage, scores] : done) {
      const auto next = search.next();
      ASSERT_TRUE(next);
      ASSERT_EQ(next->tasks, stage.tasks);
      search.record(*next, scores);
    }
    const auto stage = search.next();
    if (!stage) {
      EXPECT_EQ(search.best(), whole.best());
      EXPECT_EQ(search.spent(), whole.spent());
      return;
    }
    std::vector<TuneScore> scores;
    for (const TuneTask& task : stage->tasks) scores.push_back(planted.score(search, task, stage->level));
    done.emplace_back(*stage, scores);
  }
}

TEST(SearchTest, an_irrelevant_sigma_is_said_to_be_irrelevant) {
  int said = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Planted flat{[](double, double part) { return 0.5 + 0.3 * part; }, 0.02};
    if (answer_of(flat.run(plan_of(4 * kFull, seed)), kWords).effect == kDoesNotMatter) ++said;
  }
  EXPECT_GE(said, 18);
}

TEST(SearchTest, sigmas_that_fail_are_excluded_and_the_good_range_is_kept) {
  // Learns below 0.5, is at chance above.
  const auto step = [](double sigma, double part) { return 0.25 + (sigma < 0.5 ? 0.7 * std::sqrt(part) : 0.02); };
  int right = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const TuneAnswer a = answer_of(Planted{step, 0.02}.run(plan_of(4 * kFull, seed)), kWords);
    if (a.effect == kMatters && a.alike_hi < 1.5 && a.alike_hi > 0.2 && a.value < 0.5) ++right;
  }
  EXPECT_GE(right, 9);
}

TEST(SearchTest, runs_that_diverge_are_not_trained_on_and_never_chosen) {
  const Planted planted{[](double sigma, double) { return sigma; }, 0.001, 0.5};
  const Search search = planted.run(plan_of(4 * kFull));
  EXPECT_LE(sigma_of(search.candidates()[search.best()]), 0.5);
  for (const TuneScore& s : search.scores()) {
    if (s.diverged && s.level > search.plan().first_level) {
      for (const TuneScore& earlier : search.scores()) {
        EXPECT_FALSE(earlier.task == s.task && earlier.level < s.level) << "a diverged run was promoted";
      }
    }
  }
}

TEST(SearchTest, a_rival_as_good_as_the_best_is_said_to_do_as_well_and_a_bad_one_is_not) {
  SearchPlan plan = plan_of(6 * kFull);
  plan.rivals = {{"good", {}}, {"bad", {}}};
  const Planted planted{peaked, 0.01};
  Search search(plan);
  while (const auto stage = search.next()) {
    std::vector<TuneScore> scores;
    for (const TuneTask& task : stage->tasks) {
      const std::string& rival = search.candidates()[task.candidate].rival;
      const double part = static_cast<double>(search.plan().levels[stage->level]) / kFull;
      if (rival.empty()) {
        scores.push_back(planted.score(search, task, stage->level));
      } else {
        scores.push_back(
            {task, stage->level, search.plan().levels[stage->level], false, rival == "good" ? peaked(0.1, part) : 0.3});
      }
    }
    search.record(*stage, scores);
  }
  const TuneAnswer a = answer_of(search, kWords);
  ASSERT_EQ(a.rivals.size(), 2u);
  EXPECT_EQ(a.rivals[0].verdict, "as well");
  EXPECT_EQ(a.rivals[1].verdict, "worse");
}

TEST(SearchTest, a_measure_where_low_is_good_is_searched_downwards) {
  SearchPlan plan = plan_of(4 * kFull);
  plan.higher_is_better = false;
  const Search search = Planted{[](double s, double part) { return 2 - peaked(s, part); }, 0.01}.run(plan);
  const double sigma = sigma_of(search.candidates()[search.best()]);
  EXPECT_GT(sigma, 0.03);
  EXPECT_LT(sigma, 0.3);
}

TEST(SearchTest, a_budget_that_compares_nothing_is_refused) {
  EXPECT_THROW(plan_of(kFull / 16 * 3), ConfigError);
  EXPECT_NO_THROW(plan_of(kFull / 16 * 4));
}

TEST(SearchTest, large_budgets_buy_longer_runs_instead_of_hundreds_of_short_ones) {
  EXPECT_EQ(plan_of(2 * kFull).first_level, 0u);
  EXPECT_GT(plan_of(40 * kFull).first_level, 0u);
}

TEST(SpaceTest, values_and_places_are_each_others_inverse) {
  const TuneSpace space({parse_tune_key("pe.sigma=0.01..3:log"), parse_tune_key("model.width=32,64"),
                         parse_tune_key("model.layers=1..4"), parse_tune_key("optim.clip_norm=0..2")});
  for (const std::vector<double>& x : space.design(12, 7)) {
    for (std::size_t k = 0; k < x.size(); ++k)
      EXPECT_EQ(space.value(k, x[k]), space.value(k, space.place(k, space.value(k, x[k]))));
  }
  EXPECT_EQ(space.value(0, 0), FieldValue(0.01));
  EXPECT_EQ(space.value(0, 1), FieldValue(3.0));
}

TEST(SpaceTest, the_first_design_covers_every_key_evenly) {
  const TuneSpace space({parse_tune_key("pe.sigma=0.01..3:log"), parse_tune_key("optim.lr=1e-4..1e-2:log")});
  const auto places = space.design(8, 3);
  for (std::size_t k = 0; k < 2; ++k) {
    std::vector<int> strata(8);
    for (const auto& x : places) ++strata[static_cast<std::size_t>(x[k] * 8)];
    EXPECT_EQ(strata, std::vector<int>(8, 1));
  }
}

TEST(SpaceTest, single_values_are_no_keys_of_a_search) {
  EXPECT_FALSE(is_tune_key("pe.sigma=0.1"));
  EXPECT_TRUE(is_tune_key("pe.sigma=0.1..1"));
  EXPECT_TRUE(is_tune_key("model.width=32,64"));
  EXPECT_THROW(parse_tune_key("pe.sigma=3..0.1:log"), ConfigError);
  EXPECT_THROW(parse_tune_key("pe.sigma=0..1:log"), ConfigError);
  EXPECT_THROW(is_tune_key("pe.sigm=0.1..1"), ConfigError);
}

TEST(SurrogateTest, the_noise_of_seeds_is_found_again) {
  std::vector<ScorePoint> points;
  Rng rng(1, "noise");
  for (int i = 0; i < 40; ++i) {
    const double x = (i % 10 + 0.5) / 10;
    points.push_back({{x}, 0, i, std::sin(3 * x) + 0.1 * rng.normal()});
  }
  const Surrogate model(points, {false});
  EXPECT_NEAR(model.noise(), 0.1, 0.03);
  EXPECT_NEAR(model.at({0.5}, 0).mean, std::sin(1.5), 0.08);
  EXPECT_LT(model.at({0.5}, 0).sd, 0.08);
}

TEST(SurrogateTest, scores_that_are_all_the_same_are_a_flat_curve_without_noise) {
  const Surrogate model({{{0.1}, 0, 0, 0.7}, {{0.5}, 0, 1, 0.7}, {{0.9}, 0, 2, 0.7}}, {false});
  EXPECT_EQ(model.noise(), 0);
  EXPECT_NEAR(model.at({0.3}, 0).mean, 0.7, 1e-6);
}

}  // namespace
}  // namespace locus
