// Where the program's words go when standard streams are closed, full or no longer read, and how many threads it starts
// under the limits of a system.

#include "tests/cli/cli_testing.h"

#include "core/json.h"
#include "core/parallel.h"

namespace locus {
namespace {

using cli_testing::Result;
using cli_testing::text_of;
using cli_testing::Workplace;
using cli_testing::write;

class OutputsTest : public testing::Test {
 protected:
  void SetUp() override { write(place_ / "tiny.toml", cli_testing::kTiny); }
  Workplace place_{testing::UnitTest::GetInstance()->current_test_info()->name()};
};

TEST_F(OutputsTest, closed_streams_do_not_write_into_the_files_of_a_run) {
  ASSERT_EQ(place_.shell("locus train tiny.toml stop.epochs=3 --out calm --quiet").code, 0);
  for (const char* closed : {">&- 2>&-", "<&- >&- 2>&-", "2>&-", "<&-"}) {
    const Result r = place_.shell(std::string("locus train tiny.toml stop.epochs=3 --out run ") + closed);
    EXPECT_EQ(r.code, 0) << closed;
    EXPECT_EQ(text_of(place_ / "run/metrics.csv"), text_of(place_ / "calm/metrics.csv")) << closed;
    std::ifstream rows(place_ / "run/metrics.jsonl");
    for (std::string line; std::getline(rows, line);) EXPECT_TRUE(Json::parse(line).is_object()) << closed << ": " << line;
    std::filesystem::remove_all(place_ / "run");
  }
}

TEST_F(OutputsTest, a_full_disk_behind_the_standard_output_is_an_error) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  ASSERT_EQ(place_.shell("locus train tiny.toml --out run --quiet").code, 0);
  for (const char* command : {"version --json", "encodings", "config --json", "--help-all", "runs run", "inspect run --json",
                              "train tiny.toml --out other --json --quiet", "gc run --yes --json"}) {
    const Result r = place_.shell(std::string("locus ") + command + " >/dev/full");
    EXPECT_EQ(r.code, 1) << command;
    EXPECT_NE(r.err.find("cannot write the output"), std::string::npos) << command << ": " << r.err;
    EXPECT_NE(r.err.find("No space left"), std::string::npos) << command << ": " << r.err;
  }
}

TEST_F(OutputsTest, a_reader_that_leaves_early_is_no_error_worth_a_word) {
  for (const char* command : {"config", "--help-all", "train tiny.toml --out run --json --quiet"}) {
    const Result r = place_.shell(std::string("locus ") + command + " | true; echo ${PIPESTATUS[0]}");
    EXPECT_EQ(r.err, "") << command;
    EXPECT_TRUE(r.out == "0\n" || r.out == "141\n") << command << ": " << r.out;
  }
  EXPECT_TRUE(std::filesystem::exists(place_ / "run/summary.json"));
}

TEST_F(OutputsTest, the_environment_asks_for_no_more_threads_than_there_are_cores) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer reserves more address space than any limit leaves";
#endif
  for (const char* name : {"OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"}) {
    const Result r = place_.shell(std::string("ulimit -v 1500000; ") + name + "=2000 timeout 60 '" + locus::test::binary() +
                                  "' train tiny.toml --out " + name + " --quiet");
    EXPECT_EQ(r.code, 0) << r.err;
    const Json manifest = Json::parse(text_of(place_ / name / "manifest.json"));
    EXPECT_EQ(manifest["threads"].get<int>(), usable_cores()) << name;
  }
  const Result fewer = place_.shell("OMP_NUM_THREADS=1,4 locus train tiny.toml --out one --quiet");
  EXPECT_EQ(fewer.code, 0) << fewer.err;
  EXPECT_EQ(Json::parse(text_of(place_ / "one/manifest.json"))["threads"], 1);
  EXPECT_EQ(place_.shell("locus train tiny.toml --out three --quiet --threads 3").code, 0);
  EXPECT_EQ(Json::parse(text_of(place_ / "three/manifest.json"))["threads"], 3) << "asked for explicitly";
}

TEST_F(OutputsTest, threads_that_a_memory_limit_forbids_are_an_error_not_an_abort) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer reserves more address space than any limit leaves";
#endif
  const Result r = place_.shell("ulimit -v 1500000; timeout 60 '" + locus::test::binary() +
                                "' train tiny.toml --out run --quiet --threads 1000");
  EXPECT_EQ(r.code, 1) << r.err;
  EXPECT_NE(r.err.find("cannot start as many threads"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("1000 wanted"), std::string::npos) << r.err;
}

// The system counts processes of ordinary users only.
TEST_F(OutputsTest, threads_that_a_process_limit_forbids_are_an_error_not_a_hang) {
  std::filesystem::permissions(place_.folder(), std::filesystem::perms::all);
  const std::string other = ::getuid() == 0 ? "setpriv --reuid=54321 --regid=54321 --clear-groups " : "";
  const std::string program = "'" + locus::test::binary() + "'";
  if (place_.shell(other + program + " version").code != 0) GTEST_SKIP() << "cannot run the program as an ordinary user";
  const Result r = place_.shell(other + "bash -c 'ulimit -u 20; exec timeout -s KILL 60 \"$@\"' x " + program +
                                " train tiny.toml --out run --quiet --threads 200");
  EXPECT_EQ(r.code, 1) << r.err;
  EXPECT_NE(r.err.find("cannot start as many threads"), std::string::npos) << r.err;
}

}  // namespace
}  // namespace locus
