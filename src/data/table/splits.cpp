#include "data/table/splits.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"

namespace locus {
namespace {

// Equal samples on both sides of a split that cannot be changed: from this part of the test samples on they matter.
constexpr double kLeak = 0.01;

TableSplit resolved(const SplitInput& input, const TableConfig& config) {
  if (config.split != TableSplit::kAuto) return config.split;
  if (!config.split_column.empty()) return TableSplit::kGiven;
  if (!input.groups.empty()) return TableSplit::kGroup;
  return input.labels.empty() ? TableSplit::kRandom : TableSplit::kStratified;
}

// Samples that must stay together: by group, and equal ones.
std::vector<std::vector<std::int64_t>> units_of(const SplitInput& input) {
  std::vector<std::int64_t> root(static_cast<std::size_t>(input.samples));
  std::iota(root.begin(), root.end(), std::int64_t{0});
  const auto top = [&](std::int64_t i) {
    while (root[static_cast<std::size_t>(i)] != i)
      i = root[static_cast<std::size_t>(i)] = root[static_cast<std::size_t>(root[static_cast<std::size_t>(i)])];
    return i;
  };
  const auto merge = [&](std::int64_t a, std::int64_t b) {
    const std::int64_t x = top(a), y = top(b);
    root[static_cast<std::size_t>(std::max(x, y))] = std::min(x, y);
  };
  std::map<std::int32_t, std::int64_t> first_of_group;
  for (std::int64_t i = 0; i < input.samples; ++i) {
    merge(i, input.twin[static_cast<std::size_t>(i)]);
    if (!input.groups.empty())
      merge(i, first_of_group.try_emplace(input.groups[static_cast<std::size_t>(i)], i).first->second);
  }
  std::map<std::int64_t, std::vector<std::int64_t>> units;
  for (std::int64_t i = 0; i < input.samples; ++i) units[top(i)].push_back(i);
  std::vector<std::vector<std::int64_t>> out;
  for (auto& [first, members] : units) out.push_back(std::move(members));
  return out;
}

std::int64_t part_of(double fraction, std::int64_t n) {
  return fraction <= 0 ? 0 : std::max<std::int64_t>(1, std::llround(fraction * static_cast<double>(n)));
}

// Whole units to test until it has its part, then to validation; a unit goes where it overshoots least.
void deal(std::vector<std::vector<std::int64_t>> units, const TableConfig& config, Rng& rng, std::vector<Side>& side) {
  rng.shuffle(std::span(units));
  std::int64_t total = 0;
  for (const auto& u : units) total += static_cast<std::int64_t>(u.size());
  std::int64_t test = part_of(config.test_fraction, total), validation = part_of(config.validation_fraction, total);
  for (const auto& u : units) {
    const auto n = static_cast<std::int64_t>(u.size());
    Side to = Side::kTrain;
    if (test > 0 && (n <= test || n - test < n / 2)) {
      to = Side::kTest;
      test -= n;
    } else if (validation > 0 && (n <= validation || n - validation < n / 2)) {
      to = Side::kValidation;
      validation -= n;
    }
    for (const std::int64_t i : u) side[static_cast<std::size_t>(i)] = to;
  }
}

void deal_by_class(const SplitInput& input, const TableConfig& config, Rng& rng, std::vector<Side>& side) {
  std::map<std::int32_t, std::vector<std::vector<std::int64_t>>> by_class;
  for (auto& u : units_of(input)) by_class[input.labels[static_cast<std::size_t>(u[0])]].push_back(std::move(u));
  for (auto& [label, units] : by_class) deal(std::move(units), config, rng, side);
}

void take_time(const SplitInput& input, const TableConfig& config, std::vector<Side>& side) {
  const std::int64_t test = part_of(config.test_fraction, input.samples);
  const std::int64_t validation = part_of(config.validation_fraction, input.samples);
  for (std::int64_t i = 0; i < input.samples; ++i) {
    const std::int64_t left = input.samples - i;
    side[static_cast<std::size_t>(i)] = left <= test                ? Side::kTest
                                        : left <= test + validation ? Side::kValidation
                                                                    : Side::kTrain;
  }
}

void take_given(const SplitInput& input, std::vector<Side>& side) {
  static const std::map<std::string, Side> kNames = {{"train", Side::kTrain},    {"training", Side::kTrain},
                                                     {"val", Side::kValidation}, {"valid", Side::kValidation},
                                                     {"dev", Side::kValidation}, {"validation", Side::kValidation},
                                                     {"test", Side::kTest},      {"testing", Side::kTest}};
  if (input.given.empty()) {
    throw ConfigError({.what = "a given split needs the column or file that gives it",
                       .where = "table.split",
                       .got = "given",
                       .expected = "table.split_column: train, validation or test of each sample"});
  }
  for (std::int64_t i = 0; i < input.samples; ++i) {
    const auto found = kNames.find(to_lower(trim(input.given[static_cast<std::size_t>(i)])));
    if (found == kNames.end()) {
      throw DataError({.what = "a sample belongs to no split",
                       .where = fmt::format("{}, {}", input.source, input.places[static_cast<std::size_t>(i)]),
                       .got = "'" + input.given[static_cast<std::size_t>(i)] + "'",
                       .expected = "train, validation or test"});
    }
    side[static_cast<std::size_t>(i)] = found->second;
  }
}

void refuse_empty_sides(const SplitInput& input, const SampleSplit& split) {
  const std::size_t train = split.samples_of(Side::kTrain).size(), test = split.samples_of(Side::kTest).size();
  if (train > 0 && test > 0) return;
  throw DataError(
      {.what = train == 0 ? "no sample is left for training" : "no sample is left for testing",
       .where = input.source,
       .got = fmt::format("{} samples, split by {}", input.samples, kTableSplitNames[static_cast<std::size_t>(split.kind)]),
       .expected = "samples on both sides",
       .hint = split.kind == TableSplit::kGroup
                   ? "are all samples of one group, or equal? --groups none"
                   : "are most samples equal in every token? else change table.split or table.test_fraction"});
}

void refuse_lost_classes(const SplitInput& input, const SampleSplit& split) {
  if (input.labels.empty()) return;
  std::vector<std::array<std::int64_t, 3>> count(input.classes.size());
  for (std::int64_t i = 0; i < input.samples; ++i)
    ++count[static_cast<std::size_t>(input.labels[static_cast<std::size_t>(i)])]
           [static_cast<std::size_t>(split.side[static_cast<std::size_t>(i)])];
  std::vector<std::string> untrained;
  for (std::size_t c = 0; c < count.size(); ++c) {
    if (count[c][0] == 0) untrained.push_back("'" + input.classes[c] + "'");
  }
  if (untrained.empty()) return;
  throw DataError({.what = "classes that training never sees",
                   .where = input.source,
                   .got = few_of(untrained),
                   .expected = "every class in training",
                   .hint = split.kind == TableSplit::kStratified
                               ? "remove or join rare classes"
                               : "table.split=stratified draws every class alike; or change the groups or the given split"});
}

// Equal samples on both sides: nothing of the split can be changed here.
void judge_leaks(const SplitInput& input, const SampleSplit& split, const TableConfig& config, DataAudit& audit) {
  std::map<std::int64_t, bool> in_training;
  for (std::int64_t i = 0; i < input.samples; ++i)
    in_training[input.twin[static_cast<std::size_t>(i)]] |= split.side[static_cast<std::size_t>(i)] == Side::kTrain;
  std::int64_t leaks = 0, first = -1;
  const std::vector<std::int64_t> test = split.samples_of(Side::kTest);
  for (const std::int64_t i : test) {
    if (!in_training.at(input.twin[static_cast<std::size_t>(i)])) continue;
    ++leaks;
    if (first < 0) first = i;
  }
  if (leaks == 0) return;
  const std::string text = fmt::format("{} of {} test samples equal one in training ({} and {})", leaks, test.size(),
                                       input.places[static_cast<std::size_t>(first)],
                                       input.places[static_cast<std::size_t>(input.twin[static_cast<std::size_t>(first)])]);
  const bool matters = static_cast<double>(leaks) > kLeak * static_cast<double>(test.size());
  if (matters && config.leaks == SplitLeaks::kError) {
    audit.doubt("leaks", text,
                "table.split=random or stratified keeps equal samples on one side, table.leaks=allow goes on");
  } else {
    audit.note("leaks", text);
  }
}

void refuse_groups_on_both_sides(const SplitInput& input, const SampleSplit& split, const TableConfig& config,
                                 DataAudit& audit) {
  if (input.groups.empty()) return;
  std::map<std::int32_t, std::set<Side>> sides;
  for (std::int64_t i = 0; i < input.samples; ++i)
    sides[input.groups[static_cast<std::size_t>(i)]].insert(split.side[static_cast<std::size_t>(i)]);
  const auto both = std::count_if(sides.begin(), sides.end(), [](const auto& s) {
    return s.second.contains(Side::kTrain) && s.second.contains(Side::kTest);
  });
  if (both == 0) return;
  const std::string text = fmt::format("{} of {} groups stand in training and in test", both, sides.size());
  if (config.leaks == SplitLeaks::kError) {
    audit.doubt("leaks", text, "table.split=group keeps each on one side, table.leaks=allow goes on");
  } else {
    audit.note("leaks", text);
  }
}

}  // namespace

std::vector<std::int64_t> SampleSplit::samples_of(Side wanted) const {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < side.size(); ++i) {
    if (side[i] == wanted) out.push_back(static_cast<std::int64_t>(i));
  }
  return out;
}

std::vector<std::int64_t> first_equal_rows(const std::vector<std::string>& rows) {
  std::unordered_map<std::string, std::int64_t> first;
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < rows.size(); ++i)
    out.push_back(first.try_emplace(rows[i], static_cast<std::int64_t>(i)).first->second);
  return out;
}

SampleSplit split_samples(const SplitInput& input, const TableConfig& config, DataAudit& audit) {
  SampleSplit split;
  split.kind = resolved(input, config);
  split.side.assign(static_cast<std::size_t>(input.samples), Side::kTrain);
  Rng rng(static_cast<std::uint64_t>(config.split_seed), "table/split");
  switch (split.kind) {
    case TableSplit::kAuto:
    case TableSplit::kRandom:
    case TableSplit::kGroup:
      if (split.kind == TableSplit::kGroup && input.groups.empty()) {
        throw ConfigError({.what = "a split by group needs groups",
                           .where = "table.split",
                           .got = "group",
                           .expected = "table.groups (--groups), the column or file that names them"});
      }
      deal(units_of(input), config, rng, split.side);
      break;
    case TableSplit::kStratified:
      if (input.labels.empty()) {
        throw ConfigError({.what = "a split by class needs classes",
                           .where = "table.split",
                           .got = "stratified",
                           .expected = "a target of classes",
                           .hint = "table.split=random"});
      }
      deal_by_class(input, config, rng, split.side);
      break;
    case TableSplit::kTime:
      take_time(input, config, split.side);
      break;
    case TableSplit::kGiven:
      take_given(input, split.side);
      break;
  }
  refuse_empty_sides(input, split);
  refuse_lost_classes(input, split);
  judge_leaks(input, split, config, audit);
  refuse_groups_on_both_sides(input, split, config, audit);
  return split;
}

}  // namespace locus
