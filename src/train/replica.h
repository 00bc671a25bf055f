// A copy of a model in training, as every process that trains one run has it: the same on all of them after every step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/matrix.h"
#include "core/parallel.h"
#include "data/examples.h"
#include "model/encoder.h"
#include "train/batches.h"
#include "train/optimizer.h"
#include "train/step.h"
#include "train/transfer.h"

namespace locus {

class Replica {
 public:
  // Parameters as they begin.
  Replica(const RunConfig& config, const Dataset& dataset, int threads, RankTeam* team);

  // The rest of a training whose leader is another rank. Its folder is not this one's business.
  void follow(RankTeam& team);

 protected:
  // Loss and gradients of the batch of a step.
  StepResult compute(std::int64_t step, bool frozen);
  void update(std::int64_t step, bool frozen);
  std::string identity_text() const;  // of what is computed, for the comparison between ranks
  std::vector<std::span<float>> arrays();

  RunConfig config_;
  const Dataset& dataset_;
  ModelStructure structure_;
  ThreadPool pool_;
  AlignedBuffer<float> params_;
  Optimizer optimizer_;
  Prepared prepared_;
  StepRunner runner_;
  TrainingBatches batches_;
  Examples batch_;
  std::vector<bool> pe_slots_;
  std::vector<double> pe_norms_;
  Transfer transfer_;  // what another run gave

 private:
  void clamp_pe();
};

}  // namespace locus
