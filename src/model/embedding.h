// Tokens to vectors. A token is one of a few variants (a blank, an id, hidden, CLS) plus, for continuous inputs, a weighted
// sum of feature vectors. Everything linear in the token therefore splits into per-variant, per-feature and per-position
// rows: that is how the first block's projections are computed without a product per token, and how gradients come back.
#pragma once

#include "core/matrix.h"
#include "model/microbatch.h"
#include "model/structure.h"

namespace locus {

class Embedding {
 public:
  explicit Embedding(const ModelStructure& structure);

  // Rows of the table: variants first, then features.
  std::int64_t variants() const { return variants_; }
  std::int64_t rows() const { return variants_ + features_; }

  // The token vectors' building blocks (rows(), C) from the parameters.
  void build_table(const float* params, Mat table) const;

  // out (B*T, K) = table[variant] + sum of features * table + positions (T, K) where given. K is any width.
  void gather(const Microbatch& batch, ConstMat table, ConstMat positions, Mat out) const;

  // The transpose of gather: sums rows of `grad` (B*T, K) into dtable (rows(), K) and dpositions (T, K) where given.
  void scatter(const Microbatch& batch, ConstMat grad, Mat dtable, Mat dpositions) const;

  std::int64_t variant(const Microbatch& batch, std::int64_t sequence, std::int64_t t) const {
    return token(batch, sequence, t).variant;
  }

  // From the gradient of the table (rows(), C) to that of the parameters (added).
  void table_backward(ConstMat dtable, float* grads) const;

 private:
  struct Token {
    std::int64_t variant;
    const float* features;  // null: none
  };
  Token token(const Microbatch& batch, std::int64_t sequence, std::int64_t t) const;
  const ModelStructure& s_;
  std::int64_t variants_;
  std::int64_t features_;  // rows of features: F for values, 0 for ids
  std::int64_t mask_variant_;
  std::int64_t cls_variant_;
};

}  // namespace locus
