// locus watch as a user sees it beside a sweep that trains: on a terminal, in a window that changes, and in a pipe.

#include <algorithm>

#include "core/json.h"
#include "tests/cli/cli_testing.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

using cli_testing::Result;
using cli_testing::Workplace;
using cli_testing::write;

class WatchTest : public testing::Test {
 protected:
  void SetUp() override { write(place_ / "tiny.toml", cli_testing::kTiny); }

  // A sweep in the background of about ten seconds, and `script` once it trains.
  Result beside_a_sweep(const std::string& script, const std::string& epochs = "300") const {
    return place_.shell(
        "LOCUS='" + locus::test::binary() + "'\n\"$LOCUS\" sweep tiny.toml pe.sigma=0.1,2 seed=0..1 stop.epochs=" + epochs +
        " --jobs 2 --quiet --out runs >sweep.out 2>&1 &\npid=$!\n"
        "for i in $(seq 300); do grep -qs validation runs/cells/*/metrics.jsonl && break; sleep 0.1; done\n" +
        script + "\ncode=$?\nkill -TERM $pid 2>/dev/null; wait $pid; exit $code");
  }
  static bool has_emulator() { return std::system("/usr/bin/python3 -c 'import pyte' >/dev/null 2>&1") == 0; }
  std::string emulator(const std::string& options) const {
    return "/usr/bin/python3 -B '" + locus::test::source_dir() + "/tests/cli/terminal_emulator.py' " + options +
           " -- \"$LOCUS\" ";
  }
  static bool saw(const Json& seen, const std::string& text) {
    return std::any_of(seen["seen"].begin(), seen["seen"].end(),
                       [&](const Json& line) { return line.get<std::string>().find(text) != std::string::npos; });
  }
  Workplace place_{testing::UnitTest::GetInstance()->current_test_info()->name()};
};

TEST_F(WatchTest, shows_runs_in_training_until_all_are_done) {
  if (!has_emulator()) GTEST_SKIP() << "no terminal emulator (python3-pyte)";
  const Result r = beside_a_sweep(emulator("80 24") + "watch runs --every 0.3");
  ASSERT_EQ(r.code, 0) << r.err;
  const Json seen = Json::parse(r.out);
  EXPECT_EQ(seen["code"], 0);
  EXPECT_TRUE(seen["wrapped"].empty()) << seen["wrapped"].dump();
  EXPECT_EQ(seen["flickers"], 0);
  EXPECT_TRUE(saw(seen, "2 training")) << seen["seen"].dump();
  EXPECT_TRUE(saw(seen, "best on validation:")) << seen["seen"].dump();
  EXPECT_TRUE(saw(seen, "█") || saw(seen, "▁")) << seen["seen"].dump();
  EXPECT_TRUE(saw(seen, "sigma=0.1 seed=0")) << seen["seen"].dump();
  EXPECT_TRUE(saw(seen, "4 of 4 done")) << "what is left on the screen at the end: " << seen["screen"].dump();
}

TEST_F(WatchTest, a_narrower_window_is_drawn_anew_and_q_leaves) {
  if (!has_emulator()) GTEST_SKIP() << "no terminal emulator (python3-pyte)";
  const Result resized = beside_a_sweep(emulator("120 40 --when training --resize 50") + "watch runs --every 0.3");
  ASSERT_EQ(resized.code, 0) << resized.err;
  EXPECT_TRUE(Json::parse(resized.out)["wrapped"].empty()) << resized.out;
  const Result left = beside_a_sweep(emulator("80 24 --when training --type q") + "watch runs", "100000");
  ASSERT_EQ(left.code, 0) << left.err;
  const Json seen = Json::parse(left.out);
  EXPECT_EQ(seen["code"], 0);
  EXPECT_LT(seen["seconds"].get<double>(), 2);
}

TEST_F(WatchTest, in_a_pipe_there_are_lines_only) {
  const Result r = beside_a_sweep("\"$LOCUS\" watch runs --every 0.2");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out.find_first_of("\r\033"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find(" training, 0 failed"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("4 of 4 done, 0 training, 0 failed, 0 waiting"), std::string::npos) << r.out;
}

TEST_F(WatchTest, a_folder_without_runs_is_an_error_and_json_counts) {
  const Result none = place_.shell("mkdir empty; locus watch empty");
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.err.find("no runs here"), std::string::npos) << none.err;
  ASSERT_EQ(place_.shell("locus train tiny.toml --out one --quiet").code, 0);
  const Json json = Json::parse(place_.shell("locus watch one --json").out);
  EXPECT_EQ(json["done"], 1);
  EXPECT_EQ(json["waiting"], 0);
}

}  // namespace
}  // namespace locus
