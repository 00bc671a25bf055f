// One training step: a batch in fixed shards, taken by threads (and processes) in any order, their gradients summed in shard
// order, so the result is the same for any number of them.
#pragma once

#include <memory>
#include <vector>

#include "core/matrix.h"
#include "core/parallel.h"
#include "infer/evaluate.h"
#include "model/encoder.h"
#include "train/ranks.h"

namespace locus {

// How a batch is cut: a function of the configuration alone.
std::int64_t shard_count(const RunConfig& config, std::int64_t tokens);

struct StepResult {
  double loss = 0;
  std::int64_t correct = 0;  // classification
  bool frozen = false;       // as the leader of several ranks said
  bool ended = false;        // the leader ended training: there was no step
};

class StepRunner {
 public:
  // With a team of several ranks, each has its part of the shards, and all end a step with the same sums.
  StepRunner(const ModelStructure& structure, ThreadPool& pool, RankTeam* team = nullptr);

  // Loss and gradients (in gradients()) of a batch at the parameters that `prepared` holds. A shard that throws ends the
  // step with its error, on any number of threads.
  StepResult run(const Prepared& prepared, const Examples& batch, const StepContext& step, bool frozen = false);
  const float* gradients() const { return total_.data(); }
  double loss_weight(const Examples& batch) const;

 private:
  float* shard_gradients(int shard, int worker);
  StepResult run_shard(std::int64_t shard, int worker, float* grads, const Prepared& prepared, const Examples& batch,
                       const StepContext& step);
  StepResult run_own_shards(const Prepared& prepared, const Examples& batch, const StepContext& step, bool frozen);
  const ModelStructure& s_;
  ThreadPool& pool_;
  RankTeam* team_;  // nullptr: alone
  std::int64_t shards_;
  ShardRange own_;  // those of this rank
  std::int64_t chunk_;
  std::vector<std::unique_ptr<EncoderPass>> passes_;  // one a worker
  std::vector<AlignedBuffer<float>> partial_;         // one a worker; with several ranks one a shard of this rank
  AlignedBuffer<float> total_;
};

}  // namespace locus
