// The sentences of the answer: what they claim, and how sure they say they are.
#include "report/answer.h"

#include <gtest/gtest.h>

#include "report/rank_test.h"
#include "tests/report/sample_runs.h"

namespace locus::report {
namespace {

using namespace testing_support;

Inputs inputs_of(const fs::path& dir) {
  const std::vector<std::string> dirs = {dir.string()};
  return make_inputs(load_runs(find_run_paths(dirs)));
}

void write_setting(const fs::path& dir, double sigma, const std::vector<double>& accuracies) {
  for (std::size_t seed = 0; seed < accuracies.size(); ++seed) {
    FakeRun run;
    run.config.pe.sigma = sigma;
    run.config.seed = static_cast<std::int64_t>(seed);
    run.final_accuracy = accuracies[seed];
    write_fake_run(dir / fmt::format("s{}_{}", sigma, seed), run);
  }
}

const Claim* find_claim(const std::vector<Claim>& claims, const std::string& part) {
  for (const Claim& claim : claims) {
    if (claim.text.find(part) != std::string::npos) return &claim;
  }
  return nullptr;
}

TEST(AnswerTest, only_a_tested_lead_is_called_best) {
  const TempFolder folder("answer_lead");
  write_setting(folder.path() / "clear", 0.1, {0.95, 0.96, 0.97});
  write_setting(folder.path() / "clear", 2.0, {0.30, 0.32, 0.34});
  const Claim clear = make_claims(inputs_of(folder.path() / "clear")).at(0);
  EXPECT_EQ(clear.evidence, Evidence::kClear);
  EXPECT_NE(clear.text.find("Learned σ 0.1 does best"), std::string::npos) << clear.text;
  write_setting(folder.path() / "level", 0.1, {0.90, 0.70, 0.95});
  write_setting(folder.path() / "level", 2.0, {0.80, 0.88, 0.75});
  const Claim level = make_claims(inputs_of(folder.path() / "level")).at(0);
  EXPECT_EQ(level.evidence, Evidence::kWeak);
  EXPECT_NE(level.text.find("Learned σ 0.1 comes first"), std::string::npos) << level.text;
  EXPECT_NE(level.test.find("It may be level with the rest"), std::string::npos) << level.test;
}

TEST(AnswerTest, six_runs_in_order_are_tested_by_permutation) {
  const std::vector<double> x = {1, 2, 3, 4, 5, 6}, y = {2, 4, 6, 8, 10, 12};
  const stats::Correlation rho = rank_correlation(x, y);
  EXPECT_EQ(rho.r, 1);
  EXPECT_NEAR(rho.p, 2.0 / 720, 1e-3) << "of 720 orders two are as extreme";
  EXPECT_TRUE(std::isnan(rank_correlation(std::span(x).first(2), std::span(y).first(2)).p));
}

TEST(AnswerTest, two_seeds_are_never_clear) {
  const TempFolder folder("answer_two");
  write_setting(folder.path(), 0.1, {0.95, 0.951});
  write_setting(folder.path(), 0.5, {0.60, 0.601});
  write_setting(folder.path(), 2.0, {0.30, 0.301});
  for (const Claim& claim : make_claims(inputs_of(folder.path()))) EXPECT_NE(claim.evidence, Evidence::kClear) << claim.text;
}

TEST(AnswerTest, recovery_is_told_with_the_untrained_value_and_its_test) {
  const TempFolder folder("answer_recovery");
  write_lst_study(folder.path(), {.seeds = 3, .sigmas = {0.1, 0.5, 2.0}, .fixed = false, .epochs = 5, .analyses = true});
  const std::vector<Claim> claims = make_claims(inputs_of(folder.path()));
  const Claim* claim = find_claim(claims, "towards the truth most in learned σ 0.1");
  ASSERT_NE(claim, nullptr);
  EXPECT_EQ(claim->evidence, Evidence::kClear);
  EXPECT_NE(claim->text.find("0.02 untrained"), std::string::npos) << claim->text;
  EXPECT_NE(claim->test.find("n = 3; picked as the best of 3 settings"), std::string::npos) << claim->test;
}

TEST(AnswerTest, no_recovery_is_said_as_such) {
  const TempFolder folder("answer_none");
  for (int seed = 0; seed < 3; ++seed) {
    FakeRun run;
    run.config.seed = seed;
    write_fake_run(folder / std::to_string(seed), run);
    write_fake_analyses(folder / std::to_string(seed), {.quality = 0.02 + 0.1 * (seed - 1), .layers = 1}, "heldout", {});
  }
  const std::vector<Claim> claims = make_claims(inputs_of(folder.path()));
  const Claim* claim = find_claim(claims, "No learned encoding is shown to have moved towards the truth");
  ASSERT_NE(claim, nullptr);
  EXPECT_EQ(claim->evidence, Evidence::kWeak);
}

}  // namespace
}  // namespace locus::report
