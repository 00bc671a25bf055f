// Splits delimited text into rows of cells; shared by the text and the numeric table readers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace locus {

// ',' for CSV, tab for TSV, unless the first line that is no comment speaks for another; see TableOptions.
char choose_delimiter(std::string_view text, std::string_view name);

// Skips a UTF-8 byte order mark; IoError for UTF-16 and binary files.
std::string_view checked_text(std::string_view text, std::string_view name);

class RowReader {
 public:
  RowReader(std::string_view text, std::string_view name, char delimiter)
      : text_(text), name_(name), delimiter_(delimiter) {}

  // The next row that is not blank; false at the end. IoError for a quote that is not closed.
  // Lines before the first row that begin with "# " are comments; the last of them is the first row when it has as many
  // cells (numpy.savetxt writes headers so).
  bool next(std::vector<std::string>& cells);
  std::int64_t line() const { return row_line_; }  // where the last row began, from 1

 private:
  bool at_line_end() const { return at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == '\r'; }
  bool read_row(std::vector<std::string>& cells);
  bool read_first_row(std::vector<std::string>& cells);
  void skip_line_end();
  void skip_blank_lines();
  void skip_blanks();
  std::string quoted_cell();
  std::string plain_cell();

  std::string_view text_;
  std::string_view name_;
  char delimiter_;
  bool begun_ = false;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  std::int64_t row_line_ = 0;
};

}  // namespace locus
