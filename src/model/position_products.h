// The position-position part of the attention logits, scaled alone (model.position_logit_scale, alpha): with x = h + P,
// (alpha - 1) scale (Wq P).(Wk P) is added to the logits of each head. It is the same for all examples, so it is made once
// a step; its gradient is summed over a shard in the order of the examples before it goes to P, Wq and Wk.
#pragma once

#include <cstdint>
#include <vector>

#include "core/matrix.h"
#include "kernels/attention.h"
#include "model/structure.h"

namespace locus {

// What all passes share, renewed with the parameters.
class PositionProducts {
 public:
  static bool wanted(const ModelStructure& structure) { return structure.config.model.position_logit_scale != 1; }
  explicit PositionProducts(const ModelStructure& structure);
  // positions (T,C): the table that the layer adds.
  void update(const float* params, std::int64_t layer, ConstMat positions);

  ConstMat bias(std::int64_t layer, std::int64_t head) const;  // (T,T)
  ConstMat query(std::int64_t layer) const;                    // (T,C) P Wq^T
  ConstMat key(std::int64_t layer) const;                      // (T,C) P Wk^T
  float factor() const { return factor_; }                     // (alpha - 1) scale

 private:
  struct Layer {
    AlignedBuffer<float> query, key, bias;
  };
  const ModelStructure& s_;
  float factor_;
  std::vector<Layer> layers_;
  AlignedBuffer<float> packed_;
};

// A pass's own part for one layer: adds the products to its scores and sums their gradient.
class PositionProductTerms : public kernels::AttentionTerms {
 public:
  PositionProductTerms(const ModelStructure& structure, std::int64_t layer);
  // From here on the scores of `products`; with gradients, their sum begins at zero.
  void begin(const PositionProducts& products, bool with_gradients);

  bool biases_scores() const override { return true; }
  void score_bias(const kernels::AttentionTile& tile, ConstMat q, Mat scores) const override;
  void score_bias_backward(const kernels::AttentionTile& tile, ConstMat q, ConstMat dscores, Mat dq) override;

  // What the sum gives: added to the in-projection's gradient in `grads`; dpositions (T,C) is overwritten.
  void end(const float* params, ConstMat positions, float* grads, Mat dpositions);

 private:
  Mat sum(std::int64_t head) { return {sums_.data() + head * s_.tokens * s_.tokens, s_.tokens, s_.tokens}; }

  const ModelStructure& s_;
  std::int64_t layer_;
  const PositionProducts* products_ = nullptr;
  AlignedBuffer<float> sums_;           // (H,T,T)
  AlignedBuffer<float> dquery_, dkey_;  // (T,C)
  AlignedBuffer<float> packed_, product_;
};

}  // namespace locus
