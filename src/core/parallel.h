// A fixed pool of threads and one loop over tasks. The pool gives no order: a caller that needs
// bit-equal results writes each task's result to its own place and reduces in task order.
#pragma once

#include <functional>
#include <memory>

namespace locus {

class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // threads >= 1; 1 runs everything on the caller
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  // Calls body(task, worker) for task = 0..tasks-1, worker = 0..threads-1; tasks start in order.
  // Returns when all are done; rethrows the exception of the lowest failed task.
  void run(int tasks, const std::function<void(int task, int worker)>& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Cores this process may use (the affinity mask).
int usable_cores();

}  // namespace locus
