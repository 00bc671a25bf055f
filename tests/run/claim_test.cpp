// Claims: one owner at a time, by lock or by lease; a dead owner's claim is taken over, a live one's never.
#include "run/claim.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <set>

#include "run/files.h"
#include "tests/run/run_testing.h"

namespace {
std::atomic<int> lock_error{0};  // what flock answers; 0: what the system does
}

// In the place of the C library's, for this program.
extern "C" int flock(int fd, int how) noexcept {
  if (lock_error != 0) {
    errno = lock_error;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_flock, fd, how));
}

namespace locus {
namespace {

class ClaimTest : public RunFolderTest {
 protected:
  void SetUp() override {
    RunFolderTest::SetUp();
    fs::create_directories(out_);
  }
  void TearDown() override {
    lock_error = 0;
    RunFolderTest::TearDown();
  }

  // A process that takes the claim and waits; it says when.
  pid_t owner_process(const fs::path& file) const {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const std::optional<Claim> claim = Claim::take(file);
      if (claim && ::write(ready[1], "x", 1) == 1) ::pause();
      ::_exit(1);
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1) << "the child got no claim";
    ::close(ready[0]);
    return child;
  }
  static void kill_and_wait(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
};

TEST_F(ClaimTest, any_error_of_a_lock_but_taken_leads_to_leases) {
  for (const int code : {ENOLCK, ENOSYS, EOPNOTSUPP, EIO, EINVAL}) {
    const fs::path folder = out_ / std::to_string(code);
    fs::create_directories(folder);
    lock_error = code;
    EXPECT_EQ(claim_method(folder).kind, ClaimKind::kLease);
    EXPECT_NE(claim_method(folder).reason.find(std::strerror(code)), std::string::npos);
    std::optional<Claim> first = Claim::take(folder / "a.lock");
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->kind(), ClaimKind::kLease);
    std::string owner;
    EXPECT_FALSE(Claim::take(folder / "a.lock", nullptr, &owner).has_value());
    EXPECT_NE(owner.find("pid " + std::to_string(::getpid())), std::string::npos) << owner;
    EXPECT_TRUE(is_locked(folder / "a.lock"));
    first->release();
    EXPECT_FALSE(is_locked(folder / "a.lock"));
    EXPECT_TRUE(Claim::take(folder / "a.lock").has_value());
    EXPECT_TRUE(fs::is_empty(folder)) << "drafts or guards were left";
  }
}

TEST_F(ClaimTest, a_lock_that_fails_where_locks_work_is_an_error) {
  EXPECT_EQ(claim_method(out_).kind, ClaimKind::kLock);
  lock_error = ENOLCK;
  EXPECT_THROW(Claim::take(out_ / "a.lock"), IoError);
}

TEST_F(ClaimTest, a_dead_owner_is_followed_and_a_live_one_never) {
  for (const int code : {0, ENOLCK}) {
    const fs::path folder = out_ / std::to_string(code);
    fs::create_directories(folder);
    lock_error = code;
    const fs::path file = folder / "a.lock";
    const pid_t child = owner_process(file);
    EXPECT_FALSE(Claim::take(file).has_value());
    ::kill(child, SIGSTOP);  // silent, but alive
    EXPECT_FALSE(Claim::take(file).has_value());
    EXPECT_TRUE(is_locked(file));
    kill_and_wait(child);
    EXPECT_FALSE(is_locked(file));
    std::optional<Claim> mine = Claim::take(file);
    ASSERT_TRUE(mine.has_value()) << code;
    EXPECT_FALSE(Claim::take(file).has_value());
    EXPECT_TRUE(mine->still_mine());
  }
}

TEST_F(ClaimTest, of_many_that_follow_a_dead_owner_one_does) {
  lock_error = ENOLCK;
  const fs::path file = out_ / "a.lock";
  kill_and_wait(owner_process(file));
  ASSERT_TRUE(fs::exists(file));
  constexpr int kProcesses = 16;
  int won[2];
  ASSERT_EQ(::pipe(won), 0);
  for (int i = 0; i < kProcesses; ++i) {
    if (::fork() == 0) {
      const std::optional<Claim> claim = Claim::take(file);
      if (claim && ::write(won[1], "x", 1) != 1) ::_exit(1);
      if (claim) ::usleep(500'000);  // longer than all of them need
      ::_exit(0);
    }
  }
  ::close(won[1]);
  for (int i = 0; i < kProcesses; ++i) ::wait(nullptr);
  std::string winners(64, ' ');
  EXPECT_EQ(::read(won[0], winners.data(), winners.size()), 1);
  ::close(won[0]);
}

TEST_F(ClaimTest, a_lease_is_respected_where_locks_work_and_a_lock_where_they_do_not) {
  const fs::path locks = out_ / "locks", leases = out_ / "leases";
  fs::create_directories(locks);
  fs::create_directories(leases);
  ASSERT_EQ(claim_method(locks).kind, ClaimKind::kLock);
  lock_error = ENOLCK;
  ASSERT_EQ(claim_method(leases).kind, ClaimKind::kLease);
  std::optional<Claim> lease = Claim::take(leases / "a.lock");
  ASSERT_TRUE(lease.has_value());
  lock_error = 0;
  fs::create_hard_link(leases / "a.lock", locks / "a.lock");
  EXPECT_FALSE(Claim::take(locks / "a.lock").has_value());
  std::optional<Claim> lock = Claim::take(locks / "b.lock");
  ASSERT_TRUE(lock.has_value());
  fs::create_hard_link(locks / "b.lock", leases / "b.lock");
  lock_error = ENOLCK;
  EXPECT_FALSE(Claim::take(leases / "b.lock").has_value());
}

TEST_F(ClaimTest, a_lease_that_was_taken_away_is_noticed) {
  lock_error = ENOLCK;
  std::optional<Claim> claim = Claim::take(out_ / "a.lock");
  ASSERT_TRUE(claim->still_mine());
  fs::remove(out_ / "a.lock");
  EXPECT_FALSE(claim->still_mine());
  std::optional<Claim> other = Claim::take(out_ / "a.lock");
  claim->release();
  EXPECT_TRUE(other->still_mine()) << "the first one removed what is not its own";
}

TEST_F(ClaimTest, a_lease_that_was_left_is_anyones) {
  lock_error = ENOLCK;
  std::optional<Claim> claim = Claim::take(out_ / "a.lock");
  claim->leave();
  EXPECT_TRUE(fs::exists(out_ / "a.lock"));
  EXPECT_FALSE(is_locked(out_ / "a.lock"));
  EXPECT_TRUE(Claim::take(out_ / "a.lock").has_value());
}

TEST_F(ClaimTest, a_lease_lives_by_its_heartbeat) {
  lock_error = ENOLCK;
  std::optional<Claim> claim = Claim::take(out_ / "a.lock");
  const auto before = fs::last_write_time(out_ / "a.lock");
  ::sleep(kClaimBeatSeconds + 1);
  EXPECT_GT(fs::last_write_time(out_ / "a.lock"), before);
}

TEST(ClaimOwnerTest, what_is_written_is_read) {
  set_claim_job("77", 2);
  const ClaimOwner me = this_owner(ClaimKind::kLease);
  set_claim_job("", 0);
  const std::optional<ClaimOwner> read = ClaimOwner::parse(me.text() + "and more\n");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->text(), me.text());
  EXPECT_EQ(read->job, "77");
  EXPECT_EQ(read->restarts, 2);
  EXPECT_FALSE(ClaimOwner::parse(me.text().substr(0, 40)).has_value());
  EXPECT_FALSE(ClaimOwner::parse("pid 1 on elsewhere\n").has_value());
}

TEST(ClaimOwnerTest, death_is_proved_and_not_guessed) {
  const ClaimOwner me = this_owner(ClaimKind::kLease);
  const auto dead = [&](auto change, bool still) {
    ClaimOwner other = me;
    change(other);
    return provably_dead(other, me, still);
  };
  EXPECT_FALSE(dead([](ClaimOwner&) {}, true)) << "this very process";
  EXPECT_TRUE(dead([](ClaimOwner& o) { o.pid = 4'000'000; }, false)) << "no such process";
  EXPECT_TRUE(dead([](ClaimOwner& o) { o.started += 1; }, false)) << "its id belongs to another process now";
  EXPECT_TRUE(dead([](ClaimOwner& o) { o.released = true; }, false));
  // The same id in another namespace or on another machine says nothing, however long it is silent.
  for (const bool still : {false, true}) {
    EXPECT_FALSE(dead([](ClaimOwner& o) { o.pid_namespace = "pid:[1]", o.pid = 4'000'000; }, still));
    EXPECT_FALSE(dead([](ClaimOwner& o) { o.host = "other", o.boot = "b", o.pid = 4'000'000; }, still));
    EXPECT_FALSE(dead([](ClaimOwner& o) { o.machine = "other", o.boot = "b", o.pid = 4'000'000; }, still));
  }
  // The same machine after a reboot, and only when its heart stands still.
  const auto rebooted = [](ClaimOwner& o) { o.boot = "before", o.machine = "m"; };
  ClaimOwner here = me;
  here.machine = "m";
  ClaimOwner before = me;
  rebooted(before);
  EXPECT_TRUE(provably_dead(before, here, true));
  EXPECT_FALSE(provably_dead(before, here, false));
  before.kind = ClaimKind::kLock;
  EXPECT_FALSE(provably_dead(before, here, true)) << "a lock has no heartbeat";
}

TEST(ClaimOwnerTest, a_job_that_was_started_again_follows_itself) {
  ClaimOwner before = this_owner(ClaimKind::kLease);
  before.host = "n1";
  before.boot = "b1";
  before.job = "12";
  ClaimOwner now = this_owner(ClaimKind::kLease);
  now.job = "12";
  now.restarts = 1;
  EXPECT_TRUE(provably_dead(before, now, true));
  EXPECT_FALSE(provably_dead(before, now, false));
  EXPECT_FALSE(provably_dead(now, before, true)) << "the later start is the one that lives";
  now.job = "13";
  EXPECT_FALSE(provably_dead(before, now, true));
}

TEST(ClaimWatchTest, a_heart_stands_still_only_when_it_was_watched) {
  ClaimWatch watch;
  const ClaimWatch::Clock::time_point start;
  const auto at = [&](int seconds) { return start + std::chrono::seconds(seconds); };
  EXPECT_FALSE(watch.is_still("a", "n", 1, at(1000)));
  EXPECT_FALSE(watch.is_still("a", "n", 1, at(1000 + kClaimStillSeconds - 1)));
  EXPECT_TRUE(watch.is_still("a", "n", 1, at(1000 + kClaimStillSeconds)));
  EXPECT_FALSE(watch.is_still("a", "n", 2, at(1000 + kClaimStillSeconds))) << "it beat";
  EXPECT_FALSE(watch.is_still("a", "m", 2, at(1001 + kClaimStillSeconds))) << "another owner";
  EXPECT_FALSE(watch.is_still("b", "n", 1, at(2000)));
}

TEST(ClaimMethodTest, mounts_with_locks_of_their_own_machine_are_known) {
  const std::string mounts =
      "36 35 98:0 / /home rw,noatime shared:1 - ext4 /dev/root rw,errors=continue\n"
      "40 35 0:41 / /nfs rw,relatime - nfs4 server:/a rw,vers=4.2,local_lock=none,addr=1.2.3.4\n"
      "41 35 0:42 / /old rw,relatime - nfs server:/b rw,vers=3,nolock,local_lock=all\n"
      "42 35 0:43 / /lustre rw - lustre mgs:/c rw,localflock\n"
      "43 35 0:44 / /lustre2 rw - lustre mgs:/d rw,flock\n";
  EXPECT_FALSE(locks_are_local(mounts, 98, 0));
  EXPECT_FALSE(locks_are_local(mounts, 0, 41));
  EXPECT_TRUE(locks_are_local(mounts, 0, 42));
  EXPECT_TRUE(locks_are_local(mounts, 0, 43));
  EXPECT_FALSE(locks_are_local(mounts, 0, 44));
  EXPECT_FALSE(locks_are_local("", 1, 2));
}

}  // namespace
}  // namespace locus
