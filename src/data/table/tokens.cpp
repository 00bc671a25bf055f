#include "data/table/tokens.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "data/atlas.h"
#include "data/series_columns.h"
#include "io/table.h"

namespace locus {
namespace {

// A column of texts of which at most this part are no numbers is one of numbers with mistakes, or with marks of its own for
// missing values ("?").
constexpr double kMistakes = 0.5;
// Texts of which more than this part are different name the samples.
constexpr double kPartOfNames = 0.5;
constexpr std::size_t kFewestForNames = 20;
constexpr std::int64_t kFewestToCount = 10;
// Whole numbers with at most so many values may be kinds.
constexpr std::size_t kFewValues = 10;

std::set<std::string> reserved_columns(const RawTable& table, const TableConfig& config) {
  std::set<std::string> out;
  const auto add = [&](const std::string& name) {
    if (const std::int64_t c = find_column(table, name); c >= 0) out.insert(table.columns[static_cast<std::size_t>(c)].name);
  };
  if (config.task != TableTask::kMasked) {
    for (const std::string& t : config.target) add(t);
  }
  if (!config.groups.empty() && config.groups != "none") add(config.groups);
  if (!config.split_column.empty()) add(config.split_column);
  return out;
}

bool is_number(const std::string& cell) { return parse_cell(cell).has_value(); }

// 3,14
bool has_decimal_comma(std::string cell) {
  if (is_number(cell)) return false;
  std::replace(cell.begin(), cell.end(), ',', '.');
  return is_number(cell);
}

// Rows whose text is no number in a column that is one but for them.
void refuse_mistakes(const RawTable& table, const RawColumn& column) {
  std::int64_t numbers = 0, commas = 0, texts = 0, first = -1;
  for (std::int64_t i = 0; i < column.size(); ++i) {
    if (column.is_missing(i)) continue;
    const std::string& cell = column.texts[static_cast<std::size_t>(i)];
    commas += has_decimal_comma(cell) ? 1 : 0;
    ++(is_number(cell) ? numbers : texts);
    if (!is_number(cell) && first < 0) first = i;
  }
  const auto most = kMistakes * static_cast<double>(numbers + texts);
  const bool has_mistakes = numbers > 0 && static_cast<double>(texts) <= most;
  if (!has_mistakes && static_cast<double>(numbers + commas) <= most) return;
  throw DataError(
      {.what = fmt::format("text in the column of numbers '{}'", column.name),
       .where = fmt::format("{}, {}", table.source, table.place(first)),
       .got = fmt::format("'{}' ({} of {} cells are no numbers)", column.texts[static_cast<std::size_t>(first)], texts,
                          numbers + texts),
       .expected = "a number, or an empty cell for a missing value",
       .hint = commas > 0 ? "write numbers with a decimal point, not a comma"
                          : fmt::format("mend the cells, leave the column out (table.skip='[\"{0}\"]') or take all of it as "
                                        "categories (table.categories='[\"{0}\"]')",
                                        column.name)});
}

std::string settle(const std::string& name) {
  return fmt::format("table.skip='[\"{}\"]' leaves it out, table.skip='[\"none\"]' keeps every column as a token", name);
}

bool is_time(const std::string& title) {
  static constexpr std::array<std::string_view, 8> kTimes = {"seconds", "frame", "volume", "date",
                                                             "day",     "hour",  "month",  "year"};
  const std::string plain = plain_title(title);
  return plain.starts_with("time") || std::find(kTimes.begin(), kTimes.end(), plain) != kTimes.end();
}

bool has_none(const std::vector<std::string>& skip) { return std::find(skip.begin(), skip.end(), "none") != skip.end(); }

enum class Verdict { kToken, kLeftOut };

class Picker {
 public:
  Picker(const RawTable& table, const TableConfig& config, DataAudit& audit)
      : table_(table), config_(config), audit_(audit), keeps_all_(has_none(config.skip)) {
    for (const std::string& name : config.skip) {
      if (name != "none") skip_.insert(require_column(table, name, "table.skip"));
    }
    for (const std::string& name : config.categories) kinds_.insert(require_column(table, name, "table.categories"));
  }

  Verdict judge(std::size_t c) {
    const RawColumn& column = table_.columns[c];
    const auto place = static_cast<std::int64_t>(c);
    if (skip_.contains(place)) {
      audit_.note(title(column), "left out, as table.skip says");
      return Verdict::kLeftOut;
    }
    if (kinds_.contains(place) || keeps_all_) return Verdict::kToken;
    if (column.name.empty()) {
      audit_.note(fmt::format("column {}", c + 1), "left out: a column without a title names the samples");
      return Verdict::kLeftOut;
    }
    return column.is_text() ? judge_texts(column) : judge_numbers(column);
  }

  // Columns of whole numbers with few values.
  const std::vector<std::string>& few_values() const { return few_values_; }

  // As a category, by the user.
  bool is_asked_for(std::size_t c) const { return kinds_.contains(static_cast<std::int64_t>(c)); }

  bool is_category(std::size_t c) const {
    return table_.columns[c].is_text() || kinds_.contains(static_cast<std::int64_t>(c));
  }

 private:
  static std::string title(const RawColumn& column) { return fmt::format("column '{}'", column.name); }

  Verdict judge_texts(const RawColumn& column) {
    const std::set<std::string> different(column.texts.begin(), column.texts.end());
    refuse_other_time(column, std::is_sorted(column.texts.begin(), column.texts.end()));
    if (title_kind(column.name) == TitleKind::kId) return people(column, different.size());
    if (different.size() > kFewestForNames &&
        static_cast<double>(different.size()) > kPartOfNames * static_cast<double>(column.size())) {
      audit_.doubt(title(column),
                   fmt::format("{} different texts in {} samples: names, or a token?", different.size(), column.size()),
                   settle(column.name));
    }
    return Verdict::kToken;
  }

  Verdict judge_numbers(const RawColumn& column) {
    const TitleKind kind = title_kind(column.name);
    std::set<double> different;
    std::copy_if(column.numbers.begin(), column.numbers.end(), std::inserter(different, different.end()),
                 [](double v) { return !std::isnan(v); });
    if (kind == TitleKind::kId && are_whole(column.numbers)) return people(column, different.size());
    const bool up = rises(column.numbers);
    refuse_other_time(column, std::is_sorted(column.numbers.begin(), column.numbers.end()));
    if ((kind == TitleKind::kClock && (up || are_whole(column.numbers))) || (kind == TitleKind::kEither && up)) {
      if (is_time(column.name) && up && config_.split == TableSplit::kAuto) {
        audit_.doubt(title(column), "the samples are in the order of time: neighbours in time may be alike",
                     "table.split=time tests on the end of the table, table.split=random on drawn samples");
      }
      audit_.note(title(column), "left out: an index or a clock, no token");
      return Verdict::kLeftOut;
    }
    if (column.size() >= kFewestToCount && counts_evenly(column.numbers)) {
      audit_.doubt(title(column), "counts up from sample to sample like an index or a clock: is it a token?",
                   settle(column.name));
    }
    if (different.size() > 2 && different.size() <= kFewValues && are_whole(column.numbers))
      few_values_.push_back(column.name);
    return Verdict::kToken;
  }

  // The end of the table is the end of time only where its rows are in the order of time.
  void refuse_other_time(const RawColumn& column, bool in_order) {
    if (config_.split != TableSplit::kTime || !is_time(column.name) || in_order) return;
    audit_.doubt(title(column), "the rows are not in the order of this column, but table.split=time tests on the last rows",
                 "sort the table, or " + settle(column.name));
  }

  Verdict people(const RawColumn& column, std::size_t different) {
    if (different < static_cast<std::size_t>(column.size()) && config_.groups.empty()) {
      audit_.doubt(
          title(column),
          fmt::format("{} different values in {} samples: if these are people, one may stand in training and test",
                      different, column.size()),
          fmt::format("--groups '{}' keeps each on one side, --groups none says that samples are independent", column.name));
    }
    audit_.note(title(column), "left out: it names the samples or who they are of");
    return Verdict::kLeftOut;
  }

  const RawTable& table_;
  const TableConfig& config_;
  DataAudit& audit_;
  bool keeps_all_;
  std::set<std::int64_t> skip_, kinds_;
  std::vector<std::string> few_values_;
};

RawTokens vector_tokens(const RawTable& table) {
  RawTokens out;
  out.features = table.features;
  const auto tokens = table.vector_names.size();
  const auto f = static_cast<std::size_t>(table.features);
  for (std::size_t t = 0; t < tokens; ++t) {
    RawToken token;
    token.name = table.vector_names[t];
    for (std::size_t i = 0; i < static_cast<std::size_t>(table.samples); ++i) {
      const auto begin = table.vectors.begin() + static_cast<std::ptrdiff_t>((i * tokens + t) * f);
      token.numbers.insert(token.numbers.end(), begin, begin + static_cast<std::ptrdiff_t>(f));
    }
    out.tokens.push_back(std::move(token));
  }
  return out;
}

void say_kinds(const RawTokens& tokens, const Picker& picker, DataAudit& audit) {
  std::vector<std::string> categories;
  for (const RawToken& t : tokens.tokens) {
    if (t.is_category()) categories.push_back(t.name);
  }
  const std::size_t numbers = tokens.tokens.size() - categories.size();
  std::string text = fmt::format("{} of numbers", numbers);
  if (!categories.empty()) text += fmt::format(", {} of categories ({})", categories.size(), few_of(categories));
  audit.fact("tokens", text);
  // When most columns look so, they are counts or grey values.
  if (!picker.few_values().empty() && 2 * picker.few_values().size() <= numbers) {
    audit.note("tokens",
               fmt::format("whole numbers with few values, read as amounts: {} (table.categories takes them as kinds)",
                           few_of(picker.few_values())));
  }
}

}  // namespace

bool RawTokens::is_missing(std::int64_t sample, std::size_t token) const {
  const RawToken& t = tokens[token];
  if (t.is_category()) return t.texts[static_cast<std::size_t>(sample)].empty();
  for (std::int64_t f = 0; f < features; ++f) {
    if (std::isnan(t.numbers[static_cast<std::size_t>(sample * features + f)])) return true;
  }
  return false;
}

RawTokens pick_tokens(const RawTable& table, const TableConfig& config, DataAudit& audit) {
  RawTokens out;
  if (!table.vectors.empty()) {
    out = vector_tokens(table);
    audit.fact("tokens", fmt::format("{} of vectors of {} numbers", out.tokens.size(), out.features));
  }
  Picker picker(table, config, audit);
  const std::set<std::string> reserved = reserved_columns(table, config);
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const RawColumn& column = table.columns[c];
    if (reserved.contains(column.name) || picker.judge(c) == Verdict::kLeftOut) continue;
    RawToken token;
    token.name = column.name.empty() ? fmt::format("column {}", c + 1) : column.name;
    if (picker.is_category(c)) {
      if (!picker.is_asked_for(c)) refuse_mistakes(table, column);
      for (std::int64_t i = 0; i < table.samples; ++i) token.texts.push_back(column.text(i));
    } else {
      token.numbers = column.numbers;
    }
    out.tokens.push_back(std::move(token));
  }
  out.source = table.source;
  out.samples = table.samples;
  for (std::int64_t i = 0; i < table.samples; ++i) out.sample_names.push_back(table.place(i));
  if (out.tokens.empty()) {
    throw DataError({.what = "no column is a token",
                     .where = table.source,
                     .got = fmt::format("{} columns, all of them target, group, index or left out", table.columns.size()),
                     .expected = "columns to learn from",
                     .hint = "table.skip='[\"none\"]' keeps every column"});
  }
  if (table.vectors.empty()) say_kinds(out, picker, audit);
  return out;
}

}  // namespace locus
