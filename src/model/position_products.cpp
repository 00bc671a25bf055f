#include "model/position_products.h"

#include <algorithm>
#include <cmath>

#include "kernels/elementwise.h"
#include "kernels/gemm.h"

namespace locus {

using kernels::Packed;
using kernels::Store;

namespace {

AlignedBuffer<float> floats(std::int64_t n) { return AlignedBuffer<float>(static_cast<std::size_t>(n)); }

// Part 0, 1 of the in-projection: Wq, Wk (C,C).
template <class T>
MatrixView<T> in_projection(const ModelStructure& s, std::int64_t layer, std::int64_t part, T* arena) {
  const std::int64_t c = s.width();
  return {arena + s.layout[s.blocks[static_cast<std::size_t>(layer)].in_weight].offset + part * c * c, c, c};
}

// A head's columns are packed apart, so that any head width will do.
std::int64_t most_packed(const ModelStructure& s) {
  const std::int64_t c = s.width(), t = s.tokens, d = s.head_width();
  return std::max({kernels::packed_size(c, c), kernels::packed_size(d, t), kernels::packed_size(t, d)});
}

}  // namespace

PositionProducts::PositionProducts(const ModelStructure& s)
    : s_(s),
      factor_(static_cast<float>((s.config.model.position_logit_scale - 1) * s.config.model.logit_scale /
                                 std::sqrt(static_cast<double>(s.head_width())))),
      layers_(s.blocks.size()),
      packed_(floats(most_packed(s))) {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    if (!s.blocks[l].has_pe) continue;
    layers_[l] = {floats(s.tokens * s.width()), floats(s.tokens * s.width()), floats(s.heads() * s.tokens * s.tokens)};
  }
}

ConstMat PositionProducts::bias(std::int64_t layer, std::int64_t head) const {
  const std::int64_t t = s_.tokens;
  return {layers_[static_cast<std::size_t>(layer)].bias.data() + head * t * t, t, t};
}

ConstMat PositionProducts::query(std::int64_t layer) const {
  return {layers_[static_cast<std::size_t>(layer)].query.data(), s_.tokens, s_.width()};
}

ConstMat PositionProducts::key(std::int64_t layer) const {
  return {layers_[static_cast<std::size_t>(layer)].key.data(), s_.tokens, s_.width()};
}

void PositionProducts::update(const float* params, std::int64_t layer, ConstMat positions) {
  const std::int64_t t = s_.tokens;
  const std::int64_t c = s_.width();
  const std::int64_t d = s_.head_width();
  Layer& at = layers_[static_cast<std::size_t>(layer)];
  const Mat query(at.query.data(), t, c);
  const Mat key(at.key.data(), t, c);
  kernels::pack_transposed(in_projection(s_, layer, 0, params), packed_.data());
  kernels::gemm(positions, Packed(packed_.data(), c), query, Store::kOverwrite);
  kernels::pack_transposed(in_projection(s_, layer, 1, params), packed_.data());
  kernels::gemm(positions, Packed(packed_.data(), c), key, Store::kOverwrite);
  for (std::int64_t h = 0; h < s_.heads(); ++h) {
    const Mat bias(at.bias.data() + h * t * t, t, t);
    kernels::pack_transposed(key.block(0, t, h * d, d), packed_.data());
    kernels::gemm(query.block(0, t, h * d, d), Packed(packed_.data(), d), bias, Store::kOverwrite);
    kernels::scale_rows(bias, factor_);
  }
}

PositionProductTerms::PositionProductTerms(const ModelStructure& s, std::int64_t layer)
    : s_(s),
      layer_(layer),
      sums_(floats(s.heads() * s.tokens * s.tokens)),
      dquery_(floats(s.tokens * s.width())),
      dkey_(floats(s.tokens * s.width())),
      packed_(floats(most_packed(s))),
      product_(floats(kernels::gemm_at_scratch(kernels::kAnyDepth))) {}

void PositionProductTerms::begin(const PositionProducts& products, bool with_gradients) {
  products_ = &products;
  if (with_gradients) std::fill_n(sums_.data(), sums_.size(), 0.0f);
}

void PositionProductTerms::score_bias(const kernels::AttentionTile& tile, ConstMat, Mat scores) const {
  const ConstMat bias = products_->bias(layer_, tile.head);
  for (std::int64_t r = 0; r < tile.rows; ++r)
    kernels::axpy(1.0f, bias.row(tile.query_pos[r]) + tile.col0, scores.row(r), tile.cols);
}

void PositionProductTerms::score_bias_backward(const kernels::AttentionTile& tile, ConstMat, ConstMat dscores, Mat) {
  const Mat total = sum(tile.head);
  for (std::int64_t r = 0; r < tile.rows; ++r)
    kernels::axpy(1.0f, dscores.row(r), total.row(tile.query_pos[r]) + tile.col0, tile.cols);
}

void PositionProductTerms::end(const float* params, ConstMat positions, float* grads, Mat dpositions) {
  const std::int64_t t = s_.tokens;
  const std::int64_t c = s_.width();
  const std::int64_t d = s_.head_width();
  const Mat dquery(dquery_.data(), t, c);
  const Mat dkey(dkey_.data(), t, c);
  for (std::int64_t h = 0; h < s_.heads(); ++h) {
    kernels::scale_rows(sum(h), products_->factor());
    kernels::pack(products_->key(layer_).block(0, t, h * d, d), packed_.data());
    kernels::gemm(sum(h), Packed(packed_.data(), t), dquery.block(0, t, h * d, d), Store::kOverwrite);
    kernels::gemm_at(sum(h), products_->query(layer_).block(0, t, h * d, d), dkey.block(0, t, h * d, d), Store::kOverwrite,
                     product_.data());
  }
  kernels::gemm_at(dquery, positions, in_projection(s_, layer_, 0, grads), Store::kAdd, product_.data());
  kernels::gemm_at(dkey, positions, in_projection(s_, layer_, 1, grads), Store::kAdd, product_.data());
  kernels::pack(in_projection(s_, layer_, 0, params), packed_.data());
  kernels::gemm(dquery, Packed(packed_.data(), c), dpositions, Store::kOverwrite);
  kernels::pack(in_projection(s_, layer_, 1, params), packed_.data());
  kernels::gemm(dkey, Packed(packed_.data(), c), dpositions, Store::kAdd);
}

}  // namespace locus
