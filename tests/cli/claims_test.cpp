// Sweeps that share a folder where files cannot be locked, and from two process namespaces: no cell runs twice.
#include "tests/cli/cli_testing.h"

namespace locus {
namespace {

using cli_testing::Result;
using cli_testing::Workplace;

constexpr const char* kTiny =
    "[model]\nlayers = 1\nwidth = 8\n[train]\nbatch = 16\n[stop]\nepochs = 1\n"
    "[lst]\nper_difficulty = 20\nheldout_items = 2\nmin_distance = 0.3\n";
// Cells that take seconds and write checkpoints on their way.
constexpr const char* kLong = "stop.epochs=3000 watch.eval_every=3000 watch.checkpoint_every=50";

class ClaimsTest : public ::testing::Test {
 protected:
  ClaimsTest() { cli_testing::write(place_ / "tiny.toml", kTiny); }

  // $unlocked before a command: in there no file can be locked. `ends` counts the ends of cells, `starts` their starts.
  Result shell(const std::string& script) const {
    return place_.shell(
        "unlocked='env LD_PRELOAD=" + test::failing_locks() + "'\nbin='" + test::binary() +
        "'\nends() { cat out/cells/*/log.txt | grep -c ' finished: '; }\n"
        "starts() { cat out/cells/*.log | grep -c '^== '; }\n"
        "wait_for() { for i in $(seq 2000); do ls $1 >/dev/null 2>&1 && return; sleep 0.01; done; return 1; }\n" +
        script);
  }
  Workplace place_{"claims"};
};

TEST_F(ClaimsTest, without_locks_two_sweeps_do_not_run_a_cell_twice) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer must be loaded before the library that takes locks away";
#endif
  const Result r = shell(
      "run=\"$unlocked $bin sweep tiny.toml pe.sigma=0.1,2 seed=0..5 --jobs 2 --out out\"\n"
      "$run >a.txt 2>a.err & first=$!; $run >b.txt 2>b.err & second=$!\n"
      "wait $first || exit 11; wait $second || exit 12\n"
      "echo \"$(ends) ends, $(starts) starts\"; grep -h 'claimed by leases' a.err b.err | sort -u | wc -l; ls out/cells | "
      "grep lock");
  EXPECT_EQ(r.out, "12 ends, 12 starts\n1\n") << r.err;
}

TEST_F(ClaimsTest, without_locks_the_lease_of_a_killed_sweep_is_taken_over) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer must be loaded before the library that takes locks away";
#endif
  const Result r =
      shell(std::string("run=\"$unlocked $bin sweep tiny.toml ") + kLong +
            " seed=0 --jobs 1 --quiet --out out\"\n"
            "$run & parent=$!\nwait_for 'out/cells/*/checkpoints/0*' || exit 11\n"
            "worker=$(pgrep -P $parent); kill -KILL $parent $worker; ls out/cells/*.lock >/dev/null || exit 12\n"
            "$run >/dev/null || exit 13\n"
            "echo \"$(ends) ends, $(starts) starts\"; grep -c 'resumed from' out/cells/*/log.txt");
  EXPECT_EQ(r.out, "1 ends, 2 starts\n1\n") << r.err;
}

TEST_F(ClaimsTest, without_locks_the_lease_of_a_silent_sweep_is_respected) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer must be loaded before the library that takes locks away";
#endif
  const Result r = shell(std::string("run=\"$unlocked $bin sweep tiny.toml ") + kLong +
                         " --jobs 1 --quiet --out out\"\n"
                         "$run seed=0 >/dev/null & parent=$!\nwait_for 'out/cells/*/checkpoints/0*' || exit 11\n"
                         "worker=$(pgrep -P $parent); kill -STOP $parent $worker\n"
                         "timeout --preserve-status 6 $run seed=0 >/dev/null; echo code $?; echo \"$(starts) starts\"\n"
                         "kill -CONT $parent $worker; wait $parent; echo code $?; echo \"$(ends) ends, $(starts) starts\"");
  // The second one waits for the cell until it is told to stop: exit code 75.
  EXPECT_EQ(r.out, "code 75\n1 starts\ncode 0\n1 ends, 1 starts\n") << r.err;
}

// Process ids of one namespace mean nothing in the other, where the same id is another process or none.
TEST_F(ClaimsTest, two_process_namespaces_do_not_harm_each_other) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer must be loaded before the library that takes locks away";
#endif
  for (const char* how : {"", "$unlocked"}) {
    const Result r =
        shell(std::string("inside='unshare -p -f --mount-proc'\n$inside true 2>/dev/null || exit 99\n") + "rm -rf out\n" +
              "cmd=\"$bin sweep tiny.toml stop.epochs=40 pe.sigma=0.1,2 seed=0..5 --jobs 2 --quiet --out out\"\n" + how +
              " $inside $cmd >/dev/null & first=$!\n" + how + " $inside $cmd >/dev/null & second=$!\n" + how +
              " $cmd >/dev/null & third=$!\n"
              "wait $first || exit 11; wait $second || exit 12; wait $third || exit 13\n"
              "echo \"$(ends) ends, $(starts) starts\"; ls out/cells/*.failure.json 2>/dev/null | wc -l");
    if (r.code == 99) GTEST_SKIP() << "needs the right to make a process namespace";
    EXPECT_EQ(r.out, "12 ends, 12 starts\n0\n") << how << r.err;
  }
}

TEST_F(ClaimsTest, a_sweep_keeps_the_instruction_set_it_was_begun_with) {
  const Result r = shell(
      "$bin sweep tiny.toml seed=0 --isa baseline --quiet --out out >/dev/null || exit 11\n"
      "grep -c '\"isa\": \"baseline\"' out/plans/*.json\n"
      "$bin sweep tiny.toml seed=0..1 --quiet --out out >/dev/null || exit 12\n"
      "grep -c -- '--isa baseline' out/cells/*.log | cut -d: -f2\n"
      "LOCUS_ISA=$($bin version --json | grep -o 'avx[0-9]*\\|neon' | head -1)\n"
      "[ -n \"$LOCUS_ISA\" ] || exit 99\nexport LOCUS_ISA\n"
      "$bin sweep tiny.toml seed=0..1 --quiet --out out; echo code $?");
  if (r.code == 99) GTEST_SKIP() << "this processor has one instruction set only";
  EXPECT_EQ(r.out, "1\n1\n1\ncode 2\n") << r.err;
  EXPECT_NE(r.err.find("begun with another instruction set"), std::string::npos) << r.err;
  // One that no processor here has: as on an older node of an unlike cluster.
  const Result other = shell("sed -i 's/\"isa\": \"baseline\"/\"isa\": \"" +
                             std::string(
#if defined(__aarch64__)
                                 "avx2"
#else
                                 "neon"
#endif
                                 ) +
                             "\"/' out/plans/*.json\n$bin sweep tiny.toml seed=0..1 --quiet --out out; echo code $?");
  EXPECT_EQ(other.out, "code 2\n") << other.err;
  EXPECT_NE(other.err.find("this machine cannot train cells of this sweep"), std::string::npos) << other.err;
}

}  // namespace
}  // namespace locus
