#include "data/table/sample_order.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "data/atlas.h"
#include "data/series_columns.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;
using Order = std::vector<std::size_t>;  // the row of each sample

Names texts_of(const RawColumn& column) {
  Names out;
  for (std::int64_t i = 0; i < column.size(); ++i) out.push_back(column.text(i));
  return out;
}

bool all_differ(const Names& names) {
  const std::set<std::string> different(names.begin(), names.end());
  return different.size() == names.size() && !different.contains("");
}

Order in_turn(std::size_t n) {
  Order out(n);
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

// Empty where the two are not the same names.
Order order_by(const Names& samples, const Names& rows) {
  if (samples.size() != rows.size()) return {};
  std::map<std::string, std::size_t> place;
  for (std::size_t r = 0; r < rows.size(); ++r) place[rows[r]] = r;
  Order out;
  for (const std::string& name : samples) {
    const auto found = place.find(name);
    if (found == place.end()) return {};
    out.push_back(found->second);
  }
  return out;
}

[[noreturn]] void refuse_other_names(const Names& samples, const Names& rows, const std::string& title,
                                     const RawTable& table, const std::string& file) {
  const std::set<std::string> there(rows.begin(), rows.end());
  Names missing;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(missing),
               [&](const std::string& n) { return !there.contains(n); });
  throw DataError({.what = fmt::format("the column '{}' names other samples than {}", title, table.source),
                   .where = file,
                   .got = missing.empty()
                              ? fmt::format("{} rows for {} samples", rows.size(), samples.size())
                              : fmt::format("no row for {} of {}: {}", missing.size(), samples.size(), some_of(missing)),
                   .expected = "one row for each sample, in any order"});
}

std::vector<RawColumn> reordered(std::vector<RawColumn> columns, const Order& order, const std::set<std::size_t>& names) {
  std::vector<RawColumn> out;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (names.contains(c)) continue;
    RawColumn column;
    column.name = std::move(columns[c].name);
    for (const std::size_t row : order) {
      if (columns[c].is_text()) column.texts.push_back(columns[c].texts[row]);
      if (!columns[c].is_text()) column.numbers.push_back(columns[c].numbers[row]);
    }
    out.push_back(std::move(column));
  }
  return out;
}

// File names as a user may write them: the path below the folder, the name alone, the name without its ending.
std::vector<Names> spellings(const Names& files) {
  std::vector<Names> out = {files, {}, {}};
  for (const std::string& f : files) {
    out[1].push_back(fs::path(f).filename().string());
    out[2].push_back(fs::path(f).stem().string());
  }
  return out;
}

std::vector<RawColumn> by_file_names(const RawTable& table, std::vector<RawColumn> columns, const std::string& file,
                                     const std::string& key) {
  const RawColumn& files = table.columns[static_cast<std::size_t>(find_column(table, table.sample_column))];
  for (const Names& samples : spellings(files.texts)) {
    if (!all_differ(samples)) continue;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Names rows = texts_of(columns[c]);
      if (const Order order = order_by(samples, rows); !order.empty()) return reordered(std::move(columns), order, {c});
      const std::set<std::string> there(rows.begin(), rows.end());
      if (std::any_of(samples.begin(), samples.end(), [&](const std::string& s) { return there.contains(s); }))
        refuse_other_names(samples, rows, columns[c].name, table, file);
    }
  }
  Names titles;
  for (const RawColumn& c : columns) titles.push_back(c.name);
  throw DataError({.what = fmt::format("{}: nothing tells which row belongs to which file of the folder", key),
                   .where = file,
                   .got = "columns " + join(titles, ", "),
                   .expected = fmt::format("a column with the names of the files, such as {}", files.texts.front()),
                   .hint = "or put the pictures of each class into a folder of its own and take the target 'folder'"});
}

bool counts_rows(const RawColumn& column) {
  if (column.is_text() || column.numbers.empty()) return false;
  const double first = column.numbers.front();
  for (std::size_t i = 0; i < column.numbers.size(); ++i) {
    if (column.numbers[i] != first + static_cast<double>(i)) return false;
  }
  return first == 0 || first == 1;
}

bool names_rows(const RawColumn& column) {
  const TitleKind kind = title_kind(column.name);
  return column.name.empty() || kind == TitleKind::kId || kind == TitleKind::kClock;
}

[[noreturn]] void refuse_unknown_order(const RawTable& table, const RawColumn& column, const std::string& file) {
  throw DataError(
      {.what = fmt::format("the column '{}' names the samples, and nothing tells which of the table they are", column.name),
       .where = file,
       .got = fmt::format("{}, {}, ...", column.text(0), column.size() > 1 ? column.text(1) : ""),
       .expected = fmt::format("the same column in {}", table.source),
       .hint = "or leave the column out, if the rows are in the order of the samples"});
}

// What the columns of another file say of the order of its rows.
struct RowOrder {
  Order order;                         // empty: nothing says
  std::set<std::size_t> names;         // columns that name the samples, or count them
  const RawColumn* unknown = nullptr;  // one that names them by what the table does not have
};

RowOrder row_order(const RawTable& table, const std::vector<RawColumn>& columns, const std::string& file) {
  RowOrder out;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::string title = plain_title(columns[c].name);
    const auto shared = std::find_if(table.columns.begin(), table.columns.end(),
                                     [&](const RawColumn& t) { return table.has_header && plain_title(t.name) == title; });
    if (shared == table.columns.end()) {
      if (names_rows(columns[c])) out.names.insert(c);
      if (names_rows(columns[c]) && !counts_rows(columns[c])) out.unknown = &columns[c];
      continue;
    }
    const Names samples = texts_of(*shared), rows = texts_of(columns[c]);
    const bool unique = all_differ(samples) && all_differ(rows);
    if (!unique && rows != samples) {
      if (names_rows(columns[c])) refuse_unknown_order(table, columns[c], file);
      continue;
    }
    const Order found = unique ? order_by(samples, rows) : in_turn(rows.size());
    if (found.empty() || (!out.order.empty() && found != out.order))
      refuse_other_names(samples, rows, columns[c].name, table, file);
    out.order = found;
    out.names.insert(c);
  }
  return out;
}

}  // namespace

std::vector<RawColumn> in_order_of_samples(const RawTable& table, std::vector<RawColumn> columns, const std::string& file,
                                           const std::string& key) {
  if (!table.sample_column.empty()) return by_file_names(table, std::move(columns), file, key);
  if (columns.size() < 2) return columns;
  RowOrder found = row_order(table, columns, file);
  if (found.order.empty() && found.unknown != nullptr) refuse_unknown_order(table, *found.unknown, file);
  if (found.order.empty()) found.order = in_turn(static_cast<std::size_t>(columns.front().size()));
  return reordered(std::move(columns), found.order, found.names);
}

}  // namespace locus
