// A program that links the library and the command line (tests/toy) has all commands for what it registers itself.
#include <gtest/gtest.h>

#include "core/json.h"
#include "tests/cli/cli_testing.h"

namespace locus::cli_testing {
namespace {

constexpr const char* kRing = R"(study = "ring"
[model]
layers = 1
width = 8
readout = "mean"
[pe]
sigma = 0.5
[optim]
lr = 0.02
[train]
batch = 24
[stop]
epochs = 40
[ring]
tokens = 6
)";

class OwnProgramTest : public testing::Test {
 protected:
  OwnProgramTest() : place_("own_program") { write(place_ / "ring.toml", kRing); }
  Result toy(const std::string& script) const {
    return place_.shell("toy() { '" + locus::test::toy_program() + "' \"$@\"; }\n" + script);
  }
  std::string first_cell() const {
    const Result r = toy("toy sweep ring.toml seed=0 ring.names=names.txt --dry-run --json");
    EXPECT_EQ(r.code, 0) << r.err;
    return Json::parse(r.out)["cells"].at(0)["cell"].get<std::string>();
  }
  Workplace place_;
};

TEST_F(OwnProgramTest, trains_a_source_and_a_task_of_its_own) {
  const Result r = toy("toy train ring.toml --quiet --out a && toy eval a --json && toy runs a");
  ASSERT_EQ(r.code, 0) << r.err;
  const Json summary = Json::parse(text_of(place_ / "a/summary.json"));
  EXPECT_NE(text_of(place_ / "a/config.toml").find("[ring]\ntokens = 6\n"), std::string::npos);
  // By chance it is 1.5 steps; a model that learned where tokens are is much nearer.
  EXPECT_LT(summary["test.distance"].get<double>(), 0.5) << summary.dump(1);
  EXPECT_NE(r.out.find("test.distance"), std::string::npos) << r.out;
}

TEST_F(OwnProgramTest, is_the_worker_of_its_own_sweeps_and_analyses_and_reports_them) {
  const Result r =
      toy("toy sweep ring.toml pe.sigma=0.5,0.1 ring.tokens=6,8 stop.epochs=2 seed=0..1 --quiet --out s &&\n"
          "toy compare s --by ring.tokens && toy analyze s --only weights --only recovery --quiet &&\n"
          "toy report s --out page.html --quiet && toy results keep s --to kept");
  ASSERT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_NE(r.out.find("8 cells finished (8 now), 0 failed"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("test.distance"), std::string::npos) << "compares by the task's first measure\n" << r.out;
  const std::string page = text_of(place_ / "page.html");
  for (const char* part : {"Marked tokens of a ring: which positions were learned?", "a start of my own",
                           "steps from the marked token", "Weights of the models"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(text_of(place_ / "page_files/weights.csv").find("run,weights\n"), 0u);
}

TEST_F(OwnProgramTest, its_settings_are_checked_and_part_of_the_identity) {
  EXPECT_NE(toy("toy train ring.toml ring.token=8 --out a").err.find("did you mean ring.tokens?"), std::string::npos);
  EXPECT_NE(toy("toy train ring.toml ring.tokens=7 --out a").err.find("ring.tokens is odd"), std::string::npos);
  EXPECT_NE(toy("toy train ring.toml task=masked --out a").err.find("use place, classify, or auto"), std::string::npos);
  EXPECT_NE(toy("toy train ring.toml study=rings --out a").err.find("did you mean ring?"), std::string::npos);
  const Result other = toy("toy train ring.toml stop.epochs=1 --quiet --out a && toy train ring.toml ring.tokens=8 --out a");
  EXPECT_NE(other.code, 0) << "a folder holds one configuration";
  EXPECT_NE(other.err.find("ring.tokens"), std::string::npos) << other.err;
}

TEST_F(OwnProgramTest, a_cell_is_new_when_a_file_of_its_source_changes) {
  write(place_ / "names.txt", "a\nb\nc\nd\ne\nf\n");
  const std::string before = first_cell();
  EXPECT_EQ(first_cell(), before);
  write(place_ / "names.txt", "a\nb\nc\nd\ne\ng\n");
  EXPECT_NE(first_cell(), before);
}

TEST_F(OwnProgramTest, locus_itself_says_that_it_does_not_know_the_source) {
  const Result r = toy("toy train ring.toml stop.epochs=1 --quiet --out a && locus eval a");
  EXPECT_NE(r.code, 0);
  EXPECT_NE(r.err.find("study has no such choice"), std::string::npos) << r.err;
}

}  // namespace
}  // namespace locus::cli_testing
