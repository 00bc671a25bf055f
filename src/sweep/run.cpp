#include "sweep/run.h"

#include <fmt/core.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <deque>

#include "config/load.h"
#include "core/clock.h"
#include "core/error.h"
#include "io/file.h"
#include "io/system.h"
#include "run/claim.h"
#include "run/files.h"
#include "run/layout.h"
#include "sweep/collect.h"
#include "sweep/results.h"
#include "sweep/worker.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr double kCollectSeconds = 60;
constexpr double kOneQuestionSeconds = 0.5;

// A path that begins with a dash would be taken for an option.
std::string as_argument(const fs::path& path) {
  return path.native().starts_with('-') ? "./" + path.string() : path.string();
}

// Of no use any more; where it cannot be removed it does no harm, but a second try is cheap.
void discard(const fs::path& file) {
  for (int tries = 0; tries < 2; ++tries) {
    try {
      remove_file(file);
      return;
    } catch (const IoError&) {
      continue;
    }
  }
}

// Signals wait until they are asked for; the mask of before comes back at the end.
class SignalGuard {
 public:
  SignalGuard() {
    sigemptyset(&set_);
    for (const int s : {SIGCHLD, SIGTERM, SIGINT, SIGUSR1, SIGUSR2}) sigaddset(&set_, s);
    sigprocmask(SIG_BLOCK, &set_, &before_);
  }
  ~SignalGuard() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  // The next signal, or 0 after a second.
  int wait() const {
    const timespec second{1, 0};
    const int s = sigtimedwait(&set_, nullptr, &second);
    return s > 0 ? s : 0;
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
};

struct Waiting {
  const SweepCell* cell = nullptr;
  int attempt = 0;
};

struct Running {
  const SweepCell* cell = nullptr;
  Claim claim;
  WorkerProcess process;
  Clock::time_point start;
  bool lost = false;
};

class Scheduler {
 public:
  Scheduler(const SweepRun& run, const SweepHooks& hooks) : run_(run), hooks_(hooks), folder_(run.out) {}

  SweepOutcome all() {
    const SignalGuard guard;
    folder_.prepare();
    if (const ClaimMethod how = claim_method(folder_.cells()); how.kind == ClaimKind::kLease)
      message(how.reason + ": cells are claimed by leases, files that name their owner");
    folder_.write_plan(*run_.plan, run_.isa);
    require_plans(read_plans(folder_));  // before any work, not after hours of it
    began_files_ = fs::file_time_type::clock::now();
    progress_.total = static_cast<std::int64_t>(run_.cells.size());
    for (const std::int64_t i : run_.cells) count_or_queue(run_.plan->cells[static_cast<std::size_t>(i)]);
    if (run_.stop_signal != nullptr && run_.stop_signal->load() != 0) stop(SIGTERM, true);
    while (true) {
      if (!stopping_) fill();
      if (running_.empty() && (stopping_ || (queue_.empty() && busy_.empty()))) break;
      tick();
      const int signal = guard.wait();
      if (signal != 0 && signal != SIGCHLD) stop(SIGTERM, true);
      reap();
      guard_claims();
      if (run_.max_seconds > 0 && seconds_since(began_) > run_.max_seconds && !stopping_) stop(SIGTERM, true);
      collect_sometimes();
    }
    tick();
    if (run_.collect) collect_results(folder_);
    outcome_.left = progress_.total - progress_.done - progress_.failed;
    outcome_.finished = progress_.done;
    outcome_.seconds = seconds_since(began_);
    return outcome_;
  }

 private:
  void count_or_queue(const SweepCell& cell) {
    CellOutcome there = folder_.outcome(cell.hash, cell.steps);
    if (there.is_final()) {
      settle(cell, there);
    } else {
      queue_.push_back({&cell, 0});
    }
  }

  // Counts a cell that has come to its end, here or elsewhere.
  void settle(const SweepCell& cell, const CellOutcome& end) {
    if (end.status == CellStatus::kFinished) {
      ++progress_.done;
      discard(folder_.config(cell.hash));  // also what a killed sweep left of it
      discard(folder_.failure(cell.hash));
      const auto value = end.summary ? end.summary->find(metric()) : std::nullopt;
      if (value && std::isfinite(*value)) progress_.values.push_back(*value);
    } else {
      ++progress_.failed;
      outcome_.failures.push_back({&cell, end});
    }
  }

  const std::string& metric() {
    if (metric_.empty()) metric_ = run_.plan->watched();
    return metric_;
  }

  void fill() {
    while (static_cast<int>(running_.size()) < run_.jobs && !queue_.empty() && !stopping_) {
      const Waiting next = queue_.front();
      queue_.pop_front();
      if (!try_start(next)) busy_.push_back(next);
    }
    // What others work on is looked at again only when there is nothing else to do.
    for (std::size_t n = busy_.size(); n > 0 && static_cast<int>(running_.size()) < run_.jobs && !stopping_; --n) {
      const Waiting next = busy_.front();
      busy_.pop_front();
      if (!try_start(next)) busy_.push_back(next);
    }
  }

  // False when another process has the cell.
  bool try_start(const Waiting& next);
  bool failed_elsewhere(const std::string& hash, const CellOutcome& there) const;
  bool run_is_free(const std::string& hash);
  std::vector<std::string> worker_arguments(const SweepCell& cell) const;

  // A lease that someone removed or replaced is lost, and with it the right to write into the run.
  void guard_claims() {
    if (seconds_since(guarded_) < kClaimBeatSeconds) return;
    guarded_ = Clock::now();
    for (auto& [job, waiting] : running_) {
      if (job.lost || job.claim.kind() != ClaimKind::kLease || job.claim.still_mine()) continue;
      job.lost = true;
      message(fmt::format("cell {}: its lease {} was taken away; its process is stopped", job.cell->index,
                          folder_.lock(job.cell->hash).string()));
      ::kill(job.process.pid, SIGKILL);
    }
  }

  void fail(const Waiting& next, const CellOutcome& end, double seconds) {
    const bool again = next.attempt < run_.retry && !stopping_ && end.status != CellStatus::kDiverged;
    folder_.record_failure(next.cell->hash, run_.plan->name(*next.cell), end);
    event({again ? SweepEvent::Kind::kRetried : SweepEvent::Kind::kEnded, next.cell, end, seconds});
    if (again) {
      queue_.push_back({next.cell, next.attempt + 1});
      return;
    }
    settle(*next.cell, end);
    if (run_.fail_fast && !stopping_) stop(SIGTERM, false);
  }

  void reap() {
    for (std::size_t i = 0; i < running_.size();) {
      int status = 0;
      if (waitpid(running_[i].first.process.pid, &status, WNOHANG) != running_[i].first.process.pid) {
        ++i;
        continue;
      }
      auto [job, waiting] = std::move(running_[i]);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      ended(job, waiting, status);
    }
  }

  void ended(Running& job, const Waiting& waiting, int status) {
    const double seconds = seconds_since(job.start);
    CellOutcome end = worker_outcome(status, folder_, *job.cell, job.process.log_start);
    if (killing_ && end.status == CellStatus::kKilled) end.status = CellStatus::kInterrupted;  // by this sweep itself
    if (!end.is_final() && (job.lost || end.reason.starts_with("another process trains here"))) {
      busy_.push_back(waiting);  // a worker whose sweep is gone may still write its checkpoint
      job.claim.release();
      return;
    }
    if (end.status == CellStatus::kFinished) {
      settle(*job.cell, end);
      ++outcome_.ran;
      seconds_ += seconds;
      event({SweepEvent::Kind::kEnded, job.cell, end, seconds});
    } else if (end.status == CellStatus::kInterrupted) {
      event({SweepEvent::Kind::kEnded, job.cell, end, seconds});  // stays among the cells that are left
    } else {
      fail(waiting, end, seconds);
    }
    changed_ = true;
    job.claim.release();
  }

  void stop(int signal, bool outside) {
    // Asked twice: whoever asks does not want to wait for checkpoints. A batch system that tells every process, and a shell
    // that passes it on, ask once.
    killing_ = killing_ || (stopping_ && outside && seconds_since(asked_) > kOneQuestionSeconds);
    if (!stopping_) asked_ = Clock::now();
    // mpirun passes USR1 on to the ranks; at TERM it kills them before they have written a checkpoint.
    const int how = killing_ ? SIGKILL : run_.launcher.empty() ? signal : SIGUSR1;
    stopping_ = true;
    if (outside) outcome_.stopped = true;
    for (const auto& [job, waiting] : running_) ::kill(job.process.pid, how);
  }

  void message(const std::string& text) {
    if (hooks_.message) hooks_.message(text);
  }

  void event(const SweepEvent& e) {
    if (hooks_.event) hooks_.event(e);
  }

  void tick() {
    if (!hooks_.tick) return;
    progress_.running = static_cast<std::int64_t>(running_.size());
    progress_.elsewhere = static_cast<std::int64_t>(busy_.size());
    progress_.active.clear();
    for (const auto& [job, waiting] : running_) progress_.active.push_back(job.cell);
    if (outcome_.ran > 0) {
      double work = static_cast<double>(progress_.left() + progress_.running) * seconds_ / static_cast<double>(outcome_.ran);
      for (const auto& [job, waiting] : running_) work -= seconds_since(job.start);
      progress_.seconds_left = std::max(0.0, work / run_.jobs);
    }
    hooks_.tick(progress_);
  }

  // So that a look into the folder shows what there is; seldom enough to cost nothing.
  void collect_sometimes() {
    if (!run_.collect || !changed_ || seconds_since(collected_) < std::max(kCollectSeconds, 200 * collect_cost_)) return;
    const Clock::time_point start = Clock::now();
    try {
      collect_results(folder_, false, 1);
    } catch (const Error&) {
      changed_ = true;  // workers go on; the end of the sweep tries again and tells
    }
    collect_cost_ = seconds_since(start);
    collected_ = Clock::now();
    changed_ = false;
  }

  const SweepRun& run_;
  const SweepHooks& hooks_;
  SweepFolder folder_;
  SweepProgress progress_;
  SweepOutcome outcome_;
  std::string metric_;
  std::deque<Waiting> queue_;
  std::deque<Waiting> busy_;
  std::vector<std::pair<Running, Waiting>> running_;
  Clock::time_point began_ = Clock::now();
  Clock::time_point collected_ = Clock::now();
  Clock::time_point guarded_ = Clock::now();
  Clock::time_point asked_ = Clock::now();
  ClaimWatch watch_;
  fs::file_time_type began_files_;
  double seconds_ = 0;
  double collect_cost_ = 0;
  bool stopping_ = false;
  bool killing_ = false;
  bool changed_ = false;
};

std::vector<std::string> Scheduler::worker_arguments(const SweepCell& cell) const {
  std::vector<std::string> out = run_.launcher;
  out.insert(out.end(),
             {run_.launcher.empty() ? "locus" : run_.program, "train", as_argument(folder_.config(cell.hash)), "--quiet",
              "--threads", std::to_string(run_.threads), "--out", as_argument(folder_.run(cell.hash))});
  // Unless it is asked for: the sweep itself may have been started by something that looks like a launcher.
  if (run_.launcher.empty()) out.emplace_back("--no-mpi");
  if (!run_.baselines) out.emplace_back("--no-baselines");
  if (!run_.isa.empty()) out.insert(out.end(), {"--isa", run_.isa});
  return out;
}

bool Scheduler::try_start(const Waiting& next) {
  const SweepCell& cell = *next.cell;
  try {
    std::optional<Claim> claim = Claim::take(folder_.lock(cell.hash), &watch_);
    if (!claim || !run_is_free(cell.hash)) return false;
    const CellOutcome there = folder_.outcome(cell.hash, cell.steps);
    if (there.is_final() || (next.attempt == 0 && failed_elsewhere(cell.hash, there))) {
      settle(cell, there);
      event({SweepEvent::Kind::kEnded, &cell, there, 0});
      return true;
    }
    write_file_atomic(folder_.config(cell.hash), to_toml(run_.plan->config(cell)));
    WorkerStart start;
    start.log = folder_.log(cell.hash);
    start.claim_fd = claim->fd();
    start.program = run_.launcher.empty() ? run_.program : run_.launcher.front();
    start.arguments = worker_arguments(cell);
    const WorkerProcess process = start_worker(start);
    running_.emplace_back(Running{&cell, std::move(*claim), process, Clock::now()}, next);
    event({SweepEvent::Kind::kStarted, &cell, {}, 0});
  } catch (const Error& e) {
    const std::string reason = one_line(e);
    const bool full = reason.find("No space left") != std::string::npos;
    fail(next, {full ? CellStatus::kDiskFull : CellStatus::kFailed, reason, {}}, 0);
  }
  return true;
}

// A worker outlives a killed sweep for a moment, and where locks do not work the lease of a dead one stays in its run.
bool Scheduler::run_is_free(const std::string& hash) {
  const fs::path file = folder_.run(hash) / run_files::kLock;
  const std::optional<ClaimOwner> owner = claim_owner(file);
  if (!owner || owner->kind != ClaimKind::kLease) return true;  // a lock tells by itself, when the worker asks for it
  std::optional<Claim> claim = Claim::take(file, &watch_);
  if (!claim) return false;
  claim->leave();
  return true;
}

// Another sweep in this folder tried it while this one was waiting.
bool Scheduler::failed_elsewhere(const std::string& hash, const CellOutcome& there) const {
  std::error_code code;
  return there.is_failure() && fs::last_write_time(folder_.failure(hash), code) > began_files_ && !code;
}

}  // namespace

SweepOutcome run_cells(const SweepRun& run, const SweepHooks& hooks) { return Scheduler(run, hooks).all(); }

}  // namespace locus
