// Runs that went on after their end, and folders that go away while a command works, as a user meets them.
#include <gtest/gtest.h>

#include "core/json.h"
#include "tests/cli/cli_testing.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using cli_testing::Result;
using cli_testing::text_of;
using cli_testing::Workplace;

class ExtendedRunTest : public ::testing::Test {
 protected:
  ExtendedRunTest() { cli_testing::write(place_ / "tiny.toml", cli_testing::kTiny); }
  Result good(const std::string& script) const {
    const Result r = place_.shell(script);
    EXPECT_EQ(r.code, 0) << script << "\n" << r.out << r.err;
    return r;
  }
  Workplace place_{"extended"};
};

// What an earlier version left behind: the end of the first epoch beside the checkpoints of later ones.
TEST_F(ExtendedRunTest, clearing_up_leaves_the_checkpoints_of_a_run_that_went_on_and_was_cut_off) {
  good("locus train tiny.toml --out run --quiet && cp run/summary.json old.json");
  good(
      "locus train tiny.toml stop.epochs=3 --out run --quiet && cp -r run/checkpoints kept && cp old.json run/summary.json");
  EXPECT_NE(good("locus runs run").out.find("interrupted"), std::string::npos);
  EXPECT_NE(good("locus eval run").err.find("this is checkpoints/"), std::string::npos);
  EXPECT_NE(good("locus gc run --yes").out.find("nothing to remove"), std::string::npos);
  good("diff -r kept run/checkpoints");
  place_.shell("locus results keep run --to results");
  EXPECT_TRUE(fs::is_empty(place_ / "results")) << "it has no result to keep";
  good("locus train tiny.toml stop.epochs=3 --out run --quiet && locus gc run --yes");
  EXPECT_FALSE(fs::exists(place_ / "run/checkpoints"));
}

TEST_F(ExtendedRunTest, clearing_up_leaves_the_checkpoints_when_the_final_model_cannot_be_read) {
  good("locus train tiny.toml --out run --quiet && truncate -s 100 run/final/model.safetensors");
  const Result gc = good("locus gc run --yes");
  EXPECT_NE(gc.err.find("left alone"), std::string::npos) << gc.err;
  EXPECT_TRUE(fs::exists(place_ / "run/checkpoints"));
}

TEST_F(ExtendedRunTest, after_clearing_up_the_results_are_not_trained_away) {
  good("locus train tiny.toml --out run --quiet && locus gc run --yes");
  const std::string metrics = text_of(place_ / "run/metrics.csv");
  good("locus train tiny.toml --out run --quiet");
  const Result more = place_.shell("locus train tiny.toml stop.epochs=3 --out run --quiet");
  EXPECT_EQ(more.code, 2) << more.err;
  EXPECT_NE(more.err.find("its checkpoints were removed"), std::string::npos) << more.err;
  EXPECT_EQ(text_of(place_ / "run/metrics.csv"), metrics);
  good("locus results keep run --to kept");
}

TEST_F(ExtendedRunTest, a_folder_moved_or_removed_while_training_ends_the_run_with_an_error) {
  for (const std::string how : {"mv run moved", "rm -r run", "mv run moved; mkdir run"}) {
    const Result r = place_.shell(
        "rm -rf run moved\n"
        "locus train tiny.toml stop.epochs=100000 watch.checkpoint_every=5 --out run --quiet &\n"
        "until ls run/checkpoints/0* >/dev/null 2>&1; do sleep 0.02; done\n" +
        how + "\nwait $!");
    EXPECT_EQ(r.code, 1) << how << r.out << r.err;
    EXPECT_EQ(r.out.find("finished"), std::string::npos) << r.out;
    EXPECT_NE(r.err.find("error: "), std::string::npos) << r.err;
    EXPECT_TRUE(!fs::exists(place_ / "run") || fs::is_empty(place_ / "run") || how == "rm -r run") << how;
    EXPECT_FALSE(fs::exists(place_ / "run/summary.json")) << how;
  }
  good("locus train tiny.toml stop.epochs=1 --out moved --quiet");
}

TEST_F(ExtendedRunTest, snapshots_that_are_no_epochs_are_refused) {
  for (const char* list : {"[nan,-5]", "[-5]", "[inf]", "[2.5]", "[1e300]"}) {
    const Result r = place_.shell(std::string("locus train tiny.toml 'watch.snapshots=") + list + "' --out run");
    EXPECT_EQ(r.code, 2) << list << r.err;
    EXPECT_NE(r.err.find("watch.snapshots"), std::string::npos) << r.err;
  }
}

}  // namespace
}  // namespace locus
