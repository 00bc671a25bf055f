#include "io/file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>

#include "core/hash.h"
#include "io/array.h"
#include "tests/io/support.h"

namespace locus {
namespace {

using io_test::error_text;
using io_test::Scratch;
namespace fs = std::filesystem;

int files_in(const fs::path& folder) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++count;
  return count;
}

TEST(FileTest, reads_back_what_was_written) {
  const Scratch scratch;
  write_file_atomic(scratch / "a.txt", std::string_view("first"));
  write_file_atomic(scratch / "a.txt", std::string_view("second"));
  EXPECT_EQ(read_text_file(scratch / "a.txt"), "second");
  EXPECT_EQ(as_text(read_file(scratch / "a.txt")), "second");
  EXPECT_EQ(files_in(scratch.path()), 1) << "no temporary file stays";
  write_file_atomic(scratch / "empty", std::string_view(""));
  EXPECT_TRUE(read_file(scratch / "empty").empty());
}

TEST(FileTest, says_what_is_wrong_with_a_path) {
  const Scratch scratch;
  EXPECT_NE(error_text([&] { read_file(scratch / "absent"); }).find("No such file"), std::string::npos);
  EXPECT_NE(error_text([&] { read_file(scratch.path()); }).find("folder"), std::string::npos);
  EXPECT_THROW(write_file_atomic(scratch / "no/such/folder", std::string_view("x")), IoError);
  write_file_atomic(scratch / "big", std::string_view("0123456789"));
  EXPECT_THROW(read_file(scratch / "big", 9), IoError);
  EXPECT_EQ(read_file(scratch / "big", 10).size(), 10u);
}

// A pipe without a writer must not hang a reader; with one it gives its bytes once, but data are read and then hashed.
TEST(FileTest, pipes_and_devices_are_refused_at_once) {
  const Scratch scratch;
  for (const char* name : {"pipe", "pipe.csv", "pipe.h5", "pipe.mat", "pipe.npz", "pipe.nii.gz", "pipe.safetensors"}) {
    const fs::path pipe = scratch / name;
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    ::alarm(20);  // a reader that hangs ends the program, which is the failure
    EXPECT_NE(error_text([&] { read_file(pipe); }).find("not a file"), std::string::npos) << name;
    EXPECT_NE(error_text([&] { read_text_file(pipe); }).find("not a file"), std::string::npos) << name;
    EXPECT_NE(error_text([&] { file_sha256(pipe); }).find("not a file"), std::string::npos) << name;
    EXPECT_NE(error_text([&] { read_matrix(pipe); }).find("not a file"), std::string::npos) << name;
    EXPECT_NE(error_text([&] { list_arrays(pipe); }).find("not a file"), std::string::npos) << name;
    ::alarm(0);
  }
  EXPECT_NE(error_text([] { read_file("/dev/zero"); }).find("not a file"), std::string::npos);
}

TEST(FileTest, a_failed_write_leaves_the_old_file_and_no_temporary) {
  const Scratch scratch;
  write_file_atomic(scratch / "a", std::string_view("old"));
  const pid_t child = ::fork();
  if (child == 0) {
    // A file size limit makes write() fail half-way, as a full disk does.
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_file_atomic(scratch / "a", Bytes(5000));
    } catch (const IoError&) {
      ::_exit(0);
    }
    ::_exit(1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_text_file(scratch / "a"), "old");
  EXPECT_EQ(files_in(scratch.path()), 1);
}

TEST(FileTest, a_full_disk_is_an_error_with_a_hint) {
  const Scratch scratch;
  const std::string folder = scratch.path().string();
  if (io_test::run_command("mount -t tmpfs -o size=64k tmpfs " + folder).status != 0) {
    GTEST_SKIP() << "mounting a small file system needs root";
  }
  write_file_atomic(scratch / "a", std::string_view("old"));
  EXPECT_LE(disk_free(folder), 65536u);
  const std::string message = error_text([&] { write_file_atomic(scratch / "a", Bytes(200000)); });
  EXPECT_NE(message.find("the disk or the quota is full"), std::string::npos) << message;
  EXPECT_EQ(read_text_file(scratch / "a"), "old");
  EXPECT_EQ(files_in(folder), 1);
  write_file_atomic(scratch / "rest", Bytes(disk_free(folder) - 4096));
  EXPECT_NE(error_text([&] {
              write_file_atomic(scratch / "last", Bytes(4096));
              ensure_writable_directory(folder);
            }).find("full"),
            std::string::npos);
  io_test::run_command("umount " + folder);
}

TEST(FileTest, ensure_writable_directory_makes_parents_and_refuses_files) {
  const Scratch scratch;
  ensure_writable_directory(scratch / "a/b/c");
  EXPECT_TRUE(fs::is_directory(scratch / "a/b/c"));
  EXPECT_EQ(files_in(scratch / "a/b/c"), 0);
  write_file_atomic(scratch / "file", std::string_view("x"));
  EXPECT_THROW(ensure_writable_directory(scratch / "file"), IoError);
  EXPECT_THROW(ensure_writable_directory(scratch / "file/below"), IoError);
  if (::geteuid() != 0) {
    fs::permissions(scratch / "a", fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_NE(error_text([&] { ensure_writable_directory(scratch / "a"); }).find("permission"), std::string::npos);
    fs::permissions(scratch / "a", fs::perms::owner_all);
  }
}

TEST(FileTest, globs_are_sorted_and_must_match) {
  const Scratch scratch;
  for (const char* name : {"b.csv", "a10.csv", "a9.csv", "B.csv", "c.txt", "odd[1].csv"}) {
    write_file_atomic(scratch / name, std::string_view("x"));
  }
  std::vector<std::string> names;
  for (const fs::path& p : expand_glob((scratch / "*.csv").string())) names.push_back(p.filename());
  EXPECT_EQ(names, (std::vector<std::string>{"B.csv", "a10.csv", "a9.csv", "b.csv", "odd[1].csv"}));
  EXPECT_EQ(expand_glob((scratch / "odd[1].csv").string()).size(), 1u) << "an existing file stands for itself";
  EXPECT_EQ(expand_glob((scratch / "{b,c}.*").string()).size(), 2u);
  EXPECT_THROW(expand_glob((scratch / "*.nii").string()), IoError);
  EXPECT_THROW(expand_glob((scratch / "**/*.csv").string()), IoError) << "not what it means elsewhere";
}

TEST(FileTest, hashes_and_free_space) {
  const Scratch scratch;
  const std::string text(3000001, 'x');
  write_file_atomic(scratch / "a", text);
  EXPECT_EQ(file_sha256(scratch / "a"), sha256_hex(text));
  EXPECT_GT(disk_free(scratch / "not/there/yet"), 0u);
}

}  // namespace
}  // namespace locus
