// Optimisers over a model's arena, with learning rate and decay chosen for each tensor by name, and the schedule.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"
#include "core/matrix.h"
#include "core/parallel.h"
#include "model/layout.h"
#include "train/optimizers.h"

namespace locus {

// "*pe.*" against "blocks.0.pe.table": * is any text, ? any character.
bool matches_pattern(std::string_view pattern, std::string_view name);

// What one tensor gets.
struct TensorGroup {
  double lr_factor = 1;
  double decay_factor = 1;
};
std::vector<TensorGroup> tensor_groups(const OptimConfig& config, const ParamLayout& layout);

// Learning rate of a step (0, 1, ...).
double scheduled_lr(const OptimConfig& config, std::int64_t step);

class Optimizer {
 public:
  Optimizer(const OptimConfig& config, const ParamLayout& layout);

  // One update with gradients `grads`; `skip` (one flag a tensor, may be empty) leaves tensors as they are.
  // Returns the gradient's norm over trained tensors before clipping. A pool shares the work; the result is the same.
  double update(std::int64_t step, const float* grads, float* params, const std::vector<bool>& skip,
                ThreadPool* pool = nullptr);

  double gradient_norm(const float* grads, ThreadPool* pool = nullptr) const;

  // What it keeps between steps, for checkpoints: as many arrays as its row says.
  std::vector<AlignedBuffer<float>>& states() { return states_; }
  const std::vector<TensorGroup>& groups() const { return groups_; }

 private:
  // A stretch of a trained tensor, the work of one task.
  struct Piece {
    std::size_t slot;
    std::int64_t offset, size;
  };
  void update_piece(const Piece& piece, std::int64_t step, float scale, const float* grads, float* params);

  OptimConfig config_;
  const OptimizerRow& row_;
  std::vector<Piece> pieces_;
  std::vector<TensorGroup> groups_;
  std::vector<AlignedBuffer<float>> states_;
};

}  // namespace locus
