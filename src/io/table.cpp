#include "io/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "io/file.h"
#include "io/table_rows.h"

namespace locus {
namespace {

using Cells = std::vector<std::string>;

bool is_text(std::string_view cell) { return !parse_cell(cell).has_value(); }

bool is_integer(std::string_view cell) {
  const std::string_view text = trim(cell);
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Rows that are looked at to tell a header of whole numbers from samples of whole numbers.
constexpr std::size_t kPeekRows = 20;

// The numbers of a row of whole numbers; empty when another cell is there.
std::vector<double> whole_numbers(const Cells& cells) {
  std::vector<double> out;
  for (const std::string& c : cells) {
    if (!is_integer(c)) return {};
    out.push_back(*parse_cell(c));
  }
  return out;
}

bool steps_evenly(const std::vector<double>& row) {
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] <= row[i - 1] || row[i] - row[i - 1] != row[1] - row[0]) return false;
  }
  return row.size() > 1;
}

bool are_years(const std::vector<double>& row) {
  return row.size() > 1 && std::is_sorted(row.begin(), row.end()) && row.front() >= 1500 && row.back() <= 2100;
}

enum class Header { kNo, kYes, kDoubt };

// A first row of different whole numbers: names (0, 1, 2 of pandas, years, identifiers) or a sample. Above rows that are
// not whole it is names; above counts it is when it rises as no other row does.
Header header_of_numbers(const Cells& first, std::span<const Cells> body) {
  const std::vector<double> row = whole_numbers(first);
  if (row.size() < 2 || body.empty()) return Header::kNo;
  if (std::set<double>(row.begin(), row.end()).size() < row.size()) return Header::kNo;
  const auto is_whole = [](const std::string& c) { return is_integer(c) || is_missing(c); };
  const Cells& second = body.front();
  const auto whole_cells = std::count_if(second.begin(), second.end(), is_whole);
  const auto whole_rows = std::count_if(
      body.begin(), body.end(), [&](const Cells& cells) { return std::all_of(cells.begin(), cells.end(), is_whole); });
  if (row.size() >= 3 && 2 * static_cast<std::size_t>(whole_cells) < second.size()) return Header::kYes;
  if (row.size() >= 3 && 10 * static_cast<std::size_t>(whole_rows) <= body.size()) return Header::kYes;
  bool rises_too = false, years_too = false, far_above = body.size() >= 5 && row.size() >= 3;
  for (const Cells& cells : body) {
    const std::vector<double> other = whole_numbers(cells);
    rises_too = rises_too || steps_evenly(other);
    years_too = years_too || are_years(other);
    for (std::size_t c = 0; far_above && c < std::min(cells.size(), row.size()); ++c) {
      const auto value = parse_cell(cells[c]);
      far_above = !value || !(std::abs(*value) * 3 >= row[c]);
    }
  }
  if (are_years(row) && !years_too) return row.size() >= 3 ? Header::kYes : Header::kDoubt;
  if (row.size() < 3 || body.size() < 2) return Header::kNo;
  const bool rises = steps_evenly(row) && !rises_too;
  if (rises && row.size() >= 5 && row.front() <= 1 && row[1] - row[0] == 1) return Header::kYes;
  const bool other_kind = 2 * static_cast<std::size_t>(whole_rows) < body.size();
  return rises || far_above || other_kind ? Header::kDoubt : Header::kNo;
}

// Whether the first row names the columns; `body` is empty in a file of one row.
Header looks_like_header(const Cells& first, std::span<const Cells> body) {
  if (std::all_of(first.begin(), first.end(), [](const std::string& c) { return is_text(c); })) return Header::kYes;
  // pandas and R leave the name of the index column empty, or out.
  if (first.size() > 1 && first[0].empty() && std::none_of(first.begin() + 1, first.end(), is_missing)) return Header::kYes;
  const Cells second = body.empty() ? Cells{} : body.front();
  const std::size_t shift = second.size() == first.size() + 1 ? 1 : 0;
  for (std::size_t i = 0; i < first.size() && i + shift < second.size(); ++i) {
    if (is_text(first[i]) && !is_text(second[i + shift])) return Header::kYes;
  }
  return header_of_numbers(first, body);
}

bool has_header(Presence wanted, const Cells& first, std::span<const Cells> body, std::string_view name) {
  if (wanted != Presence::kAuto) return wanted == Presence::kYes;
  const Header header = looks_like_header(first, body);
  if (header == Header::kDoubt) {
    const std::vector<std::string> shown(
        first.begin(), first.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(first.size(), 6)));
    throw DataError({.what = "is the first row a header of numbers, or a sample?",
                     .where = std::string(name),
                     .got = join(shown, ", ") + (first.size() > 6 ? ", ..." : ""),
                     .expected = "a first row that is surely one or the other",
                     .hint = "series.header=yes or series.header=no settles it, or names that are no numbers"});
  }
  return header == Header::kYes;
}

// The rows behind the first, as far as they are looked at.
std::vector<Cells> peek_rows(std::string_view text, std::string_view name, char delimiter) {
  RowReader reader(text, name, delimiter);
  std::vector<Cells> rows;
  Cells cells;
  if (!reader.next(cells)) return rows;
  while (rows.size() < kPeekRows && reader.next(cells)) rows.push_back(cells);
  return rows;
}

std::string shortened(std::string_view text) {
  return text.size() <= 60 ? std::string(text) : fmt::format("{}...", text.substr(0, 57));
}

std::string place(std::string_view name, std::int64_t line, std::size_t column, std::string_view column_name) {
  return fmt::format("{}:{}, column {}{}", name, line, column + 1,
                     column_name.empty() ? "" : fmt::format(" ({})", shortened(column_name)));
}

double required_number(std::string_view cell, const std::string& where) {
  if (const auto value = parse_cell(cell)) return *value;
  const bool comma = cell.find(',') != std::string_view::npos;
  throw DataError({.what = "not a number",
                   .where = where,
                   .got = "'" + shortened(cell) + "'",
                   .expected = "a number, or n/a for a missing value",
                   .hint = comma ? "write numbers with a decimal point, not a comma" : ""});
}

[[noreturn]] void throw_ragged(std::string_view name, std::int64_t line, std::size_t got, std::size_t expected) {
  throw DataError({.what = "this row has another number of cells",
                   .where = fmt::format("{}:{}", name, line),
                   .got = fmt::format("{} cells", got),
                   .expected = fmt::format("{} cells, as in the rows before", expected),
                   .hint = "a cell that holds the delimiter must be quoted"});
}

// Splits the numeric body into names and numbers, row by row, without keeping the text.
class NumericBuilder {
 public:
  NumericBuilder(std::string_view name, const NumericOptions& options) : name_(name), options_(options) {}

  void set_header(Cells header) { header_ = std::move(header); }

  void add(const Cells& cells, std::int64_t line) {
    if (width_ == 0) start(cells, line);
    if (cells.size() != width_) throw_ragged(name_, line, cells.size(), width_);
    if (first_is_candidate_) {
      first_column_.push_back(cells[0]);
      lines_.push_back(line);
      first_has_number_ = first_has_number_ || (!is_text(cells[0]) && !is_missing(cells[0]));
    }
    for (const std::size_t c : selected_) {
      if (c == 0 && first_is_candidate_) {
        // Decided at the end; a text in a column that has numbers is an error then.
        values_.push_back(parse_cell(cells[0]).value_or(std::numeric_limits<double>::quiet_NaN()));
      } else {
        values_.push_back(required_number(cells[c], place(name_, line, c, column_name(c))));
      }
    }
    ++rows_;
  }

  NumericTable finish() {
    NumericTable table;
    if (rows_ == 0) {
      throw DataError(
          {.what = "the table has no rows", .where = std::string(name_), .hint = "give at least one row of numbers"});
    }
    const bool names = first_is_names_ || (first_is_candidate_ && !first_has_number_ && any_text());
    if (names && !first_is_names_) refuse_decimal_commas();
    const bool drop_first = names && !selected_.empty() && selected_[0] == 0 && options_.columns.empty();
    if (first_is_candidate_ && !names) {
      for (std::size_t r = 0; r < rows_; ++r) required_number(first_column_[r], place(name_, lines_[r], 0, column_name(0)));
    }
    const std::size_t stored = selected_.size();
    const std::size_t kept = stored - (drop_first ? 1 : 0);
    table.values = MatrixD(static_cast<std::ptrdiff_t>(rows_), static_cast<std::ptrdiff_t>(kept));
    for (std::size_t r = 0; r < rows_; ++r) {
      const double* row = values_.data() + r * stored + (drop_first ? 1 : 0);
      std::copy(row, row + kept, table.values.row(static_cast<std::ptrdiff_t>(r)).data());
    }
    if (!header_.empty()) {
      for (std::size_t i = drop_first ? 1 : 0; i < stored; ++i) table.column_names.push_back(header_[selected_[i]]);
    }
    if (names) {
      table.row_names = std::move(first_column_);
      if (!header_.empty()) table.row_title = header_[0];
    }
    return table;
  }

 private:
  std::string_view column_name(std::size_t c) const { return c < header_.size() ? std::string_view(header_[c]) : ""; }
  // Text that is a number but for its decimal comma is no name.
  void refuse_decimal_commas() const {
    for (std::size_t r = 0; r < rows_; ++r) {
      std::string cell = first_column_[r];
      std::replace(cell.begin(), cell.end(), ',', '.');
      if (is_text(first_column_[r]) && !is_text(cell))
        required_number(first_column_[r], place(name_, lines_[r], 0, column_name(0)));
    }
  }
  bool any_text() const { return std::any_of(first_column_.begin(), first_column_.end(), is_text); }

  void start(const Cells& cells, std::int64_t line) {
    width_ = cells.size();
    const bool may_have_names = options_.row_names != Presence::kNo;
    if (!header_.empty() && header_.size() + 1 == width_ && may_have_names) {
      header_.insert(header_.begin(), "");  // the index column has no name at all
    }
    if (!header_.empty() && header_.size() != width_) throw_ragged(name_, line, width_, header_.size());
    first_is_names_ =
        options_.row_names == Presence::kYes || (may_have_names && !header_.empty() && header_[0].empty() && width_ > 1);
    first_is_candidate_ = may_have_names && (width_ > 1 || first_is_names_);
    if (options_.columns.empty()) {
      for (std::size_t c = 0; c < width_; ++c) selected_.push_back(c);
    } else {
      Table names;
      names.source = name_;
      names.header = header_;
      for (const std::string& wanted : options_.columns) selected_.push_back(names.column(wanted));
      // A column asked for by name is a column of numbers.
      if (!first_is_names_ && std::find(selected_.begin(), selected_.end(), 0u) != selected_.end())
        first_is_candidate_ = false;
    }
  }

  std::string_view name_;
  const NumericOptions& options_;
  Cells header_;
  std::size_t width_ = 0;
  std::size_t rows_ = 0;
  bool first_is_names_ = false;
  bool first_is_candidate_ = false;
  bool first_has_number_ = false;
  std::vector<std::size_t> selected_;
  std::vector<double> values_;
  Cells first_column_;
  std::vector<std::int64_t> lines_;
};

}  // namespace

bool is_missing(std::string_view cell) {
  const std::string_view text = trim(cell);
  if (text.empty()) return true;
  if (text.size() > 4) return false;
  const std::string lower = to_lower(text);
  return lower == "n/a" || lower == "na" || lower == "nan" || lower == "-nan" || lower == "null" || lower == "none";
}

std::optional<double> parse_cell(std::string_view cell) {
  if (is_missing(cell)) return std::numeric_limits<double>::quiet_NaN();
  std::string_view text = trim(cell);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (code == std::errc()) return value;
  if (code != std::errc::result_out_of_range) return std::nullopt;
  // Beyond the range of double: infinite when the exponent is large, else zero.
  const std::size_t e = text.find_first_of("eE");
  const bool tiny = e != std::string_view::npos && e + 1 < text.size() && text[e + 1] == '-';
  const double magnitude = tiny ? 0.0 : std::numeric_limits<double>::infinity();
  return text[0] == '-' ? -magnitude : magnitude;
}

std::size_t Table::column(std::string_view name) const {
  const auto first = std::find(header.begin(), header.end(), name);
  if (first == header.end()) {
    const std::string near = nearest_name(name, header);
    throw DataError(
        {.what = header.empty() ? "the table has no header" : "no column of this name",
         .where = source,
         .got = std::string(name),
         .expected = header.size() <= 40 ? "one of " + join(header, ", ") : fmt::format("one of {} columns", header.size()),
         .hint = near.empty() ? "" : "did you mean " + near + "?"});
  }
  if (std::find(first + 1, header.end(), name) != header.end()) {
    throw DataError({.what = "two columns have this name", .where = source, .got = std::string(name)});
  }
  return static_cast<std::size_t>(first - header.begin());
}

double Table::number(std::size_t row, std::size_t column) const {
  LOCUS_CHECK(row < rows.size() && column < rows[row].size(), "cell outside of the table");
  return required_number(rows[row][column], place(source, lines[row], column, column < header.size() ? header[column] : ""));
}

Table parse_table(std::string_view text, std::string_view name, const TableOptions& options) {
  text = checked_text(text, name);
  RowReader reader(text, name, options.delimiter == '\0' ? choose_delimiter(text, name) : options.delimiter);
  Table table;
  table.source = name;
  Cells cells;
  std::size_t width = 0;
  while (reader.next(cells)) {
    if (width == 0) width = cells.size();
    if (cells.size() != width) throw_ragged(name, reader.line(), cells.size(), width);
    table.rows.push_back(cells);
    table.lines.push_back(reader.line());
  }
  const std::size_t peeked = table.rows.empty() ? 0 : std::min(kPeekRows, table.rows.size() - 1);
  if (!table.rows.empty() && has_header(options.header, table.rows[0], std::span(table.rows).subspan(1, peeked), name)) {
    table.header = std::move(table.rows[0]);
    table.rows.erase(table.rows.begin());
    table.lines.erase(table.lines.begin());
  }
  return table;
}

Table read_table(const std::filesystem::path& path, const TableOptions& options) {
  return parse_table(read_text_file(path, options.limits.file_bytes), path.string(), options);
}

NumericTable parse_numeric_table(std::string_view text, std::string_view name, const NumericOptions& options) {
  text = checked_text(text, name);
  const char delimiter = options.table.delimiter == '\0' ? choose_delimiter(text, name) : options.table.delimiter;
  RowReader reader(text, name, delimiter);
  NumericBuilder builder(name, options);
  Cells first;
  Cells cells;
  if (reader.next(first)) {
    const std::int64_t first_line = reader.line();
    const bool more = reader.next(cells);
    if (has_header(options.table.header, first, peek_rows(text, name, delimiter), name)) {
      builder.set_header(std::move(first));
    } else {
      builder.add(first, first_line);
    }
    if (more) builder.add(cells, reader.line());
    while (reader.next(cells)) builder.add(cells, reader.line());
  }
  return builder.finish();
}

NumericTable read_numeric_table(const std::filesystem::path& path, const NumericOptions& options) {
  return parse_numeric_table(read_text_file(path, options.table.limits.file_bytes), path.string(), options);
}

}  // namespace locus
