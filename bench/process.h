// A child process talked to line by line, and its PyTorch form.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace locus::bench {

std::string this_program();  // path of the running binary

class ChildProcess {
 public:
  // The environment is ours with `variables` set over it. IoError when the program cannot be started.
  ChildProcess(const std::vector<std::string>& command, const std::vector<std::pair<std::string, std::string>>& variables);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void write_line(const std::string& text);
  std::string read_line();  // IoError when the child ended
  int wait();               // exit code
  double cpu_ms() const;    // processor time used so far, all threads

 private:
  std::string name_;
  pid_t pid_ = -1;
  FILE* to_ = nullptr;
  FILE* from_ = nullptr;
};

// bench_peer.py on one exported workload.
struct PeerSpec {
  std::string python;
  std::string script;
  std::string dir;  // of export_workload
  std::string mode = "train";
  bool slice_last_layer = false;
  int torch_threads = 1;
  int blas_threads = 1;
};

// Milliseconds a step: on the clock, and of processor time, which does not count what other processes take.
struct StepTime {
  double wall = 0;
  double cpu = 0;
};

class Peer {
 public:
  explicit Peer(const PeerSpec& spec);

  double loss() const { return loss_; }
  double start_seconds() const { return start_seconds_; }
  const std::string& blas() const { return blas_; }
  StepTime milliseconds(int steps);
  std::int64_t stop();  // peak memory in kB

 private:
  ChildProcess child_;
  double loss_ = 0;
  double start_seconds_ = 0;
  std::string blas_;
};

}  // namespace locus::bench
