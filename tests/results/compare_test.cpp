// Comparisons between the values of a key, on tables whose answer is known.
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "results/compare.h"

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
  EXPECT_TRUE(c.tests[0].exact);
  EXPECT_DOUBLE_EQ(c.tests[0].p_holm, 2.0 / 256);
  EXPECT_DOUBLE_EQ(c.tests[0].p_rank, 2.0 / 256);
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
  EXPECT_DOUBLE_EQ(c.tests[0].p, 2.0 / 924);  // 12 over 6
}

TEST(CompareTest, no_p_is_below_the_smallest_that_the_pairs_allow) {
  RunTable table;
  for (int s = 0; s < 5; ++s) {  // differences 0.1, 0.1, 0.2, 0.2, 0.2: tied
    table.rows.push_back(row("0.1", s, s < 2 ? 0.6 : 0.7));
    table.rows.push_back(row("2", s, 0.5));
  }
  const Comparison c = compare_runs(table, kChoice);
  ASSERT_EQ(c.tests.size(), 1u);
  EXPECT_DOUBLE_EQ(c.tests[0].p, 0.0625);
  EXPECT_DOUBLE_EQ(c.tests[0].p_rank, 0.0625);
  EXPECT_FALSE(c.tests[0].constant);
  EXPECT_TRUE(mentions(c, "below p = 0.0625"));
}

TEST(CompareTest, a_constant_difference_is_said_and_has_no_interval) {
  for (const bool paired : {true, false}) {
    RunTable table;
    for (int s = 0; s < 5; ++s) {
      const double common = paired ? 0.1 * s : 0;  // differences that are equal up to rounding
      table.rows.push_back(row("0.1", s, 0.7 + common));
      table.rows.push_back(row("2", paired ? s : s + 100, 0.4 + common));
    }
    const Comparison c = compare_runs(table, kChoice);
    ASSERT_EQ(c.tests.size(), 1u);
    EXPECT_TRUE(c.tests[0].constant);
    EXPECT_DOUBLE_EQ(c.tests[0].p, paired ? 0.0625 : 2.0 / 252);
    EXPECT_DOUBLE_EQ(c.tests[0].p_rank, paired ? 0.0625 : 2.0 / 252);
    EXPECT_NEAR(c.tests[0].difference, 0.3, 1e-12);
    EXPECT_TRUE(std::isnan(c.tests[0].effect) && std::isnan(c.tests[0].interval.lo));
    EXPECT_TRUE(mentions(c, "no spread"));
  }
}

TEST(CompareTest, levels_that_are_all_alike_have_p_1) {
  RunTable table;
  for (int s = 0; s < 5; ++s) {
    table.rows.push_back(row("0.1", s, 1.0));
    table.rows.push_back(row("2", s, 1.0));
  }
  const Comparison c = compare_runs(table, kChoice);
  ASSERT_EQ(c.tests.size(), 1u);
  EXPECT_EQ(c.tests[0].p, 1);
  EXPECT_EQ(c.tests[0].p_rank, 1);
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
