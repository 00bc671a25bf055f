// Numbers that README.md and the pages of experiments state in their text stand in a table made from results/, or in
// docs/experiments/stated.txt with where they come from. Looked at: numbers with a decimal point, and those that are
// percent, points or times; values of sigma, code and links are settings, not findings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <set>
#include <sstream>

#include "tests/project/house_rules.h"
#include "tests/support/paths.h"

namespace locus::house {
namespace {

const std::filesystem::path kRoot = locus::test::source_dir();
const std::string kReasons = "docs/experiments/stated.txt";

std::set<std::string> numbers_in(const std::string& text) {
  static const std::regex number(R"(\d+(\.\d+)?)");
  std::set<std::string> out;
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it) out.insert(it->str());
  return out;
}

std::string without_commas(std::string text) {
  static const std::regex thousands(R"((\d),(\d{3}))");
  return std::regex_replace(text, thousands, "$1$2");
}

// Numbers of the tables of a page.
std::set<std::string> shown(const std::string& page) {
  std::set<std::string> out;
  std::istringstream in(page);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("|")) out.merge(numbers_in(without_commas(line)));
  }
  return out;
}

std::vector<std::string> stated(const std::string& page) {
  static const std::regex aside(
      R"(`[^`]*`|\]\([^)]*\)|https?://\S+|arXiv \d+\.\d+|\b\d{4}\.\d{5}\b|σ (≥ |≤ |> |< |up to |above )?\d+(\.\d+)?((, | and | or | to )\d+(\.\d+)?)*)");
  static const std::regex claim(R"((^|[^\w.])(\d+\.\d+|\d+(?= ?%| points| times)))");
  std::vector<std::string> out;
  std::istringstream in(page);
  bool code = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) code = !code;
    if (code || line.starts_with("|") || line.starts_with("    locus") || line.starts_with("    ./run")) continue;
    const std::string prose = without_commas(std::regex_replace(line, aside, ""));
    for (std::sregex_iterator it(prose.begin(), prose.end(), claim), end; it != end; ++it) out.push_back((*it)[2]);
  }
  return out;
}

// Whether one of the numbers is this one, or rounds to it.
bool holds(const std::set<std::string>& numbers, const std::string& wanted) {
  if (numbers.contains(wanted)) return true;
  const std::size_t point = wanted.find('.');
  const int digits = point == std::string::npos ? 0 : static_cast<int>(wanted.size() - point - 1);
  for (const std::string& number : numbers) {
    const std::size_t at = number.find('.');
    if (at == std::string::npos || static_cast<int>(number.size() - at - 1) < digits) continue;
    char rounded[64];
    std::snprintf(rounded, sizeof rounded, "%.*f", digits, std::strtod(number.c_str(), nullptr));
    if (wanted == rounded) return true;
  }
  return false;
}

// Rows "page | number | where it comes from".
std::set<std::pair<std::string, std::string>> read_reasons(Findings& found) {
  std::set<std::pair<std::string, std::string>> out;
  std::istringstream in(read_source(kRoot, kReasons).text);
  static const std::regex row(R"((\S+) \| (\S+) \| (.{8,}))");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::smatch parts;
    if (!std::regex_match(line, parts, row)) {
      found.push_back(kReasons + ": not \"page | number | where it comes from\": " + line);
      continue;
    }
    out.emplace(parts[1], parts[2]);
  }
  return out;
}

Findings claim_findings(const SourceFile& page, const std::set<std::string>& tables,
                        const std::set<std::pair<std::string, std::string>>& reasons) {
  Findings found;
  for (const std::string& number : stated(page.text)) {
    if (!holds(tables, number) && !reasons.contains({page.path, number}))
      found.push_back(page.path + " states " + number + ": no table of results shows it, nor does " + kReasons +
                      " say whence it is");
  }
  return found;
}

TEST(ClaimsTest, every_number_in_prose_has_its_row) {
  Findings found;
  const auto reasons = read_reasons(found);
  std::set<std::string> all;
  for (const SourceFile& page : read_tree(kRoot, "docs/experiments", {".md"})) {
    const std::set<std::string> own = shown(page.text);
    all.insert(own.begin(), own.end());
    const Findings more = claim_findings(page, own, reasons);
    found.insert(found.end(), more.begin(), more.end());
  }
  const SourceFile readme = read_source(kRoot, "README.md");
  all.merge(shown(read_source(kRoot, "docs/performance.md").text));
  const Findings more = claim_findings({readme.path, readme.text}, all, reasons);
  found.insert(found.end(), more.begin(), more.end());
  for (const std::string& line : found) ADD_FAILURE() << line;
}

TEST(ClaimsTest, reasons_are_still_needed) {
  Findings found;
  for (const auto& [path, number] : read_reasons(found)) {
    const std::vector<std::string> there = stated(read_source(kRoot, path).text);
    EXPECT_NE(std::find(there.begin(), there.end(), number), there.end()) << path << " no longer states " << number;
  }
  EXPECT_EQ(found, Findings{});
}

TEST(ClaimsTest, a_number_without_a_row_is_found) {
  const SourceFile page{"x.md", "At σ 0.5 it is 61.4 % of 3,000, r = 0.52, `0.7`.\n| a | 61.44 | 0.4 |\n"};
  EXPECT_EQ(claim_findings(page, shown(page.text), {}).size(), 1u);
  EXPECT_EQ(claim_findings(page, shown(page.text), {{"x.md", "0.52"}}), Findings{});
  EXPECT_EQ(claim_findings(page, {}, {}).size(), 2u);
}

}  // namespace
}  // namespace locus::house
