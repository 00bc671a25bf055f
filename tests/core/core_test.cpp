#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/symmetry.h"
#include "core/text.h"
#include "core/turns.h"

namespace locus {
namespace {

TEST(PhiloxTest, matches_the_published_known_answers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(SymmetryTest, infinities_and_nan_hide_no_difference) {
  const double inf = HUGE_VAL, nan = std::nan("");
  const auto symmetric = [](std::vector<double> v) { return is_symmetric(ConstMatD{v.data(), 2, 2}); };
  EXPECT_TRUE(symmetric({1, 2, 2, 1}));
  EXPECT_FALSE(symmetric({1, 2, 3, 1}));
  EXPECT_FALSE(symmetric({inf, 2, 3, 1}));
  EXPECT_TRUE(symmetric({inf, 2, 2, -inf}));
  EXPECT_FALSE(symmetric({1, inf, -inf, 1}));
  EXPECT_FALSE(symmetric({1, nan, 2, 1}));
  EXPECT_TRUE(symmetric({1, nan, nan, 1}));
}

TEST(RngTest, streams_of_one_seed_differ_and_repeat) {
  Rng a(7, "init/pe"), b(7, "init/pe"), c(7, "data/order"), d(8, "init/pe");
  const std::uint32_t first = a.next_u32();
  EXPECT_EQ(first, b.next_u32());
  EXPECT_NE(first, c.next_u32());
  EXPECT_NE(first, d.next_u32());
}

TEST(RngTest, restored_state_continues_at_every_lane) {
  for (int drawn = 0; drawn < 9; ++drawn) {
    Rng a(1, "x");
    for (int i = 0; i < drawn; ++i) a.next_u32();
    Rng b(a.state());
    for (int i = 0; i < 9; ++i) EXPECT_EQ(a.next_u32(), b.next_u32());
  }
}

TEST(RngTest, normal_has_the_moments_of_a_standard_normal) {
  Rng rng(3, "normal");
  const int n = 200000;
  double s1 = 0, s2 = 0, s4 = 0;
  for (int i = 0; i < n; ++i) {
    const double x = rng.normal();
    s1 += x;
    s2 += x * x;
    s4 += x * x * x * x;
  }
  EXPECT_NEAR(s1 / n, 0, 0.01);
  EXPECT_NEAR(s2 / n, 1, 0.015);
  EXPECT_NEAR(s4 / n, 3, 0.1);
}

TEST(RngTest, below_is_uniform) {
  Rng rng(3, "below");
  std::vector<int> count(7);
  for (int i = 0; i < 70000; ++i) ++count[rng.below(7)];
  for (const int c : count) EXPECT_NEAR(c, 10000, 400);
}

TEST(Sha256Test, matches_known_digests) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(ThreadPoolTest, runs_every_task_once_for_any_thread_count) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<std::atomic<int>> hits(37);
      pool.run(37, [&](int task, int worker) {
        EXPECT_LT(worker, threads);
        ++hits[static_cast<std::size_t>(task)];
      });
      for (const auto& h : hits) EXPECT_EQ(h.load(), 1);
    }
  }
}

TEST(ThreadPoolTest, rethrows_the_failure_of_the_lowest_task) {
  ThreadPool pool(2);
  try {
    pool.run(10, [](int task, int) {
      if (task >= 4) throw DataError({.what = std::to_string(task)});
    });
    FAIL() << "no exception";
  } catch (const DataError& e) {
    EXPECT_EQ(e.parts().what, "4");
  }
}

TEST(TurnsTest, results_are_handed_in_one_by_one_and_in_order) {
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<int> order;
      run_in_turns(
          pool, 20, [](int, int) {}, [&](int task, int) { order.push_back(task); });
      ASSERT_EQ(order.size(), 20u);
      EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    }
  }
}

TEST(TurnsTest, a_task_that_throws_ends_all_with_the_error_of_the_lowest) {
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    for (const int bad : {0, 3, 9}) {
      for (const bool in_work : {true, false}) {
        std::vector<int> order;
        const auto fail = [&](int task) {
          if (task == bad || (in_work && task == bad + 2)) throw DataError({.what = std::to_string(task)});
        };
        const auto work = [&](int task, int) {
          if (in_work) fail(task);
        };
        const auto hand_in = [&](int task, int) {
          if (!in_work) fail(task);
          order.push_back(task);
        };
        try {
          run_in_turns(pool, 10, work, hand_in);
          FAIL() << "no exception";
        } catch (const DataError& e) {
          EXPECT_EQ(e.parts().what, std::to_string(bad));
        }
        EXPECT_LE(order.size(), static_cast<std::size_t>(bad)) << "handed in after the task that failed";
      }
    }
  }
}

TEST(TextTest, nearest_name_suggests_only_near_names) {
  const std::vector<std::string> names = {"pe.sigma", "pe.kind", "train.batch"};
  EXPECT_EQ(nearest_name("pe.sigm", names), "pe.sigma");
  EXPECT_EQ(nearest_name("zzzzzzz", names), "");
}

TEST(TextTest, shortest_reads_back_exactly) {
  for (const double x : {0.1, 1.0 / 3, 1e-300, 2.5e17, -0.0}) EXPECT_EQ(std::stod(shortest(x)), x);
  EXPECT_EQ(shortest(std::nan("")), "nan");
}

TEST(ErrorTest, message_holds_all_parts) {
  const ConfigError e({.what = "unknown key", .where = "a.toml:3", .got = "x", .expected = "y", .hint = "z"});
  for (const char* part : {"unknown key", "a.toml:3", "got:", "expected:", "hint:"}) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace locus
