// Comparisons between the values of a key, on tables whose answer is known.
#include <gtest/gtest.h>

#include "core/error.h"
#include "study/compare.h"

namespace locus {
namespace {

RunRow row(const std::string& sigma, int seed, double value) {
  RunRow r;
  r.own = {{"pe.sigma", sigma}, {"seed", std::to_string(seed)}};
  r.status = "finished";
  r.measures["heldout.accuracy"] = value;
  return r;
}

RunTable table_of(int seeds) {
  RunTable table;
  for (int s = 0; s < seeds; ++s) {
    const double noise = 0.01 * ((s * 7) % 5);
    table.rows.push_back(row("2", s, 0.5 + noise));
    table.rows.push_back(row("0.1", s, 0.9 + noise + 0.002 * (s % 2)));
  }
  return table;
}

const CompareChoice kChoice{"pe.sigma", "heldout.accuracy", "seed"};

bool mentions(const Comparison& c, const std::string& text) {
  for (const std::string& note : c.notes) {
    if (note.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(CompareTest, pairs_by_seed_and_orders_levels_by_number) {
  const Comparison c = compare_runs(table_of(8), kChoice);
  ASSERT_EQ(c.levels.size(), 2u);
  EXPECT_EQ(c.levels[0].name, "0.1");
  ASSERT_EQ(c.tests.size(), 1u);
  EXPECT_TRUE(c.tests[0].paired);
  EXPECT_EQ(c.tests[0].n, 8);
  EXPECT_NEAR(c.tests[0].difference, 0.401, 1e-12);
  EXPECT_LT(c.tests[0].p_holm, 1e-6);
  EXPECT_NEAR(c.tests[0].p_rank, 2.0 / 256, 0.01);
  EXPECT_GT(c.tests[0].effect, 10);
}

TEST(CompareTest, says_when_seeds_are_too_few) {
  EXPECT_TRUE(compare_runs(table_of(2), kChoice).tests.empty());
  EXPECT_TRUE(mentions(compare_runs(table_of(2), kChoice), "too few"));
  EXPECT_TRUE(mentions(compare_runs(table_of(1), kChoice), "too few"));
  EXPECT_TRUE(mentions(compare_runs(table_of(4), kChoice), "a hint, not a conclusion"));
  EXPECT_FALSE(mentions(compare_runs(table_of(8), kChoice), "hint"));
}

TEST(CompareTest, without_common_seeds_the_test_is_unpaired) {
  RunTable table;
  for (int s = 0; s < 6; ++s) {
    table.rows.push_back(row("0.1", s, 0.9 + 0.01 * s));
    table.rows.push_back(row("2", s + 100, 0.5 + 0.02 * s));
  }
  const Comparison c = compare_runs(table, kChoice);
  ASSERT_EQ(c.tests.size(), 1u);
  EXPECT_FALSE(c.tests[0].paired);
  EXPECT_LT(c.tests[0].p, 1e-4);
}

TEST(CompareTest, tells_what_was_left_out) {
  RunTable table = table_of(5);
  table.rows[0].status = "diverged";
  table.rows[1].own["pe.sigma"] = "";
  const Comparison c = compare_runs(table, kChoice);
  EXPECT_TRUE(mentions(c, "1 runs did not finish"));
  EXPECT_TRUE(mentions(c, "no meaning"));
  EXPECT_THROW(compare_runs(table, {"pe.sigma", "heldout.acuracy", "seed"}), ConfigError);
  EXPECT_THROW(compare_runs(table, {"pe.sigm", "heldout.accuracy", "seed"}), ConfigError);
}

TEST(RunTableTest, filters_by_key_status_and_measure) {
  const auto count = [](std::vector<std::string> filters) {
    RunTable table = table_of(5);
    filter_rows(table, filters);
    return table.rows.size();
  };
  EXPECT_EQ(count({"pe.sigma=0.10"}), 5u);
  EXPECT_EQ(count({"pe.sigma!=2", "seed<2"}), 2u);
  EXPECT_EQ(count({"heldout.accuracy>=0.9"}), 5u);
  EXPECT_EQ(count({"status=failed"}), 0u);
  EXPECT_THROW(count({"pe.sigma"}), ConfigError);
  EXPECT_THROW(count({"no.such=1"}), ConfigError);
}

}  // namespace
}  // namespace locus
