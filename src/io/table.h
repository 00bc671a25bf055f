// Tables of text: CSV (RFC 4180), TSV and blank-separated columns; as text cells or as numbers with names.
// Line numbers are kept, so that every complaint can point at its place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix.h"
#include "io/limits.h"

namespace locus {

enum class Presence { kAuto, kYes, kNo };

struct TableOptions {
  char delimiter = '\0';              // '\0': by file name, then by the first line; ' ': any run of blanks
  Presence header = Presence::kAuto;  // kAuto: a first row whose text stands where numbers follow, or that is all text, or
                                      // numbers that rise as in no other row; DataError when that is doubtful
  ReadLimits limits = {};
};

struct Table {
  std::string source;
  std::vector<std::string> header;  // empty when there is none
  std::vector<std::vector<std::string>> rows;
  std::vector<std::int64_t> lines;  // of each row, from 1

  std::size_t columns() const { return header.empty() ? (rows.empty() ? 0 : rows[0].size()) : header.size(); }
  // The column's index; DataError naming the nearest when absent or not unique.
  std::size_t column(std::string_view name) const;
  // A cell as number (missing is NaN); DataError with line and column when it is none.
  double number(std::size_t row, std::size_t column) const;
};

Table parse_table(std::string_view text, std::string_view name, const TableOptions& options = {});
Table read_table(const std::filesystem::path& path, const TableOptions& options = {});

struct NumericOptions {
  TableOptions table = {};
  Presence row_names =
      Presence::kAuto;  // kAuto: the first column's header cell is empty or missing, or no cell of it is a number
  std::vector<std::string> columns = {};  // only these, in this order; needs a header
};

struct NumericTable {
  MatrixD values;
  std::vector<std::string> column_names;  // empty without header
  std::vector<std::string> row_names;     // empty without
  std::string row_title = {};             // what the header calls the column of row names
};

NumericTable parse_numeric_table(std::string_view text, std::string_view name, const NumericOptions& options = {});
NumericTable read_numeric_table(const std::filesystem::path& path, const NumericOptions& options = {});

// A number, NaN for a missing value ("", n/a, na, nan, null, none in any case), nothing for other text.
std::optional<double> parse_cell(std::string_view cell);
bool is_missing(std::string_view cell);

void write_csv(const std::filesystem::path& path, std::span<const std::string> header,
               std::span<const std::vector<std::string>> rows);
// Shortest numbers that read back to the same value; NaN as "nan". Names may be empty.
void write_csv(const std::filesystem::path& path, std::span<const std::string> column_names, ConstMatD values,
               std::span<const std::string> row_names = {});

}  // namespace locus
