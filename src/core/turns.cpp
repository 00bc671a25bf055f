#include "core/turns.h"

#include <condition_variable>
#include <mutex>

namespace locus {

void run_in_turns(ThreadPool& pool, int tasks, const std::function<void(int, int)>& work,
                  const std::function<void(int, int)>& hand_in) {
  std::mutex mutex;
  std::condition_variable turn;
  int next = 0;
  bool failed = false;
  const auto say = [&](auto&& change) {
    {
      const std::lock_guard lock(mutex);
      change();
    }
    turn.notify_all();
  };
  pool.run(tasks, [&](int task, int worker) {
    try {
      work(task, worker);
      {
        std::unique_lock lock(mutex);
        turn.wait(lock, [&] { return failed || next == task; });
        if (failed) return;
      }
      hand_in(task, worker);
    } catch (...) {
      say([&] { failed = true; });
      throw;
    }
    say([&] { ++next; });
  });
}

}  // namespace locus
