// A training step may not grow by more than 5 % in instructions unnoticed: counted under valgrind, not timed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/project/shell.h"

namespace locus::house {
namespace {

const std::filesystem::path kRoot = LOCUS_SOURCE_DIR;

TEST(InstructionsTest, a_training_step_costs_at_most_five_percent_more_than_the_number_kept) {
  if (run_shell("command -v valgrind", kRoot).exit_code != 0) GTEST_SKIP() << "valgrind is not installed";
  const ShellResult version = run_shell(std::string("LOCUS_ISA=avx2 '") + LOCUS_BINARY + "' version --json", kRoot);
  if (version.exit_code == 2) GTEST_SKIP() << "the processor lacks AVX2";
  ASSERT_EQ(version.exit_code, 0) << version.output;
  const auto build = nlohmann::json::parse(version.output);
  const std::string key =
      build["compiler"].get<std::string>() + " " + build["isa"].get<std::string>() + " " + build["build"].get<std::string>();
  std::ifstream file(kRoot / "bench/instructions.json");
  const auto kept = nlohmann::json::parse(file);
  if (!kept.contains(key)) GTEST_SKIP() << "bench/instructions.json has no number for: " << key;

  const ShellResult counted = run_shell(std::string("bench/count_instructions.sh '") + LOCUS_BINARY + "'", kRoot);
  ASSERT_EQ(counted.exit_code, 0) << counted.output;
  const double now = std::stod(counted.output);
  const double before = kept[key].get<double>();
  RecordProperty("instructions_per_step", counted.output);
  EXPECT_GT(now, 0.5 * before) << "the count is not of the same step any more: bench/count_instructions.sh --write";
  EXPECT_LE(now, 1.05 * before) << "a step needs more instructions; if that is meant: bench/count_instructions.sh --write";
}

}  // namespace
}  // namespace locus::house
