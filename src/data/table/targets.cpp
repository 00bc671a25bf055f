#include "data/table/targets.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "data/atlas.h"
#include "io/table.h"

namespace locus {
namespace {

// Whole numbers with at most so many different values are taken for classes.
constexpr std::size_t kMostClasses = 20;
constexpr std::size_t kSamplesAClass = 3;

bool is_whole(double v) { return v == std::floor(v) && std::abs(v) < 9e15; }

void refuse_missing(const RawTable& table, const RawColumn& column) {
  std::vector<std::string> places;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < column.size(); ++i) {
    if (!column.is_missing(i)) continue;
    if (++count <= 5) places.push_back(table.place(i));
  }
  if (count == 0) return;
  throw DataError({.what = fmt::format("the target '{}' is missing in some samples", column.name),
                   .where = table.source,
                   .got = fmt::format("{} of {}: {}{}", count, column.size(), join(places, ", "), count > 5 ? ", ..." : ""),
                   .expected = "a class or a number for every sample",
                   .hint = "remove these samples: nothing can be learned or tested with them"});
}

// Numbers in their order, texts in theirs.
std::vector<std::string> sorted_classes(const RawColumn& column) {
  if (column.is_text()) {
    const std::set<std::string> names(column.texts.begin(), column.texts.end());
    return {names.begin(), names.end()};
  }
  const std::set<double> values(column.numbers.begin(), column.numbers.end());
  std::vector<std::string> out;
  for (const double v : values) out.push_back(shortest(v + 0.0));
  return out;
}

void refuse_odd_classes(const RawTable& table, const RawColumn& column, const RawTarget& target) {
  std::vector<std::int64_t> count(target.classes.size());
  for (const std::int32_t l : target.labels) ++count[static_cast<std::size_t>(l)];
  if (target.classes.size() == 1) {
    throw DataError({.what = fmt::format("the target '{}' has one class only", column.name),
                     .where = table.source,
                     .got = fmt::format("'{}' in all {} samples", target.classes[0], column.size()),
                     .expected = "two classes or more"});
  }
  if (2 * target.classes.size() > static_cast<std::size_t>(column.size())) {
    throw DataError(
        {.what = fmt::format("the target '{}' has almost as many classes as samples", column.name),
         .where = table.source,
         .got = fmt::format("{} classes in {} samples: {}", target.classes.size(), column.size(), some_of(target.classes)),
         .expected = "a few samples of every class",
         .hint = column.is_text() ? "is this column a name or an id?" : "for numbers as amounts: task=regress"});
  }
  std::vector<std::string> single;
  for (std::size_t c = 0; c < count.size(); ++c) {
    if (count[c] < 2) single.push_back("'" + target.classes[c] + "'");
  }
  if (single.empty()) return;
  throw DataError({.what = fmt::format("classes of '{}' with a single sample can not be learned and tested", column.name),
                   .where = table.source,
                   .got = some_of(single),
                   .expected = "two samples of a class at least, better ten",
                   .hint = "remove these samples, or join rare classes"});
}

RawTarget classes_of(const RawTable& table, const RawColumn& column, std::string why) {
  RawTarget out;
  out.task = TableTask::kClassify;
  out.why = std::move(why);
  out.names = {column.name};
  out.classes = sorted_classes(column);
  std::map<std::string, std::int32_t> place;
  for (std::size_t c = 0; c < out.classes.size(); ++c) place[out.classes[c]] = static_cast<std::int32_t>(c);
  for (std::int64_t i = 0; i < column.size(); ++i) out.labels.push_back(place.at(column.text(i)));
  refuse_odd_classes(table, column, out);
  return out;
}

void refuse_text(const RawTable& table, const RawColumn& column) {
  if (!column.is_text()) return;
  std::int64_t first = 0;
  while (parse_cell(column.texts[static_cast<std::size_t>(first)]).has_value()) ++first;
  throw DataError({.what = fmt::format("the target '{}' holds text where numbers are to be predicted", column.name),
                   .where = fmt::format("{}, {}", table.source, table.place(first)),
                   .got = column.texts[static_cast<std::size_t>(first)],
                   .expected = "a number",
                   .hint = "for classes: one target and task=classify"});
}

RawTarget numbers_of(const RawTable& table, const std::vector<RawColumn>& columns, std::string why) {
  RawTarget out;
  out.task = TableTask::kRegress;
  out.why = std::move(why);
  out.values = MatrixD(table.samples, static_cast<std::ptrdiff_t>(columns.size()));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    refuse_text(table, columns[c]);
    out.names.push_back(columns[c].name);
    for (std::int64_t i = 0; i < table.samples; ++i) {
      const double v = columns[c].numbers[static_cast<std::size_t>(i)];
      if (!std::isfinite(v)) {
        throw DataError({.what = fmt::format("the target '{}' is not finite", columns[c].name),
                         .where = fmt::format("{}, {}", table.source, table.place(i)),
                         .got = shortest(v),
                         .expected = "a number"});
      }
      out.values(i, static_cast<std::ptrdiff_t>(c)) = v;
    }
    const auto [low, high] = std::minmax_element(columns[c].numbers.begin(), columns[c].numbers.end());
    if (*low == *high) {
      throw DataError({.what = fmt::format("the target '{}' is the same in every sample", columns[c].name),
                       .where = table.source,
                       .got = shortest(*low),
                       .expected = "numbers that differ"});
    }
  }
  return out;
}

struct Reading {
  TableTask task;
  std::string why;
};

Reading kind_of(const std::vector<RawColumn>& columns) {
  if (columns.size() > 1) return {TableTask::kRegress, fmt::format("{} columns of numbers", columns.size())};
  const RawColumn& c = columns[0];
  if (c.is_text()) {
    const std::set<std::string> names(c.texts.begin(), c.texts.end());
    return {TableTask::kClassify, fmt::format("{} different texts", names.size())};
  }
  const std::set<double> values(c.numbers.begin(), c.numbers.end());
  const bool whole = std::all_of(values.begin(), values.end(), is_whole);
  if (whole && values.size() <= kMostClasses && values.size() * kSamplesAClass <= c.numbers.size()) {
    return {TableTask::kClassify,
            fmt::format("{} different whole numbers; task=regress takes them as amounts", values.size())};
  }
  return {TableTask::kRegress,
          whole ? fmt::format("{} different whole numbers; task=classify takes them as classes", values.size())
                : std::string("numbers that are not whole")};
}

}  // namespace

RawTarget read_target(const RawTable& table, const TableConfig& config) {
  if (config.target.empty()) {
    if (config.task == TableTask::kClassify || config.task == TableTask::kRegress) {
      throw ConfigError({.what = "this task needs a target",
                         .where = "task",
                         .got = std::string(kTableTaskNames[static_cast<std::size_t>(config.task)]),
                         .expected = "table.target (--target), the column or file to predict"});
    }
    return {};
  }
  if (config.task == TableTask::kMasked) return {};
  std::vector<RawColumn> columns;
  for (const std::string& name : config.target) {
    for (RawColumn& c : outside_columns(table, name, "table.target")) columns.push_back(std::move(c));
  }
  for (const RawColumn& c : columns) refuse_missing(table, c);
  Reading kind = kind_of(columns);
  const TableTask asked = config.task, seen = kind.task;
  if (asked != TableTask::kAuto && asked != seen) kind = {asked, "as task says"};
  if (kind.task == TableTask::kRegress) return numbers_of(table, columns, kind.why);
  if (columns.size() > 1) {
    throw ConfigError({.what = "classes come from one column",
                       .where = "table.target",
                       .got = join(config.target, ", "),
                       .expected = "one target for task=classify"});
  }
  return classes_of(table, columns[0], kind.why);
}

}  // namespace locus
