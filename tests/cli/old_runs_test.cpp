// Folders that earlier versions wrote (tests/golden/runs) are opened by every command of this one.
#include <gtest/gtest.h>

#include "core/json.h"
#include "tests/cli/cli_testing.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using cli_testing::Result;
using cli_testing::text_of;
using cli_testing::Workplace;
using cli_testing::write;

// v1: a run of Latin squares `lst`, one of a simulated network `nmar` (both analysed), a sweep of two cells `sweep`, results
// that were kept of it in `kept`, and their configurations.
class OldRunsTest : public ::testing::Test {
 protected:
  OldRunsTest() {
    fs::copy(fs::path(locus::test::source_dir()) / "tests/golden/runs/v1", place_.folder(),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }

  // What a command prints; it must succeed.
  std::string good(const std::string& command) const {
    const Result r = place_.shell("locus " + command);
    EXPECT_EQ(r.code, 0) << command << "\n" << r.out << r.err;
    return r.out + r.err;
  }
  Json good_json(const std::string& command) const {
    const Result r = place_.shell("locus " + command + " --json");
    EXPECT_EQ(r.code, 0) << command << "\n" << r.err;
    return Json::parse(r.out);
  }
  Json json_of(const std::string& file) const { return Json::parse(text_of(place_ / file)); }

  Workplace place_{"old-runs"};
};

TEST_F(OldRunsTest, runs_inspect_and_compare_list_them) {
  const Json runs = good_json("runs .");
  ASSERT_EQ(runs.size(), 4u) << runs.dump(1);
  for (const auto& run : runs) EXPECT_EQ(run["status"], "finished") << run.dump();
  for (const char* run : {"lst", "nmar"}) {
    const Json seen = good_json(std::string("inspect ") + run);
    EXPECT_EQ(seen["status"], "finished");
    EXPECT_EQ(seen["config_hash"].get<std::string>().size(), 16u) << "the hash of version 1";
    EXPECT_TRUE(seen["problems"].empty()) << seen["problems"].dump();
    EXPECT_EQ(seen["unverified"].size(), 1u) << "its summary names no run";
  }
  EXPECT_NE(good("compare sweep --by pe.sigma").find("pe.sigma"), std::string::npos);
}

TEST_F(OldRunsTest, eval_gives_the_measures_of_the_summary) {
  const Json measures = good_json("eval lst");
  const Json summary = json_of("lst/summary.json");
  for (const char* name : {"heldout.accuracy", "test.loss"})
    EXPECT_NEAR(measures[name].get<double>(), summary[name].get<double>(), 1e-5) << name;
  EXPECT_NEAR(good_json("eval nmar")["test.mse"].get<double>(), json_of("nmar/summary.json")["test.mse"].get<double>(),
              1e-5);
}

TEST_F(OldRunsTest, analyses_are_made_anew_and_reports_show_those_that_are_there) {
  const std::string page = good("report lst nmar sweep --out page.html");
  EXPECT_TRUE(fs::exists(place_ / "page.html")) << page;
  good("plot recovery lst --out figure.csv");
  EXPECT_GT(text_of(place_ / "figure.csv").size(), 100u) << "the analysis of then is drawn";
  for (const char* run : {"lst", "nmar"}) {
    const Result r = place_.shell(std::string("locus analyze ") + run + " --only recovery --force");
    EXPECT_EQ(r.code, 0) << r.out << r.err;
  }
}

TEST_F(OldRunsTest, results_are_kept_and_kept_ones_fill_tables) {
  const auto files = [&](const char* folder) {
    return std::count_if(fs::directory_iterator(place_ / folder), {},
                         [](const fs::directory_entry& e) { return e.path().extension() == ".json"; });
  };
  good("results keep lst sweep --to kept_now");
  EXPECT_EQ(files("kept_now"), 3) << "the run and a cell differ in their snapshots";
  EXPECT_EQ(files("kept"), 2) << "where version 1 wrote one file over the other";
  good("results keep sweep --to kept");
  EXPECT_EQ(files("kept"), 2) << "files of then are replaced by those of the same run";
  write(place_ / "docs/experiments/page.md", "<!-- table main -->old<!-- end -->\n");
  write(place_ / "docs/experiments/page.tables.toml",
        "[main]\nfrom = \"kept\"\nunit = \"seeds\"\nmeasures = [\"heldout.accuracy | accuracy | 100 | 1\"]\n");
  good("results tables docs/experiments/page.md");
  const std::string page = text_of(place_ / "docs/experiments/page.md");
  EXPECT_NE(page.find("| learned sigma 0.1 |"), std::string::npos) << page;
}

TEST_F(OldRunsTest, cells_of_an_old_sweep_are_finished) {
  const Json again = good_json("sweep sweep.toml pe.sigma=0.1,2 --out sweep --quiet");
  EXPECT_EQ(again["finished"], 2);
  EXPECT_EQ(again["ran"], 0) << "cells were trained again";
  const Json more = good_json("sweep sweep.toml pe.sigma=0.1,2,5 --out sweep --quiet");
  EXPECT_EQ(more["finished"], 3);
  EXPECT_EQ(more["ran"], 1);
  const std::string csv = text_of(place_ / "sweep/results.csv");
  EXPECT_NE(csv.find("\nv2-"), std::string::npos) << csv;
  const Json cells = json_of("sweep/results.json")["cells"];
  EXPECT_EQ(cells.size(), 3u);
}

TEST_F(OldRunsTest, training_finds_them_finished_and_extends_them_from_their_checkpoint) {
  for (const std::string run : {"lst", "nmar"}) {
    const Json before = json_of(run + "/summary.json");
    const Json same = good_json("train " + run + ".toml --out " + run + " --quiet");
    EXPECT_EQ(same["steps"], before["steps"]);
    const Result r = place_.shell("locus train " + run + ".toml stop.epochs=4 --out " + run);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.err.find("resumed from step " + before["steps"].dump()), std::string::npos) << r.err;
    EXPECT_EQ(r.err.find("computes differently"), std::string::npos) << r.err;
    const Json after = json_of(run + "/summary.json");
    EXPECT_EQ(after["epochs"], 4);
    EXPECT_EQ(after["config_hash"], before["config_hash"]) << "a run keeps the hash it began with";
    EXPECT_EQ(good_json("inspect " + run)["problems"].size(), 0u);
  }
}

TEST_F(OldRunsTest, another_configuration_is_still_refused) {
  const Result r = place_.shell("locus train lst.toml pe.sigma=0.3 --out lst");
  EXPECT_NE(r.code, 0);
  EXPECT_NE(r.err.find("pe.sigma = 0.3 (there: 0.1)"), std::string::npos) << r.err;
}

TEST_F(OldRunsTest, gc_removes_their_checkpoints_and_leaves_the_rest) {
  good("gc lst --yes");
  EXPECT_FALSE(fs::exists(place_ / "lst/checkpoints"));
  EXPECT_TRUE(fs::exists(place_ / "lst/metrics.csv"));
  good("eval lst");
}

}  // namespace
}  // namespace locus
