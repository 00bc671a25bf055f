#include "core/parallel.h"

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/error.h"

namespace locus {

struct ThreadPool::Impl {
  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable finished;
  std::uint64_t generation = 0;
  int active = 0;
  bool stopping = false;

  int tasks = 0;
  const std::function<void(int, int)>* body = nullptr;
  std::atomic<int> next{0};
  int failed_task = -1;
  std::exception_ptr failure;

  void work(int worker) {
    for (int task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) {
      try {
        (*body)(task, worker);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (failed_task < 0 || task < failed_task) {
          failed_task = task;
          failure = std::current_exception();
        }
      }
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    wake.notify_all();
    for (std::thread& t : workers) t.join();
  }

  void loop(int worker) {
    std::uint64_t seen = 0;
    while (true) {
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return stopping || generation != seen; });
        if (stopping) return;
        seen = generation;
      }
      work(worker);
      const std::lock_guard lock(mutex);
      if (--active == 0) finished.notify_one();
    }
  }
};

ThreadPool::ThreadPool(int threads) : impl_(std::make_unique<Impl>()) {
  LOCUS_CHECK(threads >= 1, "a pool needs at least one thread");
  try {
    impl_->workers.reserve(static_cast<std::size_t>(threads));
    for (int w = 1; w < threads; ++w) impl_->workers.emplace_back([p = impl_.get(), w] { p->loop(w); });
  } catch (const std::exception& e) {
    // Threads that wait for work must end before what they wait on does.
    const std::size_t started = impl_->workers.size();
    impl_->stop();
    throw IoError(
        {.what = "cannot start as many threads",
         .got = std::to_string(threads) + " wanted, " + std::to_string(started + 1) + " there: " + e.what(),
         .hint = "ask for fewer with --threads, or raise the limits of processes (ulimit -u) and memory (ulimit -v)"});
  }
}

ThreadPool::~ThreadPool() { impl_->stop(); }

int ThreadPool::threads() const { return static_cast<int>(impl_->workers.size()) + 1; }

void ThreadPool::run(int tasks, const std::function<void(int, int)>& body) {
  Impl& p = *impl_;
  if (p.workers.empty() || tasks <= 1) {
    for (int task = 0; task < tasks; ++task) body(task, 0);
    return;
  }
  {
    const std::lock_guard lock(p.mutex);
    p.tasks = tasks;
    p.body = &body;
    p.next = 0;
    p.failed_task = -1;
    p.failure = nullptr;
    p.active = static_cast<int>(p.workers.size());
    ++p.generation;
  }
  p.wake.notify_all();
  p.work(0);
  std::unique_lock lock(p.mutex);
  p.finished.wait(lock, [&] { return p.active == 0; });
  if (p.failure) std::rethrow_exception(p.failure);
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace locus
