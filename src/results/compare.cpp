#include "results/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <set>

#include "core/error.h"
#include "core/nan.h"
#include "core/text.h"
#include "stats/descriptive.h"
#include "stats/effect_size.h"
#include "stats/small_samples.h"
#include "stats/tests.h"

namespace locus {
namespace {

constexpr int kFewestForTest = 3;
constexpr int kFewestForTrust = 5;
constexpr std::size_t kLevelsForAllPairs = 10;

// Numbers by size, then texts.
bool before(const std::string& a, const std::string& b) {
  const auto number = [](const std::string& t, double& x) {
    const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), x);
    return error == std::errc{} && end == t.data() + t.size();
  };
  double x = 0;
  double y = 0;
  const bool na = number(a, x);
  const bool nb = number(b, y);
  if (na && nb) return x < y;
  return na != nb ? na : a < b;
}

std::vector<std::string> level_order(const std::map<std::string, std::vector<std::string>>& parts) {
  std::vector<std::string> names;
  for (const auto& [name, values] : parts) names.push_back(name);
  std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    const auto& x = parts.at(a);
    const auto& y = parts.at(b);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] != y[i]) return before(x[i], y[i]);
    }
    return false;
  });
  return names;
}

struct Collected {
  std::map<std::string, std::map<std::string, std::vector<double>>> values;  // level, pair
  std::map<std::string, std::vector<std::string>> parts;                     // level: its values of each key
  int unfinished = 0;
  int without_key = 0;
  int without_metric = 0;
};

Collected collect(const RunTable& table, const std::vector<std::string>& keys, const CompareChoice& choice) {
  Collected out;
  for (const RunRow& row : table.rows) {
    std::vector<std::string> parts;
    bool some = false;
    for (const std::string& key : keys) {
      parts.push_back(row.text(key));
      some = some || !parts.back().empty();
    }
    if (!some) {
      ++out.without_key;
      continue;
    }
    if (!row.complete()) {
      ++out.unfinished;
      continue;
    }
    const auto measure = row.measures.find(choice.metric);
    if (measure == row.measures.end() || !std::isfinite(measure->second)) {
      ++out.without_metric;
      continue;
    }
    std::vector<std::string> shown = parts;
    for (std::string& p : shown) p = p.empty() ? "-" : p;
    const std::string level = join(shown, " ");
    out.parts[level] = parts;
    out.values[level][row.text(choice.pair)].push_back(measure->second);
  }
  return out;
}

CompareLevel make_level(const std::string& name, const std::map<std::string, std::vector<double>>& by_pair) {
  CompareLevel level;
  level.name = name;
  for (const auto& [pair, values] : by_pair) {
    level.by_pair[pair] = stats::mean(values);
    level.values.push_back(level.by_pair[pair]);
    level.runs += static_cast<int>(values.size());
  }
  level.mean = stats::mean(level.values);
  level.sd = kNan;
  level.interval = {kNan, kNan};
  if (level.values.size() >= 2) level.sd = stats::sd(level.values);
  if (level.values.size() >= kFewestForTest) level.interval = stats::mean_interval(level.values);
  return level;
}

void take_tests(CompareTest& t, const stats::LocationTest& found) {
  t.p = found.p;
  t.p_rank = found.p_rank;
  t.exact = found.exact;
  t.constant = found.constant;
}

void take_effect(CompareTest& t, const stats::EffectSize& effect) {
  t.effect = effect.value;
  t.effect_interval = effect.interval;
}

CompareTest paired_test(const std::vector<double>& x, const std::vector<double>& y) {
  CompareTest t;
  t.paired = true;
  t.n = static_cast<int>(x.size());
  std::vector<double> d;
  for (std::size_t i = 0; i < x.size(); ++i) d.push_back(x[i] - y[i]);
  t.difference = stats::mean(d);
  take_tests(t, stats::paired_location_test(x, y));
  if (t.constant) return t;
  t.interval = stats::mean_interval(d);
  take_effect(t, stats::cohen_dz(d));
  return t;
}

CompareTest free_test(const CompareLevel& a, const CompareLevel& b) {
  CompareTest t;
  t.n = static_cast<int>(std::min(a.values.size(), b.values.size()));
  t.difference = a.mean - b.mean;
  take_tests(t, stats::two_sample_location_test(a.values, b.values));
  if (t.constant) return t;
  const double se = std::hypot(a.sd / std::sqrt(a.values.size()), b.sd / std::sqrt(b.values.size()));
  const double reach = stats::student_quantile(0.975, stats::welch_t(a.values, b.values).df) * se;
  t.interval = {t.difference - reach, t.difference + reach};
  take_effect(t, stats::hedges_g(a.values, b.values));
  return t;
}

void add_tests(Comparison& c) {
  const std::size_t n = c.levels.size();
  std::size_t centre = 0;
  for (std::size_t i = 1; i < n; ++i) centre = c.levels[i].mean > c.levels[centre].mean ? i : centre;
  const bool all = n <= kLevelsForAllPairs;
  if (!all) c.notes.push_back(fmt::format("{} levels: each is tested against the highest mean only", n));
  int too_few = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      if (!all && i != centre && j != centre) continue;
      const CompareLevel& a = c.levels[i];
      const CompareLevel& b = c.levels[j];
      std::vector<double> x;
      std::vector<double> y;
      for (const auto& [pair, value] : a.by_pair) {
        const auto other = b.by_pair.find(pair);
        if (other == b.by_pair.end()) continue;
        x.push_back(value);
        y.push_back(other->second);
      }
      const auto smaller = static_cast<int>(std::min(a.values.size(), b.values.size()));
      if (smaller < kFewestForTest) {
        ++too_few;
        continue;
      }
      // Pairs are used when they keep most of what there is.
      const bool paired = static_cast<int>(x.size()) >= kFewestForTest && 2 * static_cast<int>(x.size()) >= smaller;
      CompareTest t = paired ? paired_test(x, y) : free_test(a, b);
      t.a = i;
      t.b = j;
      c.tests.push_back(t);
    }
  }
  std::vector<double> p;
  for (const CompareTest& t : c.tests) p.push_back(t.p);
  const std::vector<double> adjusted = stats::holm(p);
  for (std::size_t i = 0; i < adjusted.size(); ++i) c.tests[i].p_holm = adjusted[i];
  if (too_few > 0) {
    c.notes.push_back(
        fmt::format("too few values of {} for a conclusion: {} of the comparisons have fewer than {} and are not tested; "
                    "run at least {}",
                    c.pair, too_few, kFewestForTest, kFewestForTrust));
  }
}

// The smallest p that exchanging signs or values can give; there are two arrangements as extreme, unless they are one.
double smallest_p(const Comparison& c, const CompareTest& t) {
  if (t.paired) return std::pow(2.0, 1 - t.n);
  const std::size_t a = c.levels[t.a].values.size();
  const std::size_t b = c.levels[t.b].values.size();
  double ways = 1;
  for (std::size_t i = 1; i <= std::min(a, b); ++i) ways *= static_cast<double>(a + b - i + 1) / static_cast<double>(i);
  return (a == b ? 2 : 1) / ways;
}

void add_power_note(Comparison& c) {
  const CompareTest* fewest = nullptr;
  for (const CompareTest& t : c.tests) {
    if (fewest == nullptr || t.n < fewest->n) fewest = &t;
  }
  if (fewest == nullptr) return;
  for (const CompareTest& t : c.tests) {
    if (!t.constant) continue;
    c.notes.push_back(fmt::format("{} - {}: {}, so there is no spread to estimate an interval or an effect from",
                                  c.levels[t.a].name, c.levels[t.b].name,
                                  t.paired ? "the difference is the same in every pair" : "neither varies"));
  }
  if (fewest->n >= kFewestForTrust + 1) return;
  if (fewest->n < kFewestForTrust) {
    c.notes.push_back(
        fmt::format("only {} values of {}: a hint, not a conclusion; intervals rest on the assumption of normal "
                    "differences, and p cannot be small",
                    fewest->n, c.pair));
  }
  c.notes.push_back(fmt::format("with {} {} no test can go below p = {:.3g}", fewest->n,
                                fewest->paired ? "pairs" : "values a side", smallest_p(c, *fewest)));
}

}  // namespace

Comparison compare_runs(const RunTable& table, const CompareChoice& choice) {
  Comparison c;
  c.by = choice.by;
  c.metric = choice.metric;
  c.pair = choice.pair;
  const std::vector<std::string> keys = split(choice.by, ',');
  for (const std::string& key : keys) table.require_name(key, "--by");
  table.require_name(choice.pair, "--pair");
  const Collected found = collect(table, keys, choice);
  RunTable finished;  // others are left out, and their measures with them
  std::copy_if(table.rows.begin(), table.rows.end(), std::back_inserter(finished.rows),
               [](const RunRow& row) { return row.complete(); });
  const std::vector<std::string> names = finished.measures();
  if (std::find(names.begin(), names.end(), choice.metric) == names.end()) {
    const std::string nearest = nearest_name(choice.metric, names);
    throw ConfigError({.what = names.empty() ? "no run here has finished" : "no run has such a measure",
                       .where = "--metric",
                       .got = choice.metric,
                       .expected = join(names, ", "),
                       .hint = nearest.empty() ? "" : "did you mean " + nearest + "?"});
  }
  for (const std::string& name : level_order(found.parts)) c.levels.push_back(make_level(name, found.values.at(name)));
  if (found.unfinished > 0) c.notes.push_back(fmt::format("{} runs did not finish and are left out", found.unfinished));
  if (found.without_key > 0)
    c.notes.push_back(fmt::format("{} runs are left out: {} has no meaning for them", found.without_key, choice.by));
  if (found.without_metric > 0)
    c.notes.push_back(fmt::format("{} runs have no finite {} and are left out", found.without_metric, choice.metric));
  std::vector<std::string> others;
  for (const std::string& key : table.varied()) {
    const bool used = std::find(keys.begin(), keys.end(), key) != keys.end() || key == choice.pair;
    if (!used && choice.by != "case") others.push_back(key);
  }
  const bool averaged = std::any_of(c.levels.begin(), c.levels.end(),
                                    [](const CompareLevel& l) { return l.runs > static_cast<int>(l.values.size()); });
  if (averaged)
    c.notes.push_back(fmt::format("several runs share a value of {} and are averaged; what else varies: {}", choice.pair,
                                  others.empty() ? "nothing" : join(others, ", ")));
  else if (!others.empty())
    c.notes.push_back("the runs also differ in " + join(others, ", "));
  if (c.levels.size() < 2) {
    c.notes.push_back(fmt::format("only {} value of {}: nothing to compare", c.levels.size(), choice.by));
    return c;
  }
  add_tests(c);
  add_power_note(c);
  return c;
}

}  // namespace locus
