// What pages state in their text, and where each number of it comes from: a cell of a table that is made from results/, a
// published number, a setting. docs/experiments/stated.txt has the rows; claims_test.cpp checks them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/project/house_rules.h"

namespace locus::house {

// Tables of a page that `locus results tables` fills: by name, the cells of a row by the titles of their columns.
using PageTable = std::map<std::string, std::map<std::string, std::string>>;
std::map<std::string, PageTable> made_tables(const std::string& page);

// Numbers in the text of a page, in order: tables, code, links, names of files, values of sigma and numbers of lists left
// out; "−0.38" with its sign, "4,000" as 4000. With `tables` rows of tables count as text.
std::vector<std::string> stated_numbers(const std::string& page, bool tables = false);

// "page | number | origin".
struct Statement {
  std::string page, number, origin;
};
std::vector<Statement> read_statements(const std::string& text, Findings& found);

// Pages by their path from the root.
using Pages = std::map<std::string, std::string>;

// "" where the origin holds for this number, else what is wrong. Origins:
//   cell PAGE.TABLE; ROW; COLUMN          a number of that cell rounds to it (PAGE: name of a page of docs/experiments)
//   above CELL / CELL                     how many percent the first is above the second
//   page PATH                             a number of a table of that page
//   file PATH                             stands in that file (a test, a configuration, a CSV)
//   published: TEXT, setting: TEXT, seen: TEXT   no result of this project; seen: watched in a run that was not kept
std::string wrong_with(const Statement& statement, const Pages& pages, const std::filesystem::path& root);

// The page from the heading on that a row "page | all before ## Heading | setting: ..." names: what stands before is a
// design that was written down before there were results. The whole page without such a row.
std::string part_with_findings(const std::string& path, const std::string& page, const std::vector<Statement>& statements);

// Numbers that a page states and no row explains.
Findings unexplained(const std::string& path, const std::vector<std::string>& numbers,
                     const std::vector<Statement>& statements);

}  // namespace locus::house
