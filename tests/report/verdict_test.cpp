// The three sentences and what may be said: no baseline is left out, and noise is no finding.
#include "report/verdict.h"

#include <gtest/gtest.h>

#include <set>

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

TEST(VerdictTest, a_likeness_of_next_to_nothing_is_no_finding_however_small_its_p) {
  const TempFolder folder("verdict_small");
  write_masked(folder.path(), 0.1, 0, 0.60, {{"ridge", 0.70}, {"zero", 1.0}});
  const fs::path run = folder.path() / "s0.1_0";
  const auto of = [&](double pearson) {
    Json recovery = analysis_head("recovery");
    recovery["layers"] = Json::array();
    recovery["truths"] = {{{"model", "final"},
                           {"layer", 0},
                           {"code", "change"},
                           {"similarity", "cosine"},
                           {"truth", "correlation"},
                           {"pearson", pearson},
                           {"mantel_p", 0.0005}}};
    write_text(run / "analysis" / "recovery.json", recovery.dump());
    return verdict_of(folder.path());
  };
  const Verdict large = of(0.4);
  EXPECT_TRUE(any_has(large.may_say, "goes with the correlation of the data, in this run (r = 0.40")) << verdict_text(large);
  const Verdict small = of(0.03);
  EXPECT_TRUE(any_has(small.sentences, "hardly goes with the correlation of the data: beyond chance, but next to nothing"))
      << verdict_text(small);
  EXPECT_FALSE(any_has(small.may_say, "goes with")) << verdict_text(small);
}

TEST(VerdictTest, errors_of_different_data_are_not_ranked) {
  const TempFolder folder("verdict_data");
  const auto write = [&](const std::string& name, const std::vector<std::string>& files, double mse) {
    FakeRun run;
    run.config.study = "masked";
    run.config.model.readout = Readout::kMasked;
    run.config.series.source = SeriesSource::kFiles;
    run.config.series.files = files;
    run.config.optim.lr = mse;  // further keys that differ say nothing of which data it is
    run.config.train.batch = static_cast<std::int64_t>(100 * mse);
    run.config.pe.dropout = mse / 10;
    run.final_accuracy = mse;
    run.extra["test.mse_ridge"] = 0.7;
    run.extra["test.mse_zero"] = 1;
    write_fake_run(folder / name, run);
    Json manifest = Json::parse(read_text(folder / (name + "/manifest.json")));
    manifest["data_hash"] = name;
    write_text(folder / (name + "/manifest.json"), manifest.dump());
  };
  write("a", {"rest/sub-1.mat", "rest/sub-2.mat"}, 0.5);
  write("b", {"elsewhere/table.csv"}, 0.8);
  const Verdict v = verdict_of(folder.path());
  EXPECT_TRUE(any_has(v.sentences, "rest: On test data learned σ 0.2 explains 50.0\u00A0% of the variance"))
      << verdict_text(v);
  EXPECT_TRUE(any_has(v.sentences, "table.csv: On test data learned σ 0.2 explains 20.0\u00A0% of the variance"))
      << verdict_text(v);
  EXPECT_TRUE(any_has(v.may_say, "table.csv: No model here beats ridge regression")) << verdict_text(v);
  EXPECT_FALSE(any_has(v.may_say, "rest: No model")) << verdict_text(v);
  EXPECT_TRUE(any_has(v.not_yet, "errors of different data cannot be compared")) << verdict_text(v);
  EXPECT_FALSE(any_has(v.sentences, "optim.lr")) << verdict_text(v);
}

TEST(VerdictTest, settings_that_differ_in_many_keys_are_told_by_as_few_as_tell_them_apart) {
  const TempFolder folder("verdict_labels");
  for (const int k : {1, 2, 3}) {
    FakeRun run;
    run.config.model.layers = k;
    run.config.optim.lr = 1e-3 * k;
    run.config.train.batch = k == 1 ? 16 : 32;
    run.config.pe.dropout = 0.1 * k;
    write_fake_run(folder / std::to_string(k), run);
  }
  const std::vector<std::string> dirs = {folder.path().string()};
  const Inputs inputs = make_inputs(load_runs(find_run_paths(dirs)));
  ASSERT_EQ(inputs.groups.size(), 3u);
  std::set<std::string> labels;
  for (const Group& g : inputs.groups) {
    labels.insert(g.label);
    EXPECT_NE(g.label.find(" and 3 more keys"), std::string::npos) << g.label;
    EXPECT_NE(g.others.find("train.batch="), std::string::npos) << "families of σ go by all keys: " << g.others;
  }
  EXPECT_EQ(labels.size(), 3u);
}

TEST(VerdictTest, the_ends_of_many_sigmas_pay_for_being_picked) {
  const TempFolder folder("verdict_pairs");
  const std::vector<double> sigmas = {0.1, 0.2, 0.5, 1, 2};
  for (std::size_t s = 0; s < sigmas.size(); ++s) {
    for (int seed = 0; seed < 3; ++seed)
      write_masked(folder.path(), sigmas[s], seed, 0.60 + 0.01 * seed + 0.006 * static_cast<double>(s), {{"ridge", 0.5}});
  }
  const Verdict v = verdict_of(folder.path());
  EXPECT_TRUE(any_has(v.sentences, "Welch's t, corrected for 10 pairs")) << verdict_text(v);
  EXPECT_TRUE(any_has(v.not_yet, "That σ 0.1 does better than σ 2")) << verdict_text(v);  // p = 0.04 of one pair alone
  EXPECT_TRUE(any_has(v.not_yet, "picked as the best of 5 settings")) << verdict_text(v);
}

TEST(VerdictTest, a_model_tested_on_the_recordings_it_was_trained_on_says_nothing_of_other_people) {
  const TempFolder folder("verdict_people");
  FakeRun run;
  run.config.study = "masked";
  run.config.model.readout = Readout::kMasked;
  run.config.series.source = SeriesSource::kFiles;
  run.config.series.files = {"rest/sub-1.h5"};
  run.config.series.split_by = SplitBy::kTime;
  write_fake_run(folder / "a", run);
  EXPECT_TRUE(any_has(verdict_of(folder.path()).not_yet, "Anything of other people"));
  run.config.series.split_by = SplitBy::kSubject;
  write_fake_run(folder / "a", run);
  EXPECT_FALSE(any_has(verdict_of(folder.path()).not_yet, "Anything of other people"));
}

TEST(VerdictTest, one_run_is_told_the_command_that_asks_on) {
  const TempFolder folder("verdict_next");
  write_masked(folder.path(), 0.1, 0, 0.60, {{"ridge", 0.70}});
  const std::string run = (folder.path() / "s0.1_0").string();
  EXPECT_TRUE(
      any_has(verdict_of(folder.path()).not_yet, fmt::format("locus sweep {0}/config.toml seed=0..4 --out {0}-seeds", run)));
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
