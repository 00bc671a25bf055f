#include "sweep/worker.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/error.h"
#include "core/text.h"
#include "io/file.h"
#include "run/files.h"
#include "run/layout.h"

namespace locus {
namespace {

constexpr int kExitCheckpointed = 75;
constexpr int kExitNoProgram = 127;
constexpr std::uint64_t kTailBytes = 16 << 10;
constexpr std::uint64_t kAlmostNothing = 1 << 20;

// Only calls that are safe between fork and exec.
[[noreturn]] void become_worker(const WorkerStart& start, char* const* argv, int log, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kExitCheckpointed);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Where memory is short the system shall end a worker, not the sweep.
  const int oom = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (oom >= 0) {
    if (::write(oom, "500", 3) < 0) ::close(oom);
  }
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null >= 0) ::dup2(null, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  if (start.claim_fd >= 0) ::fcntl(start.claim_fd, F_SETFD, 0);
  ::execvp(start.program.c_str(), argv);
  const char message[] = "error: cannot start the program\n";
  if (::write(STDERR_FILENO, message, sizeof message - 1) < 0) ::_exit(kExitNoProgram);
  ::_exit(kExitNoProgram);
}

// The attempt's last lines.
std::string log_tail(const std::filesystem::path& file, std::uint64_t start) {
  const Descriptor open_log = open_path(file, O_RDONLY);
  const int fd = open_log.get();
  if (fd < 0) return "";
  struct stat info {};
  std::string text;
  if (::fstat(fd, &info) == 0) {
    const auto size = static_cast<std::uint64_t>(info.st_size);
    const std::uint64_t from = std::max(start, size > kTailBytes ? size - kTailBytes : 0);
    text.resize(size > from ? size - from : 0);
    const ssize_t n = ::pread(fd, text.data(), text.size(), static_cast<off_t>(from));
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  }
  return text;
}

// The last error message in the log, on one line.
std::string error_line(const std::string& tail) {
  const std::size_t at = tail.rfind("error: ");
  if (at == std::string::npos) return "";
  std::string out;
  for (const std::string& line : split(tail.substr(at + 7), '\n')) {
    const std::string text(trim(line));
    if (text.empty() || text.starts_with("hint:")) break;
    out += (out.empty() ? "" : "; ") + text;
  }
  if (out.size() > 400) out = out.substr(0, 400) + "...";
  return out;
}

CellOutcome signal_outcome(int number) {
  const std::string name = fmt::format("{} (signal {})", ::strsignal(number), number);
  switch (number) {
    case SIGKILL:
      return {CellStatus::kKilled, name + ": by hand, or by the system because memory was short", {}};
    case SIGTERM:
    case SIGINT:
      return {CellStatus::kInterrupted, name, {}};
    default:
      return {CellStatus::kCrashed, name, {}};
  }
}

}  // namespace

WorkerProcess start_worker(const WorkerStart& start) {
  WorkerProcess worker;
  const Descriptor file = open_path(start.log, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (!file.ok()) throw_system_error("cannot write the log of a cell", start.log, errno);
  const int log = file.get();
  struct stat info {};
  if (::fstat(log, &info) == 0) worker.log_start = static_cast<std::uint64_t>(info.st_size);
  const std::string head = fmt::format("== {} {}\n", utc_now(), join(start.arguments, " "));
  const ssize_t written = uninterrupted([&] { return ::write(log, head.data(), head.size()); });
  std::vector<char*> argv;
  for (const std::string& a : start.arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  worker.pid = ::fork();
  if (worker.pid == 0) become_worker(start, argv.data(), log, parent);
  const int code = errno;
  if (worker.pid < 0) throw_system_error("cannot start a process", start.program, written < 0 ? ENOSPC : code);
  return worker;
}

CellOutcome worker_outcome(int wait_status, const SweepFolder& folder, const SweepCell& cell, std::uint64_t log_start) {
  // Whatever ended the process: a summary is written last, so the cell is done.
  CellOutcome there = folder.outcome(cell.hash, cell.steps);
  if (there.is_final()) return there;
  if (WIFSIGNALED(wait_status)) return signal_outcome(WTERMSIG(wait_status));
  const int code = WEXITSTATUS(wait_status);
  const std::string tail = log_tail(folder.log(cell.hash), log_start);
  std::string reason = error_line(tail);
  const auto says = [&](std::string_view text) { return tail.find(text) != std::string::npos; };
  if (code == kExitCheckpointed) return {CellStatus::kInterrupted, "checkpointed before its end", {}};
  if (says("No space left on device") || says("not enough disk space") || says("Disk quota exceeded"))
    return {CellStatus::kDiskFull, reason, {}};
  if (says("out of memory") || says("bad_alloc") || says("Cannot allocate memory"))
    return {CellStatus::kOutOfMemory, reason.empty() ? "out of memory" : reason, {}};
  if (says("training diverged")) return {CellStatus::kDiverged, reason, {}};
  std::uint64_t free = kAlmostNothing;
  try {
    free = disk_free(folder.path());
  } catch (const IoError&) {
    free = kAlmostNothing;
  }
  if (free < kAlmostNothing) return {CellStatus::kDiskFull, fmt::format("exit code {} with a full disk", code), {}};
  if (reason.empty()) reason = fmt::format("exit code {}", code);
  return {CellStatus::kFailed, reason, {}};
}

}  // namespace locus
