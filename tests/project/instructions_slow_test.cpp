// A training step may not grow by more than 3 % in instructions unnoticed: counted under valgrind, not timed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "core/json.h"
#include "tests/project/shell.h"
#include "tests/support/paths.h"

namespace locus::house {
namespace {

const std::filesystem::path kRoot = locus::test::source_dir();

TEST(InstructionsTest, training_steps_cost_at_most_three_percent_more_than_the_numbers_kept) {
  if (run_shell("command -v valgrind", kRoot).exit_code != 0) GTEST_SKIP() << "valgrind is not installed";
  const ShellResult version = run_shell("LOCUS_ISA=avx2 '" + locus::test::binary() + "' version --json", kRoot);
  if (version.exit_code == 2) GTEST_SKIP() << "the processor lacks AVX2";
  ASSERT_EQ(version.exit_code, 0) << version.output;
  const auto build = Json::parse(version.output);
  const std::string key =
      build["compiler"].get<std::string>() + " " + build["isa"].get<std::string>() + " " + build["build"].get<std::string>();
  std::ifstream file(kRoot / "bench/instructions.json");
  const auto kept = Json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
  if (!kept.contains(key)) GTEST_SKIP() << "bench/instructions.json has no number for: " << key;

  const ShellResult counted = run_shell(std::string("bench/count_instructions.sh '") + locus::test::binary() + "'", kRoot);
  ASSERT_EQ(counted.exit_code, 0) << counted.output;
  std::istringstream lines(counted.output);
  std::string name;
  double now = 0;
  std::size_t names = 0;
  while (lines >> name >> now) {
    ++names;
    ASSERT_TRUE(kept[key].contains(name)) << name << " has no number: bench/count_instructions.sh --write";
    const double before = kept[key][name].get<double>();
    RecordProperty("instructions_" + name, std::to_string(now));
    EXPECT_GT(now, 0.5 * before) << name << ": not the same step any more: bench/count_instructions.sh --write";
    EXPECT_LE(now, 1.03 * before) << name << ": more instructions; if that is meant: bench/count_instructions.sh --write";
  }
  EXPECT_EQ(names, kept[key].size()) << counted.output;
}

}  // namespace
}  // namespace locus::house
