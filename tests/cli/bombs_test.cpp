// No file below 1 MB makes the program take over 1 GB or 10 seconds of the processor, whatever the command that reads it.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>

#include "tests/cli/cli_testing.h"
#include "tests/support/bombs.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

using cli_testing::Workplace;
namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 1'000'000;
constexpr long kMostKilobytes = 1'000'000;
constexpr double kMostSeconds = 10;

struct Usage {
  int status = 0;
  long kilobytes = 0;
  double seconds = 0;  // of the processor: the machine may be busy
};

Usage run(const std::vector<std::string>& arguments, const fs::path& folder) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) ::dup2(null, fd);
    ::setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
    const rlimit cpu{60, 60};
    ::setrlimit(RLIMIT_CPU, &cpu);
    std::vector<char*> argv;
    std::string program = locus::test::binary();
    argv.push_back(program.data());
    std::vector<std::string> copy = arguments;
    for (std::string& a : copy) argv.push_back(a.data());
    argv.push_back(nullptr);
    if (::chdir(folder.c_str()) == 0) ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  Usage usage;
  rusage used{};
  ::wait4(child, &usage.status, 0, &used);
  usage.kilobytes = used.ru_maxrss;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  usage.seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  return usage;
}

class BombsTest : public testing::TestWithParam<bombs::Bomb> {};

TEST_P(BombsTest, takes_little_memory_and_time) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  const Workplace place("bombs");
  const std::string file = GetParam().file;
  GetParam().write(place / file);
  ASSERT_LT(fs::file_size(place / file), kMostBytes) << file;
  cli_testing::write(place / "small.csv", "a,b,c\n1.5,2,3\n2,1,7\n3,5,1\n1,4,4\n2,2,9\n");
  const std::vector<std::vector<std::string>> commands = {{"inspect", file},
                                                          {"fmri", "check", file},
                                                          {"fit", file, "--out", "out", "stop.steps=1"},
                                                          {"fmri", "check", "small.csv", "--atlas", file}};
  for (const std::vector<std::string>& command : commands) {
    const Usage usage = run(command, place.folder());
    EXPECT_TRUE(WIFEXITED(usage.status)) << command[0] << " ended by signal " << WTERMSIG(usage.status);
    EXPECT_LE(usage.kilobytes, kMostKilobytes) << command[0] << " " << file;
    EXPECT_LE(usage.seconds, kMostSeconds) << command[0] << " " << file;
    RecordProperty(command[0] + "_MB", static_cast<int>(usage.kilobytes / 1000));
  }
}

std::string bomb_name(const testing::TestParamInfo<bombs::Bomb>& given) {
  std::string name = given.param.file;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Corpus, BombsTest, testing::ValuesIn(bombs::corpus()), bomb_name);

}  // namespace
}  // namespace locus
