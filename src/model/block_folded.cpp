// Attention with one query a sequence. Softmax sees keys only through q . (W_k x + b_k): folding W_k into the query leaves
// one product a token, b_k shifts all scores alike and drops out; W_v is applied after the weighted sum. Exact up to
// rounding.
#include <algorithm>

#include "model/block.h"

namespace locus {

using kernels::Store;

void Block::attend_folded(const Pass& pass, BlockSaved& saved, Mat out) const {
  const PackedBlock& w = pass.weights->block(layer_);
  const std::int64_t c = s_.width();
  const std::int64_t d = s_.head_width();
  const std::int64_t heads = s_.heads();
  const std::int64_t t = s_.tokens;
  const std::int64_t r = pass.rows->rows();
  const ConstMat x = source(saved, pass.all_rows->rows());
  kernels::scale_rows(saved.q, scale_);
  const Mat folded = saved.folded_q.mat(r, heads * c);
  const Mat context = saved.context.mat(r, heads * c);
  for (std::int64_t h = 0; h < heads; ++h) {
    kernels::gemm(saved.q.block(0, r, h * d, d), w.k.backward.rows_from(h * d), folded.block(0, r, h * c, c),
                  Store::kOverwrite);
  }
  for (std::int64_t b = 0; b < r; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const Mat p(saved.pattern.data() + (b * heads + h) * t, 1, t);
      const kernels::AttentionTile tile = folded_tile(pass, b, h);
      for (std::int64_t j = 0; j < tile.cols; ++j) p(0, j) = kernels::dot(folded.row(b) + h * c, x.row(b * t + j), c);
      const Mat seen = p.block(0, 1, 0, tile.cols);
      if (pass.terms != nullptr && pass.terms->biases_scores())
        pass.terms->score_bias(tile, saved.q.block(b, 1, h * d, d), seen);
      kernels::softmax_rows(seen, tile.cols, saved.lse.data());
      float* sum = context.row(b) + h * c;
      std::fill_n(sum, c, 0.0f);
      for (std::int64_t j = 0; j < tile.cols; ++j) kernels::axpy(p(0, j), x.row(b * t + j), sum, c);
    }
  }
  for (std::int64_t h = 0; h < heads; ++h) {
    kernels::gemm(context.block(0, r, h * c, c), w.v.forward.cols_from(h * d), out.block(0, r, h * d, d), Store::kOverwrite,
                  w.v.bias != nullptr ? w.v.bias + h * d : nullptr);
  }
  if (pass.terms == nullptr || !pass.terms->adds_to_output()) return;
  for (std::int64_t b = 0; b < r; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const kernels::AttentionTile tile = folded_tile(pass, b, h);
      const Mat p(saved.pattern.data() + (b * heads + h) * t, 1, tile.cols);
      pass.terms->add_to_output(tile, p, out.block(b, 1, h * d, d));
    }
  }
}

kernels::AttentionTile Block::folded_tile(const Pass& pass, std::int64_t sequence, std::int64_t head) const {
  const std::int32_t* position = pass.rows->position.data() + sequence;
  const bool causal = s_.config.model.attention_mask == AttentionMask::kCausal;
  return {position, 1, 0, causal ? *position + 1 : s_.tokens, head};
}

// dq (R,C) and dsource (N,C) are overwritten; gradients of keys' and values' projections are added to `grads`.
void Block::folded_backward(const Pass& pass, BlockSaved& saved, Mat dattention, float* grads, Mat dq, Mat dsource) const {
  const PackedBlock& w = pass.weights->block(layer_);
  const std::int64_t c = s_.width();
  const std::int64_t d = s_.head_width();
  const std::int64_t heads = s_.heads();
  const std::int64_t t = s_.tokens;
  const std::int64_t r = pass.rows->rows();
  const ConstMat x = source(saved, pass.all_rows->rows());
  const Mat folded = saved.folded_q.mat(r, heads * c);
  const Mat context = saved.context.mat(r, heads * c);
  const Mat dcontext = pass.scratch->dcontext.mat(r, heads * c);
  const Mat dfolded = pass.scratch->dfolded.mat(r, heads * c);
  float* product = pass.scratch->product.data();
  float* dwk = grad(grads, slots_.in_weight) + c * c;
  float* dwv = grad(grads, slots_.in_weight) + 2 * c * c;
  for (std::int64_t h = 0; h < heads; ++h) {
    const Mat dout = dattention.block(0, r, h * d, d);
    kernels::gemm(dout, w.v.backward.rows_from(h * d), dcontext.block(0, r, h * c, c), Store::kOverwrite);
    kernels::gemm_at(dout, context.block(0, r, h * c, c), Mat(dwv + h * d * c, d, c), Store::kAdd, product);
  }
  if (slots_.in_bias >= 0) kernels::add_column_sums(dattention, grad(grads, slots_.in_bias) + 2 * c);
  for (std::int64_t i = 0; i < dsource.rows; ++i) std::fill_n(dsource.row(i), c, 0.0f);
  for (std::int64_t i = 0; i < r; ++i) std::fill_n(dq.row(i), c, 0.0f);

  const Mat ds_row = pass.scratch->wide.mat(1, t);
  for (std::int64_t b = 0; b < r; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const kernels::AttentionTile tile = folded_tile(pass, b, h);
      const Mat p(saved.pattern.data() + (b * heads + h) * t, 1, tile.cols);
      const Mat ds = ds_row.block(0, 1, 0, tile.cols);
      const float* dctx = dcontext.row(b) + h * c;
      for (std::int64_t j = 0; j < tile.cols; ++j) ds(0, j) = kernels::dot(dctx, x.row(b * t + j), c);
      if (pass.terms != nullptr && pass.terms->adds_to_output()) {
        pass.terms->add_to_output_backward(tile, p, dattention.block(b, 1, h * d, d), ds);
      }
      const float delta = kernels::dot(p.data, ds.data, tile.cols);
      for (std::int64_t j = 0; j < tile.cols; ++j) ds(0, j) = p(0, j) * (ds(0, j) - delta);
      float* df = dfolded.row(b) + h * c;
      std::fill_n(df, c, 0.0f);
      for (std::int64_t j = 0; j < tile.cols; ++j) {
        kernels::axpy(p(0, j), dctx, dsource.row(b * t + j), c);
        kernels::axpy(ds(0, j), folded.row(b) + h * c, dsource.row(b * t + j), c);
        kernels::axpy(ds(0, j), x.row(b * t + j), df, c);
      }
      if (pass.terms != nullptr && pass.terms->biases_scores()) {
        pass.terms->score_bias_backward(tile, saved.q.block(b, 1, h * d, d), ds, dq.block(b, 1, h * d, d));
      }
    }
  }
  for (std::int64_t h = 0; h < heads; ++h) {
    kernels::gemm_at(saved.q.block(0, r, h * d, d), dfolded.block(0, r, h * c, c), Mat(dwk + h * d * c, d, c), Store::kAdd,
                     product);
    kernels::gemm(dfolded.block(0, r, h * c, c), w.k.forward.cols_from(h * d), dq.block(0, r, h * d, d), Store::kAdd);
  }
  kernels::scale_rows(dq, scale_);
}

}  // namespace locus
