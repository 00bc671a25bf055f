// Joined projections. With one head, softmax sees queries and keys only through x W_q^T W_k y, and the residual stream sees
// values only through W_out W_v: two products a token instead of four, keys are the tokens themselves. b_k shifts all scores
// of a query alike and drops out; the rows of a pattern sum to 1, so b_v and b_out go with the values. Exact up to rounding.
#pragma once

#include "core/matrix.h"
#include "kernels/gemm.h"
#include "model/structure.h"

namespace locus {

struct PackedLinear {
  kernels::Packed forward;   // W^T: (in, out)
  kernels::Packed backward;  // W: (out, in)
  const float* bias = nullptr;
};

// The two joined layers of a block, renewed with the parameters.
class JoinedWeights {
 public:
  JoinedWeights(const ModelStructure& structure, std::int64_t layer);
  void update(const float* params);

  const PackedLinear& query() const { return query_; }  // W_k^T W_q, bias W_k^T b_q
  const PackedLinear& value() const { return value_; }  // W_out W_v, bias W_out b_v + b_out

 private:
  void pack_both(ConstMat w, float* packed, PackedLinear& out) const;
  const ModelStructure& s_;
  const BlockSlots& slots_;
  AlignedBuffer<float> product_, bias_, scratch_, packed_;
  PackedLinear query_, value_;
};

// Gradients of the joined layers, summed over a shard and then carried on to the four layers behind them.
class JoinedGradients {
 public:
  JoinedGradients(const ModelStructure& structure, std::int64_t layer);
  void clear();
  Mat query() { return {sums_.data(), width_, width_}; }
  Mat value() { return {sums_.data() + width_ * width_, width_, width_}; }
  float* query_bias() { return sums_.data() + 2 * width_ * width_; }
  float* value_bias() { return query_bias() + width_; }
  void add_to(const float* params, float* grads);

 private:
  const ModelStructure& s_;
  const BlockSlots& slots_;
  std::int64_t width_;
  AlignedBuffer<float> sums_, packed_, scratch_;
};

}  // namespace locus
