// The CSV layout of the published puzzle files, `ID,LST_num,condition,puzzles,solutions`, read and written unchanged.
// Every row is checked: form of the puzzle, contradictions, and condition and solution against the solver.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "data/latin/puzzle.h"

namespace locus {

struct LatinCsv {
  std::vector<Puzzle> puzzles = {};
  std::vector<std::string> ids = {};      // column ID, as written
  std::vector<std::string> numbers = {};  // column LST_num, the base item; empty in the pool files
};

// One thing wrong in a file.
struct CsvIssue {
  int line = 0;             // 1 is the header
  std::string column = {};  // "puzzles"; empty when the whole line is meant
  std::string reason = {};
  std::string got = {};
  std::string expected = {};
  std::string hint = {};
};
std::string describe(const CsvIssue& issue);  // "line 7, puzzles: a puzzle has no target (got ..., expected ...)"

struct CsvReport {
  std::string path = {};
  int n = 0;                                     // side of the grids, 0 if no row could be read
  std::size_t rows = 0;                          // rows read, good or bad
  std::vector<std::size_t> per_difficulty = {};  // by Difficulty, of the good rows
  std::vector<CsvIssue> issues = {};             // disagreements and damage, in file order
};

// Reads all; throws DataError with file and line at the first issue, IoError if the file cannot be read.
// A BOM, Windows line ends, quoted fields, columns in another order and a missing last newline are read as they are.
// A puzzle that lost leading zeros (spreadsheets do that) is an error with the padded text as a hint, never padded silently.
LatinCsv read_latin_csv(const std::string& path);
LatinCsv parse_latin_csv(std::string_view text, const std::string& name);

// Same reading, but goes on after an issue and reports them all. Throws IoError if the file cannot be read.
CsvReport check_latin_csv(const std::string& path);
CsvReport check_latin_csv_text(std::string_view text, const std::string& name);

std::string format_latin_csv(const LatinCsv& csv);
void write_latin_csv(const std::string& path, const LatinCsv& csv);

}  // namespace locus
