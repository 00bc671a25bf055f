// Tasks that work in any order on several threads and hand in their results one after another, in task order.
#pragma once

#include <functional>

#include "core/parallel.h"

namespace locus {

// Calls work(task, worker) for task = 0..tasks-1 and after it hand_in(task, worker), never two at once and always in order.
// A task that throws ends the wait of all others; what is rethrown is the exception of the lowest failed task.
void run_in_turns(ThreadPool& pool, int tasks, const std::function<void(int task, int worker)>& work,
                  const std::function<void(int task, int worker)>& hand_in);

}  // namespace locus
