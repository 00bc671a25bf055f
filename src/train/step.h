// One training step: a batch in fixed shards, taken by threads in any order, their gradients summed in shard order, so
// the result is the same for any number of threads.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "core/matrix.h"
#include "core/parallel.h"
#include "model/encoder.h"
#include "train/batches.h"

namespace locus {

// How a batch is cut: functions of the configuration alone.
std::int64_t shard_count(const RunConfig& config, std::int64_t tokens);
std::int64_t microbatch_sequences(const RunConfig& config, std::int64_t tokens);

struct StepResult {
  double loss = 0;
  std::int64_t correct = 0;  // classification
};

class StepRunner {
 public:
  StepRunner(const ModelStructure& structure, ThreadPool& pool);

  // Loss and gradients (in gradients()) of a batch at the parameters that `prepared` holds.
  StepResult run(const Prepared& prepared, const BatchData& batch, const StepContext& step);
  const float* gradients() const { return total_.data(); }
  double loss_weight(const BatchData& batch) const;

 private:
  StepResult run_shard(int shard, int worker, const Prepared& prepared, const BatchData& batch, const StepContext& step);
  const ModelStructure& s_;
  ThreadPool& pool_;
  std::int64_t shards_;
  std::int64_t chunk_;
  std::vector<std::unique_ptr<EncoderPass>> passes_;  // one a worker
  std::vector<AlignedBuffer<float>> partial_;         // one a worker
  AlignedBuffer<float> total_;
  std::mutex mutex_;
  std::condition_variable turn_;
  int next_shard_ = 0;
};

// Index of the largest output of each row.
std::int64_t argmax(const float* row, std::int64_t n);

}  // namespace locus
