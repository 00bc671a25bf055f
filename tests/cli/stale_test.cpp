// What is read back belongs to the run in whose folder it lies: analyses of the model of now, its own summary and metrics.
#include <gtest/gtest.h>

#include "tests/cli/cli_testing.h"

#include "core/json.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using cli_testing::Result;
using cli_testing::text_of;
using cli_testing::Workplace;

class StaleTest : public ::testing::Test {
 protected:
  StaleTest() { cli_testing::write(place_ / "tiny.toml", cli_testing::kTiny); }

  Result good(const std::string& command) const {
    const Result r = place_.shell("locus " + command);
    EXPECT_EQ(r.code, 0) << command << "\n" << r.out << r.err;
    return r;
  }
  void analyze(const std::string& runs) const {
    good("analyze " + runs + " --only recovery --only attention --set permutations=20 --quiet");
  }
  Json kept() const {
    fs::remove_all(place_ / "kept");
    good("results keep run --to kept");
    for (const auto& entry : fs::directory_iterator(place_ / "kept")) {
      if (entry.path().extension() == ".json") return Json::parse(text_of(entry.path()));
    }
    return {};
  }

  Workplace place_{"stale"};
};

TEST_F(StaleTest, trained_on_after_an_analysis_every_reader_leaves_it_out_and_says_so) {
  good("train tiny.toml --out run --quiet");
  analyze("run");
  EXPECT_TRUE(kept().contains("analyses"));
  EXPECT_FALSE(kept().contains("notes"));
  good("plot recovery run --out figure.csv");
  const std::string steps = Json::parse(text_of(place_ / "run/summary.json"))["steps"].dump();

  good("train tiny.toml stop.epochs=3 --out run --quiet");
  const std::string told = "made at step " + steps + " of another model state";
  const Result keep = place_.shell("locus results keep run --to kept");
  EXPECT_NE(keep.err.find("recovery.json left out: " + told), std::string::npos) << keep.err;
  EXPECT_FALSE(kept().contains("analyses")) << kept()["analyses"].dump(1);
  EXPECT_NE(kept()["notes"].dump().find(told), std::string::npos);
  good("report run --out page.html");
  EXPECT_NE(text_of(place_ / "page.html").find(told), std::string::npos);
  EXPECT_NE(place_.shell("locus plot recovery run --out figure.csv").code, 0);
  EXPECT_NE(place_.shell("locus plot attention run --out figure.csv").code, 0) << "its arrays lie in a file of their own";

  analyze("run");
  EXPECT_TRUE(kept().contains("analyses"));
  EXPECT_FALSE(kept().contains("notes"));
  good("plot recovery run --out figure.csv");
}

TEST_F(StaleTest, an_analysis_with_a_reference_that_was_trained_on_is_stale) {
  good("train tiny.toml --out run --quiet");
  good("train tiny.toml seed=2 --out other --quiet");
  good("analyze run --only attention --reference other --set permutations=20 --quiet");
  EXPECT_FALSE(kept().contains("notes")) << kept()["notes"].dump();
  good("train tiny.toml seed=2 stop.epochs=3 --out other --quiet");
  EXPECT_NE(kept()["notes"].dump().find("other: left out: made at step"), std::string::npos) << kept()["notes"].dump();
  EXPECT_FALSE(kept().contains("analyses"));
}

TEST_F(StaleTest, results_over_several_runs_are_left_out_when_one_was_trained_on) {
  good("train tiny.toml --out all/a --quiet");
  good("train tiny.toml seed=2 --out all/b --quiet");
  good("analyze all --only identifiability --quiet");
  good("plot identifiability all --out figure.csv");
  good("train tiny.toml seed=2 stop.epochs=3 --out all/b --quiet");
  EXPECT_NE(place_.shell("locus plot identifiability all --out figure.csv").code, 0);
  good("report all --out page.html");
  EXPECT_NE(text_of(place_ / "page.html").find("of another model state"), std::string::npos);
}

TEST_F(StaleTest, results_from_before_states_were_recorded_are_shown_as_unverified) {
  fs::copy(fs::path(locus::test::source_dir()) / "tests/golden/runs/v1/lst", place_ / "run", fs::copy_options::recursive);
  EXPECT_TRUE(kept().contains("analyses"));
  EXPECT_NE(kept()["notes"].dump().find("recovery.json unverified"), std::string::npos) << kept().dump(1);
  good("report run --out page.html");
  EXPECT_NE(text_of(place_ / "page.html").find("unverified"), std::string::npos);
  // Analysed again with the same settings, nothing is computed but the state is recorded.
  const Result again = good("analyze run --only recovery --set permutations=20");
  EXPECT_NE(again.out.find("cached"), std::string::npos) << again.out;
  EXPECT_EQ(kept()["notes"].dump().find("recovery.json"), std::string::npos);
}

// Two cells that differ in their stop rule alone have the same configuration hash.
TEST_F(StaleTest, exchanged_summaries_of_two_cells_are_believed_by_none) {
  const std::string sweep = "sweep tiny.toml stop.epochs=1,2 --out s --quiet";
  good(sweep);
  const auto swap = [&] {
    place_.shell("cd s/cells; set -- */; mv $1/summary.json x; mv $2/summary.json $1/; mv x $2/summary.json");
  };
  const auto runs = [&] { return Json::parse(good("runs s --json").out); };
  for (const auto& run : runs()) EXPECT_TRUE(run["verified"].get<bool>()) << run.dump();
  const std::string results = text_of(place_ / "s/results.csv");

  swap();
  for (const auto& run : runs()) {
    EXPECT_EQ(run["status"], "damaged") << run.dump();
    EXPECT_TRUE(run["measures"].empty());
  }
  EXPECT_NE(place_.shell("locus compare s --by stop.epochs").code, 0) << "there is nothing to compare";
  good("report s --out page.html");
  EXPECT_NE(text_of(place_ / "page.html").find("the summary is that of another run"), std::string::npos);
  EXPECT_NE(place_.shell("locus results keep s --to kept").code, 0);
  good("gc s --yes");
  const std::string before = place_.shell("cat s/cells/*/final/model.safetensors | sha256sum").out;
  const Json again = Json::parse(good(sweep + " --json").out);
  EXPECT_EQ(again["ran"], 2) << "both go on from their checkpoint and write their own summary";
  for (const auto& run : runs()) EXPECT_EQ(run["status"], "finished");
  EXPECT_EQ(text_of(place_ / "s/results.csv"), results);
  EXPECT_EQ(place_.shell("cat s/cells/*/final/model.safetensors | sha256sum").out, before);
}

// Two seeds of "the same" data, between which the file was edited, are no repetitions.
TEST_F(StaleTest, runs_of_one_file_that_changed_between_them_are_told_of) {
  std::string samples = "a,b,c\n";
  for (int i = 0; i < 40; ++i)
    samples += std::to_string(i * 7 % 11) + "," + std::to_string(i * 5 % 13) + "," + std::to_string(i * 3 % 17) + "\n";
  const std::string fit = "fit x.csv stop.steps=2 model.width=8 --quiet ";
  cli_testing::write(place_ / "x.csv", samples);
  good(fit + "seed=1 --out runs/1");
  good(fit + "seed=2 --out runs/2");
  EXPECT_EQ(good("compare runs --by model.width --metric test.mse").err.find("different data"), std::string::npos);
  cli_testing::write(place_ / "x.csv", samples + "1,2,3\n");
  good(fit + "seed=3 --out runs/3");
  for (const char* command : {"compare runs --by model.width --metric test.mse", "runs runs"})
    EXPECT_NE(good(command).err.find("trained on different data"), std::string::npos) << command;
}

// With more rows other samples would be the test's, some of which the model was trained on.
TEST_F(StaleTest, a_model_is_not_evaluated_on_a_file_that_changed_since) {
  std::string samples = "a,b,c\n";
  for (int i = 0; i < 40; ++i)
    samples += std::to_string(i * 7 % 11) + "," + std::to_string(i * 5 % 13) + "," + std::to_string(i * 3 % 17) + "\n";
  cli_testing::write(place_ / "x.csv", samples);
  good("fit x.csv stop.steps=2 model.width=8 --quiet --out run");
  const std::string before = good("eval run --json").out;
  EXPECT_EQ(good("eval run train.batch=3 --json").out, before);
  cli_testing::write(place_ / "x.csv", samples + samples.substr(6));
  for (const char* command : {"locus eval run --json", "locus eval run train.batch=3"}) {
    const Result r = place_.shell(command);
    EXPECT_NE(r.code, 0) << command;
    EXPECT_EQ(r.out, "") << command;
    EXPECT_NE(r.err.find("not the one the run was trained on"), std::string::npos) << r.err;
  }
  EXPECT_NE(good("eval run series.files='[\"x.csv\"]' --json").out, before) << "what is asked for is other data";
}

TEST_F(StaleTest, a_damaged_row_of_the_metrics_stops_the_resume) {
  good("train tiny.toml stop.epochs=2 --out run --quiet");
  place_.shell("sed -i '1s/\"train.loss\":[0-9]/\"train.loss\":9/' run/metrics.jsonl");
  EXPECT_NE(good("inspect run").out.find("not as the run wrote it"), std::string::npos);
  const Result r = place_.shell("locus train tiny.toml stop.epochs=3 --out run --quiet");
  EXPECT_NE(r.code, 0);
  EXPECT_NE(r.err.find("the rows of the metrics are not those that were written"), std::string::npos) << r.err;
}

}  // namespace
}  // namespace locus
