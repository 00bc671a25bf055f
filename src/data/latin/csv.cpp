#include "data/latin/csv.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/text.h"
#include "data/latin/solver.h"
#include "io/file.h"

namespace locus {
namespace {

enum Column { kId, kNumber, kCondition, kPuzzles, kSolutions, kColumns };
constexpr std::array<const char*, kColumns> kColumnNames = {"ID", "LST_num", "condition", "puzzles", "solutions"};
constexpr const char* kHeader = "ID,LST_num,condition,puzzles,solutions";

// Fields of one line; a field may be quoted, "" inside quotes is one quote.
std::vector<std::string> split_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += '"';
        ++i;
      } else if (c == '"') {
        quoted = false;
      } else {
        fields.back() += c;
      }
    } else if (c == '"' && fields.back().empty()) {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

// Foreign bytes in a message: printable, and not too long.
std::string shown(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, 60)) out += c >= ' ' && c <= '~' ? c : '?';
  if (text.size() > 60) out += "...";
  return out;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class Reader {
 public:
  explicit Reader(std::string_view text) { read(text); }
  LatinCsv csv;
  std::vector<CsvIssue> issues;
  std::size_t rows = 0;
  int n = 0;

 private:
  void read(std::string_view text);
  bool read_header(std::string_view line);
  void read_row(std::string_view line);
  bool read_puzzle(const std::string& text, Puzzle& puzzle);
  void check_claims(const std::vector<std::string>& fields, const Puzzle& puzzle);
  std::string stripped_hint(const std::string& text) const;
  void issue(const char* column, const ErrorParts& parts) {
    issues.push_back({line_, column, parts.what, parts.got, parts.expected, parts.hint});
  }
  std::string field(const std::vector<std::string>& fields, Column c) const {
    return std::string(trim(fields[static_cast<std::size_t>(place_[c])]));
  }

  int line_ = 0;
  int longest_ = 0;  // side of the largest grid whose length is right: what a short row is held against
  std::size_t header_fields_ = 0;
  std::array<int, kColumns> place_{};
};

void Reader::read(std::string_view text) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  while (!lines.empty() && trim(lines.back()).empty()) lines.pop_back();
  line_ = 1;
  if (lines.empty()) {
    issue("", {.what = "the file is empty", .expected = fmt::format("the header {}", kHeader)});
    return;
  }
  if (!read_header(lines[0])) return;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto fields = split_fields(lines[i]);
    if (fields.size() != header_fields_) continue;
    const std::size_t length = field(fields, kPuzzles).size();
    for (int k = kMinLatinSize; k <= kMaxLatinSize; ++k) {
      if (length == static_cast<std::size_t>(k * k)) longest_ = std::max(longest_, k);
    }
  }
  for (std::size_t i = 1; i < lines.size(); ++i) {
    line_ = static_cast<int>(i) + 1;
    read_row(lines[i]);
  }
  if (lines.size() == 1) issue("", {.what = "the file holds a header but no puzzles"});
}

bool Reader::read_header(std::string_view line) {
  const auto names = split_fields(line);
  header_fields_ = names.size();
  for (std::size_t c = 0; c < kColumns; ++c) {
    const auto it =
        std::find_if(names.begin(), names.end(), [&](const std::string& s) { return trim(s) == kColumnNames[c]; });
    if (it == names.end()) {
      issue("", {.what = fmt::format("column {} is missing", kColumnNames[c]),
                 .got = fmt::format("the header \"{}\"", shown(line)),
                 .expected = kHeader});
      return false;
    }
    place_[c] = static_cast<int>(it - names.begin());
  }
  return true;
}

// What a spreadsheet did to a puzzle, if that is what happened.
std::string Reader::stripped_hint(const std::string& text) const {
  const std::string advice = "format that column as text before saving from a spreadsheet";
  if (text.find_first_of("eE") != std::string::npos && text.find_first_of(".+") != std::string::npos) {
    return "the puzzle was turned into a rounded number and cannot be restored; " + advice;
  }
  const std::size_t cells = static_cast<std::size_t>((longest_ == 0 ? 4 : longest_) * (longest_ == 0 ? 4 : longest_));
  if (!all_digits(text) || text.size() >= cells || text[0] == '0') return "";
  const std::string padded = std::string(cells - text.size(), '0') + text;
  try {
    if (!is_one_step(parse_puzzle(padded).difficulty)) return "";
  } catch (const DataError&) {
    return "";
  }
  return fmt::format("leading zeros may have been stripped; padded it would read {}; {}", padded, advice);
}

bool Reader::read_puzzle(const std::string& text, Puzzle& puzzle) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || c == '?'; });
  const int side = longest_ == 0 ? 4 : longest_;
  if (text.size() != static_cast<std::size_t>(side * side)) {
    issue("puzzles", {.what = "a puzzle has the wrong number of digits",
                      .got = fmt::format("{} in \"{}\"", text.size(), shown(text)),
                      .expected = longest_ == 0 ? std::string("n*n digits for n = 3 to 9, 16 for a 4x4 puzzle")
                                                : fmt::format("{} digits, as in the rest of the file", side * side),
                      .hint = stripped_hint(text)});
    return false;
  }
  if (!plain) {
    issue("puzzles", {.what = "a puzzle holds a character that is no digit",
                      .got = fmt::format("\"{}\"", shown(text)),
                      .expected = "digits only (and ? for the target)"});
    return false;
  }
  try {
    puzzle = parse_puzzle(text);
  } catch (const DataError& e) {
    issue("puzzles", e.parts());
    return false;
  }
  n = puzzle.n;
  if (puzzle.difficulty == Difficulty::kContradictory) {
    issue("puzzles", {.what = "a contradictory puzzle: " + solve(puzzle).words, .got = fmt::format("\"{}\"", text)});
    return false;
  }
  return true;
}

void Reader::check_claims(const std::vector<std::string>& fields, const Puzzle& puzzle) {
  const std::string condition = field(fields, kCondition), answer = field(fields, kSolutions);
  const auto words = [&] { return fmt::format("the solver says: {}", solve(puzzle).words); };
  const auto claimed = difficulty_from_name(condition);
  if (!claimed) {
    issue("condition", {.what = "an unknown condition",
                        .got = fmt::format("\"{}\"", shown(condition)),
                        .expected = "Binary, Ternary, Quaternary, Beyond or Ambiguous"});
  } else if (*claimed != puzzle.difficulty) {
    issue("condition", {.what = "the condition is wrong",
                        .got = condition,
                        .expected = difficulty_name(puzzle.difficulty),
                        .hint = words()});
  }
  if (answer == std::to_string(puzzle.answer)) return;
  if (puzzle.answer == 0) {
    issue("solutions", {.what = "the puzzle has several answers", .got = shown(answer), .expected = "0", .hint = words()});
  } else {
    issue("solutions", {.what = "the solution is wrong",
                        .got = answer.empty() ? "nothing" : shown(answer),
                        .expected = std::to_string(puzzle.answer),
                        .hint = words()});
  }
}

void Reader::read_row(std::string_view line) {
  ++rows;
  const auto fields = split_fields(line);
  if (fields.size() != header_fields_) {
    issue("", {.what = trim(line).empty() ? "an empty line between rows" : "the row has a wrong number of fields",
               .got = std::to_string(fields.size()),
               .expected = fmt::format("{}, as in the header", header_fields_)});
    return;
  }
  const std::size_t before = issues.size();
  Puzzle puzzle;
  if (read_puzzle(field(fields, kPuzzles), puzzle)) check_claims(fields, puzzle);
  if (issues.size() != before) return;
  csv.puzzles.push_back(std::move(puzzle));
  csv.ids.push_back(field(fields, kId));
  csv.numbers.push_back(field(fields, kNumber));
}

}  // namespace

std::string describe(const CsvIssue& issue) {
  std::string text =
      fmt::format("line {}{}{}: {}", issue.line, issue.column.empty() ? "" : ", ", issue.column, issue.reason);
  std::vector<std::string> more;
  if (!issue.got.empty()) more.push_back("got " + issue.got);
  if (!issue.expected.empty()) more.push_back("expected " + issue.expected);
  if (!more.empty()) text += " (" + join(more, "; ") + ")";
  if (!issue.hint.empty()) text += ". Hint: " + issue.hint;
  return text;
}

LatinCsv parse_latin_csv(std::string_view text, const std::string& name) {
  Reader reader(text);
  if (!reader.issues.empty()) {
    const CsvIssue& i = reader.issues.front();
    const std::string column = i.column.empty() ? "" : fmt::format(", column {}", i.column);
    throw DataError({.what = i.reason,
                     .where = fmt::format("{}:{}{}", name, i.line, column),
                     .got = i.got,
                     .expected = i.expected,
                     .hint = i.hint});
  }
  return std::move(reader.csv);
}

LatinCsv read_latin_csv(const std::string& path) { return parse_latin_csv(read_text_file(path), path); }

CsvReport check_latin_csv_text(std::string_view text, const std::string& name) {
  Reader reader(text);
  CsvReport report{.path = name, .n = reader.n, .rows = reader.rows, .issues = std::move(reader.issues)};
  report.per_difficulty.assign(static_cast<std::size_t>(Difficulty::kContradictory) + 1, 0);
  for (const Puzzle& p : reader.csv.puzzles) ++report.per_difficulty[static_cast<std::size_t>(p.difficulty)];
  return report;
}

CsvReport check_latin_csv(const std::string& path) { return check_latin_csv_text(read_text_file(path), path); }

std::string format_latin_csv(const LatinCsv& csv) {
  LOCUS_CHECK(csv.ids.size() == csv.puzzles.size() && csv.numbers.size() == csv.puzzles.size(),
              "one id and number a puzzle");
  std::string text(kHeader);
  text += '\n';
  for (std::size_t i = 0; i < csv.puzzles.size(); ++i) {
    const Puzzle& p = csv.puzzles[i];
    text +=
        fmt::format("{},{},{},{},{}\n", csv.ids[i], csv.numbers[i], difficulty_name(p.difficulty), puzzle_text(p), p.answer);
  }
  return text;
}

void write_latin_csv(const std::string& path, const LatinCsv& csv) {
  write_file_atomic(path, std::string_view(format_latin_csv(csv)));
}

}  // namespace locus
