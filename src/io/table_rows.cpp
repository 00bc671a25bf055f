#include "io/table_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/text.h"
#include "io/table.h"

namespace locus {
namespace {

// '#' before a blank or alone on its line; "#1" is a name.
bool begins_comment(std::string_view text) {
  return text.starts_with('#') && (text.size() == 1 || std::string_view(" \r\n").find(text[1]) != std::string_view::npos);
}

std::string_view without_comments(std::string_view text) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \r\n"), text.size()));
    if (!begins_comment(text)) return text;
    text.remove_prefix(std::min(text.find_first_of("\r\n"), text.size()));
  }
}

}  // namespace

char choose_delimiter(std::string_view text, std::string_view name) {
  const std::string lower = to_lower(name);
  const bool csv = lower.ends_with(".csv");
  const bool tsv = lower.ends_with(".tsv") || lower.ends_with(".tab");
  std::array<std::size_t, 4> counts{};  // tab, comma, semicolon, blank
  bool quoted = false;
  bool content = false;
  for (const char c : without_comments(text)) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' || c == '\r') {
      if (content) break;
      continue;
    }
    content = content || c != ' ';
    if (const std::size_t which = std::string_view("\t,; ").find(c); which != std::string_view::npos) ++counts[which];
  }
  if (tsv && counts[0] > 0) return '\t';
  if (csv && counts[1] > 0 && counts[1] >= counts[2]) return ',';
  const auto most = std::max_element(counts.begin(), counts.begin() + 3);
  if (*most > 0) return "\t,;"[most - counts.begin()];
  if (tsv) return '\t';
  return csv || counts[3] == 0 ? ',' : ' ';
}

std::string_view checked_text(std::string_view text, std::string_view name) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") || text.find('\0') != std::string_view::npos) {
    throw IoError({.what = "not a text table",
                   .where = std::string(name),
                   .got = "bytes of a binary or UTF-16 file",
                   .hint = "save the table as UTF-8 CSV"});
  }
  return text;
}

void RowReader::skip_line_end() {
  if (at_ >= text_.size()) return;
  if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
  ++at_;
  ++line_;
}

void RowReader::skip_blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || (text_[at_] == '\t' && delimiter_ == ' '))) ++at_;
}

std::string RowReader::quoted_cell() {
  const std::int64_t opened = line_;
  std::string cell;
  ++at_;
  while (true) {
    if (at_ >= text_.size()) {
      throw IoError({.what = "a quote is not closed",
                     .where = fmt::format("{}:{}", name_, opened),
                     .hint = "quotes inside of a quoted cell are written twice"});
    }
    const char c = text_[at_++];
    if (c == '"') {
      if (at_ >= text_.size() || text_[at_] != '"') break;
      ++at_;
    } else if (c == '\n' || (c == '\r' && (at_ >= text_.size() || text_[at_] != '\n'))) {
      ++line_;
    }
    cell += c;
  }
  skip_blanks();
  if (!at_line_end() && text_[at_] != delimiter_ && delimiter_ != ' ') {
    throw IoError({.what = "text after a closing quote",
                   .where = fmt::format("{}:{}", name_, line_),
                   .got = std::string(text_.substr(at_, 20)),
                   .hint = "quotes inside of a quoted cell are written twice"});
  }
  return cell;
}

std::string RowReader::plain_cell() {
  const std::size_t start = at_;
  while (!at_line_end() && text_[at_] != delimiter_ && !(delimiter_ == ' ' && text_[at_] == '\t')) ++at_;
  return std::string(trim(text_.substr(start, at_ - start)));
}

bool RowReader::next(std::vector<std::string>& cells) {
  if (begun_) return read_row(cells);
  begun_ = true;
  return read_first_row(cells);
}

bool RowReader::read_first_row(std::vector<std::string>& cells) {
  std::vector<std::string> comment;
  std::int64_t comment_line = 0;
  while (true) {
    skip_blank_lines();
    const bool is_comment = begins_comment(text_.substr(at_));
    if (is_comment) {
      ++at_;
      skip_blanks();
    }
    if (at_line_end()) {  // an empty comment, or the end
      if (at_ >= text_.size()) return false;
      continue;
    }
    const std::size_t start = at_;
    const std::int64_t start_line = line_;
    read_row(cells);
    if (is_comment) {
      comment = cells;
      comment_line = row_line_;
      continue;
    }
    const bool words = std::any_of(comment.begin(), comment.end(), [](const std::string& c) { return !parse_cell(c); });
    if (words && comment.size() == cells.size()) {
      cells = std::move(comment);
      row_line_ = comment_line;
      at_ = start;
      line_ = start_line;
    }
    return true;
  }
}

void RowReader::skip_blank_lines() {
  skip_blanks();
  while (at_ < text_.size() && at_line_end()) {
    skip_line_end();
    skip_blanks();
  }
}

bool RowReader::read_row(std::vector<std::string>& cells) {
  cells.clear();
  skip_blank_lines();
  if (at_ >= text_.size()) return false;
  row_line_ = line_;
  while (true) {
    skip_blanks();
    cells.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted_cell() : plain_cell());
    if (delimiter_ == ' ') skip_blanks();
    if (at_line_end()) break;
    if (delimiter_ != ' ') ++at_;
  }
  skip_line_end();
  return true;
}

}  // namespace locus
