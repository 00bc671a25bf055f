#include "tune/search.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/error.h"

namespace locus {
namespace {

constexpr std::int64_t kFewestRuns = 4;  // of the first stage, that there is anything to compare
constexpr std::int64_t kWantedRuns = 8;  // below it a shorter search is better than a thinner one
constexpr std::int64_t kMostRuns = 32;   // above it longer runs are better than more of them
constexpr std::size_t kMostPlaces = 12;  // of the first stage with one key; six more for each further key
constexpr std::size_t kMostLevels = 5;   // the shortest run is a sixteenth of the whole
constexpr double kPromotedPart = 0.75;   // of a stage's share at most; the rest is for new places and seeds
constexpr double kSamePlace = 0.02;      // of a key's range: a proposal so near is one more seed there
constexpr std::int64_t kMostSeeds = 8;

}  // namespace

double mean_of(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

std::vector<std::int64_t> tune_levels(std::int64_t full, std::int64_t least) {
  std::vector<std::int64_t> levels = {full};
  while (levels.size() < kMostLevels && (levels.front() + 1) / 2 >= least && levels.front() > 1)
    levels.insert(levels.begin(), (levels.front() + 1) / 2);
  return levels;
}

void cut_budget(SearchPlan& plan) {
  const std::size_t levels = plan.levels.size();
  const auto runs = [&](std::size_t first, std::size_t stages) {
    return plan.budget / static_cast<std::int64_t>(stages) / plan.levels[first];
  };
  plan.first_level = 0;
  plan.stages = levels;
  while (plan.stages > 1 && runs(0, plan.stages) < kWantedRuns * plan.seeds_each) --plan.stages;
  while (plan.first_level + 1 < levels && plan.stages == levels - plan.first_level &&
         runs(plan.first_level, plan.stages) > kMostRuns * plan.seeds_each) {
    ++plan.first_level;
    --plan.stages;
  }
  if (runs(plan.first_level, plan.stages) > kMostRuns) plan.stages = std::max<std::size_t>(plan.stages, 3);
  const std::int64_t fewest = kFewestRuns * plan.seeds_each;
  if (runs(plan.first_level, plan.stages) >= fewest) return;
  throw ConfigError({.what = "the budget is too small for a search",
                     .where = "--budget",
                     .got = fmt::format("{} steps", plan.budget),
                     .expected = fmt::format("at least {} steps: {} runs of {} steps, a sixteenth of a whole run",
                                             fewest * plan.levels[0], fewest, plan.levels[0]),
                     .hint = "a whole run is 1runs; --budget 4runs is a sensible search"});
}

Search::Search(SearchPlan plan) : plan_(std::move(plan)) {
  LOCUS_CHECK(!plan_.levels.empty() && plan_.stages > 0 && !plan_.space.keys().empty(), "a plan with levels and keys");
}

std::vector<double> Search::scores_of(std::size_t candidate, std::size_t level) const {
  std::vector<double> out;
  for (const TuneScore& s : scores_) {
    if (s.task.candidate == candidate && s.level == level && !s.diverged) out.push_back(high(s.score));
  }
  return out;
}

bool Search::has_diverged(std::size_t candidate) const {
  return std::any_of(scores_.begin(), scores_.end(),
                     [&](const TuneScore& s) { return s.task.candidate == candidate && s.diverged; });
}

std::vector<std::int64_t> Search::seeds_of(std::size_t candidate) const {
  std::vector<std::int64_t> out;
  for (const TuneScore& s : scores_) {
    if (s.task.candidate == candidate && std::find(out.begin(), out.end(), s.task.seed) == out.end())
      out.push_back(s.task.seed);
  }
  return out;
}

std::size_t Search::candidate_at(const std::vector<double>& x) {
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].rival.empty() && candidates_[i].x == x) return i;
  }
  TuneCandidate c;
  c.x = x;
  for (std::size_t k = 0; k < x.size(); ++k) c.settings.emplace_back(plan_.space.keys()[k].key, plan_.space.value(k, x[k]));
  candidates_.push_back(std::move(c));
  return candidates_.size() - 1;
}

std::size_t Search::top_level() const {
  std::size_t level = plan_.first_level;
  for (const TuneScore& s : scores_) level = std::max(level, s.level);
  return level;
}

// A run that diverged is as bad as the worst that did not, at its level.
Surrogate Search::model() const {
  std::map<std::size_t, double> worst;
  double worst_of_all = std::numeric_limits<double>::infinity();
  for (const TuneScore& s : scores_) {
    if (s.diverged) continue;
    const auto [it, fresh] = worst.try_emplace(s.level, high(s.score));
    it->second = std::min(it->second, high(s.score));
    worst_of_all = std::min(worst_of_all, high(s.score));
  }
  if (!std::isfinite(worst_of_all)) worst_of_all = 0;
  std::vector<ScorePoint> points;
  std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> runs;
  for (const TuneScore& s : scores_) {
    const TuneCandidate& c = candidates_[s.task.candidate];
    if (!c.rival.empty()) continue;
    const auto run = runs.try_emplace({s.task.candidate, s.task.seed}, static_cast<std::int64_t>(runs.size())).first->second;
    const double bad = worst.count(s.level) != 0 ? worst[s.level] : worst_of_all;
    points.push_back({c.x, static_cast<int>(s.level), run, s.diverged ? bad : high(s.score)});
  }
  return {std::move(points), plan_.space.choices()};
}

std::size_t Search::best() const {
  const Surrogate fit = model();
  std::size_t best = 0;
  double highest = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (!candidates_[i].rival.empty() || has_diverged(i) || seeds_of(i).empty()) continue;
    const double mean = fit.at(candidates_[i].x, static_cast<int>(top_level())).mean;
    if (mean > highest) highest = mean, best = i;
  }
  if (std::isfinite(highest)) return best;
  throw DataError({.what = "every candidate of the search diverged",
                   .where = "locus tune",
                   .hint = "lower optim.lr or set optim.clip_norm=1, and search again in another folder"});
}

TuneStage Search::first_stage(std::int64_t share) {
  TuneStage stage;
  stage.level = plan_.first_level;
  const std::int64_t runs = std::min(share / plan_.levels[stage.level], kMostRuns * plan_.seeds_each);
  const std::size_t rivals = std::min(plan_.rivals.size(), static_cast<std::size_t>(runs / 4));
  std::int64_t left = runs - static_cast<std::int64_t>(rivals);
  const std::int64_t repeats = plan_.seeds_each > 1 ? 0 : runs >= 10 ? 2 : 1;
  const std::size_t most = kMostPlaces + 6 * (plan_.space.keys().size() - 1);
  const auto places = std::min(most, static_cast<std::size_t>((left - repeats) / plan_.seeds_each));
  std::vector<std::size_t> ids;
  for (const std::vector<double>& x : plan_.space.design(places, plan_.seed)) {
    const std::size_t id = candidate_at(x);
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  // First seeds of all, then further ones from the middle of the range outwards, as long as there is room.
  std::vector<std::size_t> order = ids;
  const double middle = static_cast<double>(ids.size() - 1) / 2;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto far = [&](std::size_t id) {
      return std::abs(static_cast<double>(std::find(ids.begin(), ids.end(), id) - ids.begin()) - middle);
    };
    return far(a) < far(b);
  });
  for (std::int64_t k = 0; k < kMostSeeds && left > 0; ++k) {
    for (const std::size_t id : k < plan_.seeds_each ? ids : order) {
      if (left-- > 0) stage.tasks.push_back({id, static_cast<std::int64_t>(plan_.seed) + k});
    }
  }
  for (std::size_t r = 0; r < rivals; ++r) {
    candidates_.push_back({plan_.rivals[r].name, {}, plan_.rivals[r].settings});
    stage.tasks.push_back({candidates_.size() - 1, static_cast<std::int64_t>(plan_.seed)});
  }
  return stage;
}

std::vector<std::size_t> Search::ranking(std::size_t level) const {
  const Surrogate fit = model();
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const std::vector<double> scores = scores_of(i, level);
    if (scores.empty() || has_diverged(i)) continue;
    const double value =
        candidates_[i].rival.empty() ? fit.at(candidates_[i].x, static_cast<int>(level)).mean : mean_of(scores);
    order.emplace_back(value, i);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::size_t> out;
  for (const auto& [value, i] : order) out.push_back(i);
  return out;
}

// The better half of those at the level below, as far as the share reaches; one at least.
void Search::promote(TuneStage& stage, std::int64_t limit, std::int64_t& used) const {
  const std::vector<std::size_t> order = ranking(stage.level - 1);
  const std::size_t half = (order.size() + 1) / 2;
  const std::int64_t left = plan_.budget - spent_;
  for (std::size_t i = 0; i < half; ++i) {
    std::vector<TuneTask> tasks;
    std::int64_t cost = 0;
    for (const TuneScore& s : scores_) {
      if (s.task.candidate != order[i] || s.level != stage.level - 1) continue;
      tasks.push_back(s.task);
      cost += plan_.levels[stage.level] - s.steps;
    }
    if (used + cost > (i == 0 ? left : limit)) continue;
    used += cost;
    stage.tasks.insert(stage.tasks.end(), tasks.begin(), tasks.end());
  }
}

// New places where the model expects most, or further seeds of a known one where that is as far as it can see.
void Search::add_fresh(TuneStage& stage, std::int64_t share, std::int64_t& used) {
  Surrogate fit = model();
  const auto level = static_cast<int>(stage.level);
  double best = -std::numeric_limits<double>::infinity();
  for (const TuneCandidate& c : candidates_) {
    if (c.rival.empty()) best = std::max(best, fit.at(c.x, level).mean);
  }
  const std::vector<std::vector<double>> pool = plan_.space.pool(plan_.seed, done_);
  std::map<std::size_t, std::int64_t> added;
  while (true) {
    std::size_t chosen = 0;
    double most = -1;
    for (std::size_t i = 0; i < pool.size(); ++i) {
      const double gain = fit.expected_gain(pool[i], level, best);
      if (gain > most) most = gain, chosen = i;
    }
    std::vector<double> x = pool[chosen];
    const auto near = [&](const TuneCandidate& c) {
      for (std::size_t k = 0; k < c.x.size(); ++k) {
        if (std::abs(c.x[k] - x[k]) > kSamePlace) return false;
      }
      return c.rival.empty();
    };
    const auto known = std::find_if(candidates_.begin(), candidates_.end(), near);
    if (known != candidates_.end()) x = known->x;
    const std::int64_t seeds = known != candidates_.end() ? 1 : plan_.seeds_each;
    if (used + seeds * plan_.levels[stage.level] > share) return;
    const std::size_t id = candidate_at(x);
    const auto before = static_cast<std::int64_t>(seeds_of(id).size());
    if (before + added[id] + seeds > kMostSeeds) return;
    for (std::int64_t k = 0; k < seeds; ++k)
      stage.tasks.push_back({id, static_cast<std::int64_t>(plan_.seed) + before + added[id]++});
    used += seeds * plan_.levels[stage.level];
    fit = fit.believing(x, level);
  }
}

std::optional<TuneStage> Search::next() {
  if (done_ >= plan_.stages) return std::nullopt;
  const std::int64_t left = plan_.budget - spent_;
  const std::int64_t share = left / static_cast<std::int64_t>(plan_.stages - done_);
  if (done_ == 0) return first_stage(share);
  TuneStage stage;
  const std::size_t below = top_level();
  stage.level = std::min(below + 1, plan_.levels.size() - 1);
  std::int64_t used = 0;
  const bool last = done_ + 1 == plan_.stages;
  if (stage.level > below) {
    const auto limit = last ? share : static_cast<std::int64_t>(kPromotedPart * static_cast<double>(share));
    promote(stage, limit, used);
  }
  add_fresh(stage, share, used);
  if (stage.tasks.empty()) return std::nullopt;
  return stage;
}

void Search::record(const TuneStage& stage, const std::vector<TuneScore>& scores) {
  LOCUS_CHECK(scores.size() == stage.tasks.size(), "a score for every run");
  for (const TuneScore& s : scores) {
    std::int64_t before = 0;
    for (const TuneScore& earlier : scores_) {
      const TuneTask &now = s.task, &then = earlier.task;
      const bool same_run = then.candidate == now.candidate && then.seed == now.seed;
      if (same_run) before = std::max(before, earlier.steps);
    }
    spent_ += std::max<std::int64_t>(0, s.steps - before);
  }
  scores_.insert(scores_.end(), scores.begin(), scores.end());
  ++done_;
}

}  // namespace locus
