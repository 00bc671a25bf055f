// Writing delimited tables, quoted where needed.
#include "core/error.h"
#include "core/text.h"
#include "io/file.h"
#include "io/table.h"

namespace locus {

std::string csv_row(std::span<const std::string> cells, char delimiter) {
  std::string row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string& cell = cells[i];
    if (i > 0) row += delimiter;
    // A lone empty cell would be a blank line, which readers skip; blanks at the ends would be trimmed; a byte order
    // mark at the front of the file would be dropped; a first cell "#" or "# x" would be a comment.
    const bool quote = cell.find_first_of("\"\r\n") != std::string::npos || cell.find(delimiter) != std::string::npos ||
                       trim(cell).size() != cell.size() || (cell.empty() && cells.size() == 1) || cell == "#" ||
                       cell.starts_with("# ") || cell.starts_with("\xef\xbb\xbf") || cell.starts_with("\xff\xfe") ||
                       cell.starts_with("\xfe\xff");
    if (!quote) {
      row += cell;
      continue;
    }
    row += '"';
    for (const char c : cell) {
      if (c == '"') row += '"';
      row += c;
    }
    row += '"';
  }
  return row + '\n';
}

void write_csv(const std::filesystem::path& path, std::span<const std::string> header,
               std::span<const std::vector<std::string>> rows) {
  std::string text = header.empty() ? "" : csv_row(header);
  for (const auto& row : rows) {
    LOCUS_CHECK(header.empty() || row.size() == header.size(), "rows must be as wide as the header");
    text += csv_row(row);
  }
  write_file_atomic(path, text);
}

void write_csv(const std::filesystem::path& path, std::span<const std::string> column_names, ConstMatD values,
               std::span<const std::string> row_names) {
  LOCUS_CHECK(column_names.empty() || column_names.size() == static_cast<std::size_t>(values.cols), "one name per column");
  LOCUS_CHECK(row_names.empty() || row_names.size() == static_cast<std::size_t>(values.rows), "one name per row");
  std::string text;
  std::vector<std::string> cells;
  if (!column_names.empty()) {
    if (!row_names.empty()) cells.emplace_back();
    cells.insert(cells.end(), column_names.begin(), column_names.end());
    text += csv_row(cells);
  }
  for (std::ptrdiff_t r = 0; r < values.rows; ++r) {
    cells.clear();
    if (!row_names.empty()) cells.push_back(row_names[static_cast<std::size_t>(r)]);
    for (std::ptrdiff_t c = 0; c < values.cols; ++c) cells.push_back(shortest(values(r, c)));
    text += csv_row(cells);
  }
  write_file_atomic(path, text);
}

}  // namespace locus
