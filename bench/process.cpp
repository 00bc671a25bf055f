#include "bench/process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "bench/workloads.h"
#include "core/error.h"
#include "core/json.h"
#include "io/file.h"

extern char** environ;

namespace locus::bench {
namespace {

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> out;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string entry = *e;
    bool replaced = false;
    for (const auto& [name, value] : variables) replaced = replaced || entry.starts_with(name + "=");
    if (!replaced) out.push_back(entry);
  }
  for (const auto& [name, value] : variables) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& t : texts) out.push_back(t.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> peer_command(const PeerSpec& s) {
  const std::string path = fmt::format("{}/{}-{}-{}x{}.json", s.dir, s.mode, s.slice_last_layer ? "sliced" : "plain",
                                       s.torch_threads, s.blas_threads);
  const Json spec = {{"config", s.dir + "/" + kWorkloadConfig},
                     {"tensors", s.dir + "/" + kWorkloadTensors},
                     {"mode", s.mode},
                     {"slice_last_layer", s.slice_last_layer},
                     {"threads", s.torch_threads},
                     {"blas_threads", s.blas_threads},
                     {"optimizer", {{"kind", "adam"}, {"lr", 1e-4}}}};
  write_file_atomic(path, spec.dump(1));
  return {s.python, s.script, path};
}

}  // namespace

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

ChildProcess::ChildProcess(const std::vector<std::string>& command,
                           const std::vector<std::pair<std::string, std::string>>& variables)
    : name_(command.front()) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw IoError({.what = "no pipe", .where = name_});
  std::vector<std::string> arguments = command, environment = environment_with(variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  const int error = posix_spawnp(&pid_, command.front().c_str(), &actions, nullptr, pointers(arguments).data(),
                                 pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  to_ = fdopen(in[1], "w");
  from_ = fdopen(out[0], "r");
  if (error != 0) {
    pid_ = -1;
    throw IoError({.what = "cannot start a program", .where = name_, .got = std::strerror(error)});
  }
}

ChildProcess::~ChildProcess() { wait(); }

void ChildProcess::write_line(const std::string& text) {
  std::fputs((text + "\n").c_str(), to_);
  std::fflush(to_);
}

std::string ChildProcess::read_line() {
  std::string line;
  for (int c = std::fgetc(from_); c != EOF; c = std::fgetc(from_)) {
    if (c == '\n') return line;
    line += static_cast<char>(c);
  }
  throw IoError({.what = "a program of the benchmark ended too early", .where = name_, .got = line});
}

double ChildProcess::cpu_ms() const {
  clockid_t clock;
  timespec t{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &t) != 0) return 0;
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

int ChildProcess::wait() {
  if (to_ != nullptr) std::fclose(to_);
  if (from_ != nullptr) std::fclose(from_);
  to_ = from_ = nullptr;
  if (pid_ < 0) return 127;
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Peer::Peer(const PeerSpec& spec)
    : child_(peer_command(spec), {{"OPENBLAS_NUM_THREADS", std::to_string(spec.blas_threads)},
                                  {"OMP_NUM_THREADS", std::to_string(spec.blas_threads)},
                                  {"MKL_NUM_THREADS", std::to_string(spec.blas_threads)}}) {
  const std::string line = child_.read_line();
  std::istringstream words(line);
  std::string ready;
  if (!(words >> ready >> loss_ >> start_seconds_ >> blas_) || ready != "ready") {
    throw IoError({.what = "the PyTorch side of the benchmark does not answer as agreed",
                   .where = spec.script,
                   .got = line,
                   .expected = "ready LOSS SECONDS BLAS"});
  }
  if (blas_ == "reference") {
    throw DataError({.what = "PyTorch runs on the unoptimised reference BLAS: no fair comparison",
                     .where = spec.python,
                     .got = "libblas",
                     .expected = "OpenBLAS, MKL or BLIS",
                     .hint = "apt-get install libopenblas0-pthread (`./run bench` does it)"});
  }
}

StepTime Peer::milliseconds(int steps) {
  const double before = child_.cpu_ms();
  child_.write_line(fmt::format("go {}", steps));
  const double wall = std::stod(child_.read_line());
  return {wall, (child_.cpu_ms() - before) / steps};
}

std::int64_t Peer::stop() {
  child_.write_line("stop");
  return std::stoll(child_.read_line());
}

}  // namespace locus::bench
