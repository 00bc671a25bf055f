#include "cli/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

extern char** environ;

namespace locus::cli {

namespace {

// -1 when it cannot be started.
pid_t start(const std::vector<std::string>& command, posix_spawn_file_actions_t* actions) {
  std::vector<char*> arguments;
  for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  return posix_spawnp(&child, arguments[0], actions, nullptr, arguments.data(), environ) == 0 ? child : -1;
}

int end_of(pid_t child) {
  if (child < 0) return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string own_program() {
  const char* given = std::getenv("LOCUS_PROGRAM");
  return given != nullptr && *given != '\0' ? given : "/proc/self/exe";
}

int run_and_wait(const std::vector<std::string>& command) { return end_of(start(command, nullptr)); }

Captured run_and_capture(const std::vector<std::string>& command) {
  Captured out;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {127, ""};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  const pid_t child = start(command, &actions);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::array<char, 65536> block{};
  while (true) {
    const ssize_t n = ::read(ends[0], block.data(), block.size());
    if (n > 0) out.output.append(block.data(), static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) break;
  }
  ::close(ends[0]);
  out.code = end_of(child);
  return out;
}

}  // namespace locus::cli
