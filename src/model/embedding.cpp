#include "model/embedding.h"

#include <algorithm>

#include "kernels/elementwise.h"

namespace locus {

// Variants: 0 a blank (or a continuous token's constant part), then the ids, then hidden, then CLS.
Embedding::Embedding(const ModelStructure& s) : s_(s) {
  const std::int64_t ids = s.shape.ids ? s.shape.features : 0;
  features_ = s.shape.ids ? 0 : s.shape.features;
  mask_variant_ = 1 + ids;
  cls_variant_ = 2 + ids;
  variants_ = 3 + ids;
}

void Embedding::build_table(const float* params, Mat table) const {
  const std::int64_t c = s_.width();
  for (std::int64_t r = 0; r < rows(); ++r) std::fill_n(table.row(r), c, 0.0f);
  const std::int64_t f = s_.shape.features;
  const std::int64_t first_feature = s_.shape.ids ? 1 : variants_;
  if (s_.embed.weight < 0) {
    for (std::int64_t i = 0; i < f; ++i) table(first_feature + i, i) = 1.0f;
  } else {
    const float* w = params + s_.layout[s_.embed.weight].offset;
    const float* b = params + s_.layout[s_.embed.bias].offset;
    std::copy_n(b, c, table.row(0));
    for (std::int64_t i = 0; i < f; ++i) {
      float* row = table.row(first_feature + i);
      for (std::int64_t k = 0; k < c; ++k) row[k] = w[k * f + i] + (s_.shape.ids ? b[k] : 0.0f);
    }
  }
  if (s_.mask_token >= 0) std::copy_n(params + s_.layout[s_.mask_token].offset, c, table.row(mask_variant_));
  if (s_.cls_token >= 0) std::copy_n(params + s_.layout[s_.cls_token].offset, c, table.row(cls_variant_));
}

Embedding::Token Embedding::token(const Microbatch& batch, std::int64_t sequence, std::int64_t t) const {
  if (t >= s_.shape.tokens) return {cls_variant_, nullptr};
  const std::int64_t n = sequence * s_.shape.tokens + t;
  if (batch.masked != nullptr && batch.masked[n] != 0) return {mask_variant_, nullptr};
  if (batch.ids != nullptr) return {1 + batch.ids[n], nullptr};
  return {0, batch.values + n * s_.shape.features};
}

void Embedding::gather(const Microbatch& batch, ConstMat table, ConstMat positions, Mat out) const {
  for (std::int64_t b = 0; b < batch.sequences; ++b) {
    for (std::int64_t t = 0; t < s_.tokens; ++t) {
      const Token token_here = token(batch, b, t);
      float* row = out.row(b * s_.tokens + t);
      const float* start = table.row(token_here.variant);
      if (positions.data != nullptr) {
        kernels::sum_of(start, positions.row(t), row, out.cols);
      } else {
        std::copy_n(start, out.cols, row);
      }
      if (token_here.features == nullptr) continue;
      for (std::int64_t i = 0; i < features_; ++i)
        kernels::axpy(token_here.features[i], table.row(variants_ + i), row, out.cols);
    }
  }
}

void Embedding::scatter(const Microbatch& batch, ConstMat grad, Mat dtable, Mat dpositions) const {
  for (std::int64_t b = 0; b < batch.sequences; ++b) {
    for (std::int64_t t = 0; t < s_.tokens; ++t) {
      const Token token_here = token(batch, b, t);
      const float* row = grad.row(b * s_.tokens + t);
      kernels::axpy(1.0f, row, dtable.row(token_here.variant), grad.cols);
      if (dpositions.data != nullptr) kernels::axpy(1.0f, row, dpositions.row(t), grad.cols);
      if (token_here.features == nullptr) continue;
      for (std::int64_t i = 0; i < features_; ++i)
        kernels::axpy(token_here.features[i], row, dtable.row(variants_ + i), grad.cols);
    }
  }
}

void Embedding::table_backward(ConstMat dtable, float* grads) const {
  const std::int64_t c = s_.width();
  if (s_.embed.weight >= 0) {
    const std::int64_t f = s_.shape.features;
    float* dw = grads + s_.layout[s_.embed.weight].offset;
    float* db = grads + s_.layout[s_.embed.bias].offset;
    kernels::axpy(1.0f, dtable.row(0), db, c);
    const std::int64_t first_feature = s_.shape.ids ? 1 : variants_;
    for (std::int64_t i = 0; i < f; ++i) {
      const float* row = dtable.row(first_feature + i);
      for (std::int64_t k = 0; k < c; ++k) dw[k * f + i] += row[k];
      if (s_.shape.ids) kernels::axpy(1.0f, row, db, c);
    }
  }
  if (s_.mask_token >= 0) kernels::axpy(1.0f, dtable.row(mask_variant_), grads + s_.layout[s_.mask_token].offset, c);
  if (s_.cls_token >= 0) kernels::axpy(1.0f, dtable.row(cls_variant_), grads + s_.layout[s_.cls_token].offset, c);
}

}  // namespace locus
