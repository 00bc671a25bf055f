// Temporary files: names that nobody else makes, and nobody takes away what another process writes.
#include "io/temporary.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <regex>
#include <set>

#include "io/file.h"
#include "tests/io/support.h"

namespace {
// What was synced in this program, by path; the next `interruptions` calls are interrupted.
std::multiset<std::string> synced;
int interruptions = 0;
}  // namespace

extern "C" int fsync(int fd) {
  if (interruptions > 0) {
    --interruptions;
    errno = EINTR;
    return -1;
  }
  synced.insert(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd)).string());
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace locus {
namespace {

using io_test::Scratch;
namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Another process that writes a temporary file in `folder` until it is killed. Its pid says nothing here: in a namespace of
// its own it could be any.
class Writer {
 public:
  explicit Writer(const fs::path& folder) {
    std::array<int, 2> ready{};
    if (::pipe(ready.data()) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      const TemporaryFile file(folder / "model");
      file.write(bytes_of("half"));
      if (::write(ready[1], "x", 1) == 1) ::pause();
      ::_exit(0);
    }
    char c = 0;
    EXPECT_EQ(::read(ready[0], &c, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  ~Writer() { kill(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

 private:
  pid_t pid_ = 0;
};

TEST(TemporaryTest, a_file_that_is_being_written_stays_and_goes_when_its_writer_is_killed) {
  const Scratch scratch;
  Writer writer(scratch.path());
  EXPECT_EQ(remove_stale_temporaries(scratch.path()), 0);
  EXPECT_EQ(remove_stale_temporaries(scratch.path(), FolderOwner::kCaller), 0);
  EXPECT_EQ(names_in(scratch.path()).size(), 1U);
  writer.kill();
  EXPECT_EQ(names_in(scratch.path()).size(), 1U) << "a killed process leaves its file";
  EXPECT_EQ(remove_stale_temporaries(scratch.path()), 1);
  EXPECT_TRUE(names_in(scratch.path()).empty());
}

TEST(TemporaryTest, names_tell_host_boot_and_writer_and_are_never_the_same) {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) names.insert(temporary_name("folder/model").string());
  EXPECT_EQ(names.size(), 1000U) << "a process with the same pid, restarted, must not meet its own leftover";
  const std::string name = fs::path(*names.begin()).filename().string();
  EXPECT_TRUE(std::regex_match(name, std::regex(R"(\.model\.tmp-[0-9a-f]{8}-[0-9a-f]{8}-[0-9]+-[0-9a-f]{16})"))) << name;
  EXPECT_TRUE(is_temporary_name(name));
  EXPECT_FALSE(is_temporary_name("model.tmp-1"));
  EXPECT_LT(temporary_name(std::string(250, 'x')).filename().string().size(), 255U) << "a long name still has one";
}

TEST(TemporaryTest, what_another_machine_or_an_earlier_version_left_goes_after_a_day) {
  const Scratch scratch;
  for (const char* name : {".a.tmp-0123abcd-4567cdef-12-0123456789abcdef", ".b.tmp-12-0"})
    write_file_atomic(scratch / name, std::string_view("x"));
  EXPECT_EQ(remove_stale_temporaries(scratch.path()), 0) << "its locks may not reach here";
  for (const std::string& name : names_in(scratch.path())) {
    const fs::path file = scratch / name;
    fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(25));
  }
  EXPECT_EQ(remove_stale_temporaries(scratch.path()), 2);
}

TEST(TemporaryTest, nothing_but_plain_files_of_such_names_goes) {
  const Scratch scratch;
  const auto like = [&](const char* name) { return temporary_name(scratch / name); };
  write_file_atomic(scratch / "model", std::string_view("x"));
  fs::create_directories(like("folder"));
  fs::create_symlink(scratch / "model", like("link"));
  ASSERT_EQ(::mkfifo(like("pipe").c_str(), 0600), 0);
  EXPECT_EQ(remove_stale_temporaries(scratch.path()), 0);
  EXPECT_EQ(names_in(scratch.path()).size(), 4U);
}

TEST(TemporaryTest, without_an_end_nothing_is_left) {
  const Scratch scratch;
  { TemporaryFile(scratch / "a").write(bytes_of("x")); }
  EXPECT_TRUE(names_in(scratch.path()).empty());
  TemporaryFile file(scratch / "a");
  file.write(bytes_of("whole"));
  file.put_in_place();
  EXPECT_EQ(read_text_file(scratch / "a"), "whole");
}

TEST(SystemTest, the_parents_of_new_folders_are_synced) {
  const Scratch scratch;
  const fs::path root = fs::canonical(scratch.path());
  synced.clear();
  ensure_writable_directory(root / "a/b/c");
  for (const fs::path& parent : {root, root / "a", root / "a/b"})
    EXPECT_EQ(synced.count(parent.string()), 1U) << parent << ": its new entry could be lost";
}

TEST(SystemTest, interrupted_calls_are_made_again) {
  const Scratch scratch;
  interruptions = 3;
  write_file_atomic(scratch / "a", std::string_view("x"));
  EXPECT_EQ(interruptions, 0);
  EXPECT_EQ(read_text_file(scratch / "a"), "x");
}

TEST(SystemTest, folders_are_made_with_any_spelling_and_never_over_files) {
  const Scratch scratch;
  for (const char* name : {"a/b/", "a//c", "./d/./e", "f/../g"}) {
    make_folders(scratch / name);
    EXPECT_TRUE(fs::is_directory((scratch / name).lexically_normal())) << name;  // f itself is not made
  }
  write_file_atomic(scratch / "file", std::string_view("x"));
  EXPECT_THROW(make_folders(scratch / "file"), IoError);
  EXPECT_THROW(make_folders(scratch / "file/below"), IoError);
  EXPECT_THROW(make_folder(scratch / "no/parent"), IoError);
}

}  // namespace
}  // namespace locus
