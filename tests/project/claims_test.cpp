// Numbers that README.md and the pages of experiments state in their text are those of a table made from results/, or said
// to be published or a setting (docs/experiments/stated.txt).
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/project/claims.h"
#include "tests/support/paths.h"

namespace locus::house {
namespace {

const std::filesystem::path kRoot = locus::test::source_dir();
const std::string kStated = "docs/experiments/stated.txt";

// In README the tables are written by hand as well.
bool tables_are_text(const std::string& path) { return path == "README.md"; }

Pages claiming_pages() {
  Pages pages;
  for (const SourceFile& page : read_tree(kRoot, "docs/experiments", {".md"})) pages[page.path] = page.text;
  pages["README.md"] = read_source(kRoot, "README.md").text;
  return pages;
}

TEST(ClaimsTest, every_number_in_prose_has_its_row) {
  Findings found;
  const Pages pages = claiming_pages();
  const std::vector<Statement> statements = read_statements(read_source(kRoot, kStated).text, found);
  for (const auto& [path, text] : pages) {
    const Findings more =
        unexplained(path, stated_numbers(part_with_findings(path, text, statements), tables_are_text(path)), statements);
    found.insert(found.end(), more.begin(), more.end());
  }
  for (const Statement& s : statements) {
    if (const std::string wrong = wrong_with(s, pages, kRoot); !wrong.empty())
      found.push_back(kStated + ": " + s.page + " | " + s.number + ": " + wrong);
  }
  for (const std::string& line : found) ADD_FAILURE() << line;
}

TEST(ClaimsTest, rows_are_still_needed) {
  Findings found;
  const Pages pages = claiming_pages();
  std::map<std::string, std::vector<std::string>> numbers;
  for (const auto& [path, text] : pages) numbers[path] = stated_numbers(text, tables_are_text(path));
  for (const Statement& s : read_statements(read_source(kRoot, kStated).text, found)) {
    const auto page = pages.find(s.page);
    ASSERT_NE(page, pages.end()) << s.page;
    if (s.number.starts_with("all before ")) {
      EXPECT_NE(part_with_findings(s.page, page->second, {s}), page->second) << s.page << " has no such heading";
      continue;
    }
    const std::vector<std::string>& there = numbers[s.page];
    EXPECT_NE(std::find(there.begin(), there.end(), s.number), there.end()) << s.page << " no longer states " << s.number;
  }
  EXPECT_EQ(found, Findings{});
}

TEST(ClaimsTest, every_table_made_from_results_names_its_unit) {
  int tables = 0;
  for (const auto& [path, text] : claiming_pages()) {
    for (const auto& [name, table] : made_tables(text)) {
      ASSERT_FALSE(table.empty()) << path << ", table " << name << " has no rows";
      const auto& row = table.begin()->second;
      EXPECT_TRUE(std::any_of(row.begin(), row.end(), [](const auto& cell) { return cell.first.starts_with("n ("); }))
          << path << ", table " << name << ": no column n (unit)";
      ++tables;
    }
  }
  EXPECT_GT(tables, 10);
}

const char* const kPage =
    "At σ 0.5 and 2 it is 61.4 % of 3,000, r = −0.52 in 2-D, `0.7`.\n"
    "<!-- table main -->\n| encoding | n (seeds) | r |\n|---|---|---|\n| learned sigma 0.5 | 3 | -0.524 ± 0.1 |\n"
    "<!-- end -->\n1. One of 7 at σ 0.5 and 0.47 at σ 1.\n";

TEST(ClaimsTest, numbers_of_prose_are_found_and_settings_of_sigma_are_not) {
  EXPECT_EQ(stated_numbers(kPage), (std::vector<std::string>{"61.4", "3000", "−0.52", "7", "0.47"}));
}

TEST(ClaimsTest, a_number_that_its_cell_does_not_show_is_found) {
  const Pages pages = {{"docs/experiments/x.md", kPage}};
  const auto wrong = [&](const std::string& number, const std::string& origin) {
    return wrong_with({"docs/experiments/x.md", number, origin}, pages, kRoot);
  };
  const std::string cell = "cell x.main; learned sigma 0.5; r";
  EXPECT_EQ(wrong("−0.52", cell), "");
  EXPECT_EQ(wrong("0.52", cell), "") << "a loss may be stated without its sign";
  EXPECT_NE(wrong("−0.53", cell), "");
  EXPECT_NE(wrong("−0.5240", cell), "") << "more digits than the table has";
  EXPECT_NE(wrong("−0.1", cell), "") << "the deviation is positive";
  EXPECT_NE(wrong("−0.52", "cell x.main; learned sigma 1; r"), "");
  EXPECT_NE(wrong("−0.52", "cell x.other; learned sigma 0.5; r"), "");
  EXPECT_NE(wrong("−0.52", "somewhere else"), "");
  EXPECT_EQ(wrong("83", "above x.main; learned sigma 0.5; r / x.main; learned sigma 0.5; n (seeds)").substr(0, 17),
            "the first cell is");
  const Statement design{"x.md", "all before ## Results", "setting: written before"};
  EXPECT_EQ(part_with_findings("x.md", "1 is\n## Results\n2 is\n", {design}), "\n## Results\n2 is\n");
  EXPECT_EQ(part_with_findings("y.md", "1 is\n## Results\n2 is\n", {design}), "1 is\n## Results\n2 is\n");
  EXPECT_EQ(unexplained("x.md", {"1", "2"}, {{"x.md", "1", "setting: one"}, {"y.md", "2", "setting: two"}}).size(), 1u);
}

}  // namespace
}  // namespace locus::house
