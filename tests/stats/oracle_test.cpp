// Every statistic against NumPy and SciPy: a committed golden file always, and 1,000 fresh random cases each
// where a Python with SciPy is at hand.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>

#include "tests/stats/oracle_table.h"
#include "tests/support/paths.h"

namespace locus::stats {
namespace {

double number(const Json& v) {
  if (v.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (v.is_string()) return v == "inf" ? HUGE_VAL : -HUGE_VAL;
  return v.get<double>();
}

bool agrees(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::abs(a - b) <= 1e-8 * std::max(1.0, std::abs(b));
}

// Returns the number of cases per statistic; reports at most a few disagreements of each.
std::map<std::string, int> check_file(const std::string& path) {
  std::map<std::string, int> seen, wrong;
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  for (std::string line; std::getline(file, line);) {
    const Json item = Json::parse(line);
    const std::string name = item["f"].text();
    ++seen[name];
    const auto entry = oracle_table().find(name);
    if (entry == oracle_table().end()) {
      if (seen[name] > 1) continue;
      ADD_FAILURE() << "no C++ entry for " << name;
      continue;
    }
    const std::vector<double> got = entry->second(item["in"]);
    const auto& expected = item["out"];
    bool good = got.size() == expected.size();
    for (std::size_t i = 0; good && i < got.size(); ++i) good = agrees(got[i], number(expected[i]));
    if (good || ++wrong[name] > 2) continue;
    ADD_FAILURE() << name << "\n got " << Json(got).dump() << "\n expected " << expected.dump() << "\n input "
                  << item["in"].dump().substr(0, 1500);
  }
  for (const auto& [name, count] : wrong) EXPECT_EQ(count, 0) << name << " of " << seen[name] << " cases";
  return seen;
}

void expect_complete(const std::map<std::string, int>& seen, int cases) {
  for (const auto& [name, function] : oracle_table()) {
    const auto found = seen.find(name);
    EXPECT_TRUE(found != seen.end() && found->second >= cases) << name << " has too few cases";
  }
}

TEST(OracleTest, golden_file_agrees_to_1e8) {
  expect_complete(check_file(locus::test::source_dir() + "/tests/stats/golden.jsonl"), 2);
}

TEST(OracleTest, thousand_random_cases_of_each_statistic_agree_with_scipy_to_1e8) {
  if (std::system("/usr/bin/python3 -c 'import scipy.stats' >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "no /usr/bin/python3 with SciPy; the golden file was checked";
  }
  const std::filesystem::path out = std::filesystem::temp_directory_path() / ("locus_oracle_" + std::to_string(::getpid()));
  const std::string command = "OPENBLAS_NUM_THREADS=1 /usr/bin/python3 '" + locus::test::source_dir() +
                              "/tests/stats/oracle.py' 1000 '" + out.string() + "' 7 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  expect_complete(check_file(out.string()), 1000);
  std::filesystem::remove(out);
}

}  // namespace
}  // namespace locus::stats
