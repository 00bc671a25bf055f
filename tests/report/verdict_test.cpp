// The three sentences and what may be said: no baseline is left out, and noise is no finding.
#include "report/verdict.h"

#include <gtest/gtest.h>

#include "core/text.h"
#include "report/inputs.h"
#include "tests/report/sample_runs.h"

namespace locus::report {
namespace {

using namespace testing_support;

Verdict verdict_of(const fs::path& dir) {
  const std::vector<std::string> dirs = {dir.string()};
  return make_verdict(make_inputs(load_runs(find_run_paths(dirs))));
}

void write_masked(const fs::path& dir, double sigma, int seed, double mse, std::map<std::string, double> baselines) {
  FakeRun run;
  run.config.study = "masked";
  run.config.model.readout = Readout::kMasked;
  run.config.pe.sigma = sigma;
  run.config.seed = seed;
  run.final_accuracy = mse;
  for (const auto& [name, value] : baselines) run.extra["test.mse_" + name] = value;
  write_fake_run(dir / fmt::format("s{}_{}", sigma, seed), run);
}

bool any_has(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& l) { return l.find(part) != std::string::npos; });
}

TEST(VerdictTest, a_baseline_that_wins_is_named_in_the_first_sentence) {
  const TempFolder folder("verdict_ridge");
  write_masked(folder.path(), 0.5, 0, 0.7752, {{"ridge", 0.7119}, {"zero", 1.0}});
  const Verdict v = verdict_of(folder.path());
  ASSERT_FALSE(v.sentences.empty());
  EXPECT_NE(v.sentences[0].find("no model here beats ridge regression"), std::string::npos) << v.sentences[0];
  EXPECT_NE(v.sentences[0].find("22.5\u00A0% of the variance (MSE 0.7752)"), std::string::npos) << v.sentences[0];
  EXPECT_NE(v.sentences[0].find("28.8\u00A0%"), std::string::npos) << v.sentences[0];
  EXPECT_TRUE(any_has(v.may_say, "No model here beats ridge regression")) << join(v.may_say, "\n");
}

TEST(VerdictTest, a_lead_over_the_baseline_may_be_told_with_three_seeds_only) {
  const TempFolder folder("verdict_lead");
  write_masked(folder.path() / "one", 0.1, 0, 0.60, {{"ridge", 0.70}, {"zero", 1.0}});
  const Verdict one = verdict_of(folder.path() / "one");
  EXPECT_TRUE(any_has(one.not_yet, "beats ridge regression on test data in general: one run so far"))
      << join(one.not_yet, "\n");
  EXPECT_FALSE(any_has(one.may_say, "beats ridge"));
  for (int seed = 0; seed < 3; ++seed)
    write_masked(folder.path() / "three", 0.1, seed, 0.60 + 0.01 * seed, {{"ridge", 0.70}, {"zero", 1.0}});
  EXPECT_TRUE(
      any_has(verdict_of(folder.path() / "three").may_say, "beats ridge regression on test data, with each of 3 seeds"));
}

TEST(VerdictTest, one_sigma_says_nothing_of_sigma) {
  const TempFolder folder("verdict_sigma");
  write_masked(folder.path(), 0.1, 0, 0.60, {{"ridge", 0.70}});
  const Verdict v = verdict_of(folder.path());
  EXPECT_TRUE(any_has(v.sentences, "Which σ is best cannot be said")) << join(v.sentences, "\n");
  EXPECT_TRUE(any_has(v.not_yet, "locus sweep"));
  write_masked(folder.path(), 2, 0, 0.90, {{"ridge", 0.70}});
  const Verdict two = verdict_of(folder.path());
  EXPECT_TRUE(any_has(two.sentences, "Of 2 values of σ, σ 0.1 has the best test error (MSE): 0.6 against 0.9 at σ 2"))
      << join(two.sentences, "\n");
  EXPECT_TRUE(any_has(two.not_yet, "another seed may turn the order")) << join(two.not_yet, "\n");
}

TEST(VerdictTest, what_the_encoding_holds_comes_with_its_null_and_noise_is_not_held) {
  const TempFolder folder("verdict_holds");
  write_lst_study(folder.path(), {.seeds = 3, .sigmas = {0.1, 0.5, 2.0}, .fixed = false, .epochs = 5, .analyses = true});
  const Verdict v = verdict_of(folder.path());
  ASSERT_EQ(v.sentences.size(), 3u) << join(v.sentences, "\n");
  EXPECT_NE(v.sentences[0].find("guessing gives 25\u00A0%"), std::string::npos) << v.sentences[0];
  EXPECT_NE(v.sentences[1].find("permuted"), std::string::npos) << v.sentences[1];
  EXPECT_NE(v.sentences[1].find("p "), std::string::npos) << v.sentences[1];
  const std::string text = verdict_text(v);
  EXPECT_NE(text.find("\n\nYou may say\n  "), std::string::npos) << text;
}

TEST(VerdictTest, nothing_finished_is_nothing_to_say) {
  const TempFolder folder("verdict_none");
  FakeRun run;
  run.final_accuracy = std::nan("");
  write_fake_run(folder / "a", run);
  EXPECT_TRUE(verdict_of(folder.path()).may_say.empty());
}

}  // namespace
}  // namespace locus::report
