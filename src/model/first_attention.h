// Attention of the first block where tokens are ids: a token there is one of a few (variant, position) pairs, so scores are
// looked up in a table of all pairs, and W_out is applied to the values of pairs instead of to the output of every token.
// One head, positions added to the input at most. Exact up to rounding.
#pragma once

#include "core/matrix.h"
#include "model/block.h"
#include "model/embedding.h"
#include "model/structure.h"
#include "model/weights.h"

namespace locus {

// P pairs: variant * T + position.
inline constexpr std::int64_t kMostPairs = 192;

// What all passes share, renewed with the parameters.
class FirstAttentionTable {
 public:
  explicit FirstAttentionTable(const ModelStructure& structure);
  // split_tokens (variants, 4C), split_positions (T, 4C): token, query, key, value parts of a pair, which add up.
  void update(const PackedBlock& weights, ConstMat split_tokens, ConstMat split_positions);

  std::int64_t pairs() const { return pairs_; }
  float scale() const { return scale_; }
  ConstMat query() const { return query_; }    // (P,C)
  ConstMat key() const { return key_; }        // (P,C)
  ConstMat value() const { return value_; }    // (P,C)
  ConstMat scores() const { return scores_; }  // (P,P) scaled
  ConstMat output() const { return output_; }  // (P,C) W_out value + bias

 private:
  const ModelStructure& s_;
  std::int64_t pairs_;
  float scale_;
  Buffer query_buffer_, key_buffer_, value_buffer_, scores_buffer_, output_buffer_, packed_key_;
  Mat query_, key_, value_, scores_, output_;
};

// A thread's own part: patterns of a micro-batch, gradients of the table summed over a shard.
class FirstAttention {
 public:
  FirstAttention(const ModelStructure& structure, const Capacity& capacity);

  // out (B*T, C): what attention adds to the residual stream.
  void forward(const FirstAttentionTable& table, const Microbatch& batch, Mat out);
  void begin_shard();
  void backward(const FirstAttentionTable& table, const Microbatch& batch, ConstMat dout);
  // Adds the gradient of W_out, and of the split parts (variants, 4C), (T, 4C).
  void end_shard(const FirstAttentionTable& table, const PackedBlock& weights, float* grads, Mat dtokens, Mat dpositions);

 private:
  const std::int64_t* pairs_of(const Microbatch& batch, std::int64_t sequence);
  Mat pattern(std::int64_t sequence) { return {patterns_.data() + sequence * s_.tokens * columns_, s_.tokens, columns_}; }
  void add_parts(ConstMat dpairs, std::int64_t part, Mat dtokens, Mat dpositions) const;

  const ModelStructure& s_;
  Embedding embedding_;
  std::int64_t columns_;  // T, padded to whole panels
  std::vector<std::int64_t> pair_;
  Buffer patterns_, rows_, packed_, dpattern_, lse_, product_;
  Buffer dscores_, doutput_;
  Buffer dquery_, dkey_, dvalue_, packed_table_;
};

}  // namespace locus
