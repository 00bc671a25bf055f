// From the last block's tokens to outputs and loss, and back.
#pragma once

#include "core/matrix.h"
#include "model/block.h"
#include "model/microbatch.h"
#include "model/structure.h"
#include "model/weights.h"

namespace locus {

// The tokens that the head reads in each sequence (readout = mean and flat read all).
RowSet rows_read(const ModelStructure& structure, const Microbatch& batch);
RowSet every_row(const ModelStructure& structure, std::int64_t sequences);
std::int64_t max_rows_read(const ModelStructure& structure, std::int64_t sequences);

class ReadoutPass {
 public:
  ReadoutPass(const ModelStructure& structure, const Capacity& capacity);

  // x (tokens given, C): all tokens, or only `rows` when `only_rows`. Returns outputs (examples or rows read, O).
  Mat forward(const PackedWeights& weights, const Microbatch& batch, const RowSet& rows, bool only_rows, Mat x);

  // The weighted loss of the outputs; leaves their gradient for backward.
  double loss(const Microbatch& batch, const RowSet& rows, double weight);

  // Instead of a loss: the gradient that backward starts from is that of one output alone.
  void select_output(std::int64_t row, std::int64_t column);

  // dx like x in forward, overwritten.
  void backward(const PackedWeights& weights, const Microbatch& batch, const RowSet& rows, bool only_rows, float* grads,
                Mat dx);

 private:
  bool reads_rows() const;
  void linear_backward(const PackedLinear& packed, const Linear& l, ConstMat input, ConstMat dy, float* grads, Mat dinput);
  const ModelStructure& s_;
  std::int64_t input_width_;
  std::int64_t outputs_rows_ = 0;
  Mat input_, out_;
  Buffer read_, dread_, slope_, active_, dhidden_, outputs_, doutputs_, product_;
  Buffer normalized_, hat_, rstd_;
};

}  // namespace locus
