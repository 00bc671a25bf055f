// The first words between a user and the program: asking for help, typing a name wrongly, leaving everything out.

#include "tests/cli/cli_testing.h"

#include "core/json.h"

namespace locus {
namespace {

using cli_testing::Result;
using cli_testing::Workplace;
using cli_testing::write;

class HelpTest : public testing::Test {
 protected:
  void SetUp() override { write(place_ / "tiny.toml", cli_testing::kTiny); }
  void expect_hint(const std::string& command, const std::string& hint) const {
    const Result r = place_.shell("locus " + command);
    EXPECT_EQ(r.code, 2) << command << "\n" << r.out << r.err;
    EXPECT_NE(r.err.find(hint), std::string::npos) << command << "\n" << r.err;
  }
  Workplace place_{testing::UnitTest::GetInstance()->current_test_info()->name()};
};

TEST_F(HelpTest, whoever_asks_for_help_gets_it_with_exit_0) {
  for (const char* command : {"", "help", "--help", "help train", "help lst show", "train --help", "--version", "version"}) {
    const Result r = place_.shell(std::string("locus ") + command);
    EXPECT_EQ(r.code, 0) << command << r.err;
    EXPECT_GT(r.out.size(), 20u) << command;
    EXPECT_EQ(r.err, "") << command;
  }
  const Result all = place_.shell("locus");
  for (const char* word : {"train", "fit", "report", "LOCUS_CACHE", "NO_COLOR"})
    EXPECT_NE(all.out.find(word), std::string::npos) << word;
  EXPECT_NE(place_.shell("locus help train").out.find("locus train configs/"), std::string::npos);
  EXPECT_TRUE(place_.shell("locus --version").out.starts_with("locus "));
  expect_hint("help trian", "did you mean train?");
}

TEST_F(HelpTest, a_command_without_what_it_needs_shows_how_it_is_called) {
  for (const char* command : {"train", "fit", "sweep", "report", "lst", "lst show"}) {
    const Result r = place_.shell(std::string("locus ") + command);
    EXPECT_EQ(r.code, 2) << command;
    EXPECT_NE(r.err.find("Example"), std::string::npos) << command << "\n" << r.err;
    EXPECT_NE(r.err.find("error: "), std::string::npos) << command << "\n" << r.err;
  }
}

TEST_F(HelpTest, names_nearly_right_are_recognised) {
  expect_hint("train tiny.toml sigma=0.5 --out run", "did you mean pe.sigma?");
  expect_hint("train tiny.toml lr=0.5 --out run", "did you mean optim.lr?");
  expect_hint("train tiny.toml optim.kind=adamW --out run", "did you mean adamw?");
  expect_hint("train tiny.toml PE.sigma=0.5 --out run", "did you mean pe.sigma?");
  expect_hint("config --key dropuot", "did you mean ");
  expect_hint("config --key dropuot", "dropout?");
  EXPECT_EQ(place_.shell("locus config --key dropout").code, 0);
}

TEST_F(HelpTest, a_script_reads_numbers_as_numbers) {
  ASSERT_EQ(place_.shell("locus train tiny.toml --out a --quiet").code, 0);
  const Result r = place_.shell("locus runs a --json");
  ASSERT_EQ(r.code, 0) << r.err;
  const Json config = Json::parse(r.out)[0]["config"];
  EXPECT_EQ(config["pe.sigma"], 0.1);
  EXPECT_EQ(config["seed"], 1);
  EXPECT_EQ(config["pe.kind"], "learned");
  EXPECT_TRUE(config["lst.relabel"].is_boolean());
}

TEST_F(HelpTest, compare_knows_what_a_task_is_judged_by_and_gives_no_interval_of_two) {
  write(place_ / "masked.toml",
        "study = \"masked\"\n[model]\nlayers = 1\nwidth = 8\nreadout = \"masked\"\n[stop]\nepochs = 0\nsteps = 2\n"
        "[nmar]\nsizes = [3, 3]\ntrain_samples = 50\nvalidation_samples = 10\ntest_samples = 10\n");
  ASSERT_EQ(place_.shell("locus sweep masked.toml pe.sigma=0.1,2 seed=0..1 --quiet --out runs").code, 0);
  const Result r = place_.shell("locus compare runs --json");
  ASSERT_EQ(r.code, 0) << r.err;
  const Json json = Json::parse(r.out);
  EXPECT_EQ(json["metric"], "test.mse");
  EXPECT_EQ(json["levels"][0]["n"], 2);
  EXPECT_EQ(json["levels"][0]["low"], "nan") << "an interval of two values is 13 standard errors to each side";
}

TEST_F(HelpTest, a_table_of_unlike_runs_shows_the_columns_that_fit) {
  ASSERT_EQ(place_
                .shell("locus train tiny.toml --out a --quiet; locus train tiny.toml model.width=12 model.layers=1 seed=2 "
                       "pe.sigma=1 optim.lr=0.01 optim.kind=adamw train.batch=8 lst.per_difficulty=15 lst.rotations=2 "
                       "stop.epochs=2 optim.weight_decay=0.1 model.mlp_width=20 pe.dropout=0.1 lst.pool_seed=7 --out b "
                       "--quiet")
                .code,
            0);
  const Result r = place_.shell("locus runs .");
  ASSERT_EQ(r.code, 0) << r.err;
  const std::string head = r.out.substr(0, r.out.find('\n'));
  EXPECT_LE(head.size(), 160u) << head;
  for (const char* column : {"status", "pe.sigma", "seed", "heldout.accuracy"})
    EXPECT_NE(head.find(column), std::string::npos) << head;
  EXPECT_NE(r.err.find("--columns"), std::string::npos) << r.err;
  EXPECT_NE(place_.shell("locus runs . --columns model.width,optim.lr").out.find("model.width"), std::string::npos);
}

}  // namespace
}  // namespace locus
