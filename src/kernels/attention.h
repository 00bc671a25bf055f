// Softmax attention of one head of one sequence, forward and backward, by tiles: memory grows with T, not T^2.
// Letters: Q queries, T keys, D head width. Queries may be fewer than keys (only the tokens that are read).
#pragma once

#include <cstdint>

#include "core/matrix.h"

namespace locus::kernels {

// A rectangle of the attention pattern: its rows are queries, its columns keys col0 .. col0 + cols - 1.
struct AttentionTile {
  const std::int32_t* query_pos;  // (rows) position of each query among the keys
  std::int64_t rows;
  std::int64_t col0;
  std::int64_t cols;
  std::int64_t head;
};

// What an encoding adds inside attention. `q` is the query times the logit scale. Gradients of the encoding's own
// parameters go where the implementation keeps them.
class AttentionTerms {
 public:
  virtual ~AttentionTerms() = default;
  virtual bool biases_scores() const { return false; }
  virtual bool adds_to_output() const { return false; }
  virtual void score_bias(const AttentionTile&, ConstMat /*q*/, Mat /*scores*/) const {}
  virtual void score_bias_backward(const AttentionTile&, ConstMat /*q*/, ConstMat /*dscores*/, Mat /*dq*/) {}
  virtual void add_to_output(const AttentionTile&, ConstMat /*pattern*/, Mat /*out*/) const {}
  virtual void add_to_output_backward(const AttentionTile&, ConstMat /*pattern*/, ConstMat /*dout*/, Mat /*dpattern*/) {}
};

// Sees, and may change, the pattern of a tile (all keys) before it is used; forward only.
class PatternTap {
 public:
  virtual ~PatternTap() = default;
  virtual void on_pattern(const AttentionTile& tile, Mat pattern) = 0;
};

struct AttentionShape {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t head_width = 0;
  std::int64_t head = 0;
  float scale = 1;
  bool causal = false;
  const std::int32_t* query_pos = nullptr;  // (Q)
  float dropout = 0;
  std::uint64_t dropout_seed = 0;  // of this sequence and head
};

// Floats of scratch that forward and backward need.
std::int64_t attention_scratch(std::int64_t queries, std::int64_t keys, std::int64_t head_width);

// Floats of a row of a kept pattern: keys rounded up to whole panels.
std::int64_t pattern_stride(std::int64_t keys);

// out (Q,D), lse (Q) from q (Q,D), k (T,D), v (T,D). Where `pattern` (Q,T) is given, its rows at least pattern_stride(T)
// apart, it gets the softmax before dropout.
struct AttentionForward {
  ConstMat q, k, v;
  Mat out;
  float* lse;
  Mat pattern = {};
  AttentionTerms* terms = nullptr;
  PatternTap* tap = nullptr;
};
void attention_forward(const AttentionShape& shape, const AttentionForward& io, float* scratch);

// dq (Q,D), dk (T,D), dv (T,D) are overwritten. Without the forward pass's `pattern` it is computed again from lse.
struct AttentionBackward {
  ConstMat q, k, v, out, dout;
  const float* lse;
  ConstMat pattern = {};
  Mat dq, dk, dv;
  AttentionTerms* terms = nullptr;
};
void attention_backward(const AttentionShape& shape, const AttentionBackward& io, float* scratch);

}  // namespace locus::kernels
