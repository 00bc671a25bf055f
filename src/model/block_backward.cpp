// The block's backward pass; block.cpp has the forward one.
#include <algorithm>

#include "model/block.h"

namespace locus {

using kernels::Store;

void Block::linear_backward(const Pass& pass, ConstMat input, ConstMat dy, const Linear& l, float* grads) const {
  kernels::gemm_at(dy, input, Mat(grad(grads, l.weight), l.out, l.in), Store::kAdd, pass.scratch->product.data());
  if (l.bias >= 0) kernels::add_column_sums(dy, grad(grads, l.bias));
}

// Part 0, 1, 2 of the in-projection: queries, keys, values.
void Block::projection_backward(const Pass& pass, ConstMat input, ConstMat dy, std::int64_t part, float* grads) const {
  const std::int64_t c = s_.width();
  const Mat dw(grad(grads, slots_.in_weight) + part * c * c, c, c);
  kernels::gemm_at(dy, input, dw, Store::kAdd, pass.scratch->product.data());
  if (slots_.in_bias >= 0) kernels::add_column_sums(dy, grad(grads, slots_.in_bias) + part * c);
}

// dout (R,C) becomes the gradient of the sum before the second norm (post) or stays (pre); dmid gets all that reaches mid.
void Block::mlp_backward(const Pass& pass, BlockSaved& saved, Mat dout, float* grads, Mat dmid) const {
  const PackedBlock& w = pass.weights->block(layer_);
  const std::int64_t r = pass.rows->rows();
  const std::int64_t c = s_.width();
  const std::int64_t m = s_.config.model.mlp();
  const kernels::LayerNormSaved norm2{saved.hat2.mat(r, c), saved.rstd2.data()};
  const float* weight2 = param(pass, slots_.norm2_weight);
  if (s_.post_norm()) {
    kernels::layer_norm_backward(dout, weight2, norm2, dout, grad(grads, slots_.norm2_weight),
                                 grad(grads, slots_.norm2_bias));
  }
  Mat dy = dout;
  if (s_.config.model.mlp_final_gelu || drops_rows(pass)) {
    dy = pass.scratch->rows1.mat(r, c);
    kernels::copy_rows(dout, dy);
    drop_rows(pass, *pass.rows, dy, "mlp");
    if (s_.config.model.mlp_final_gelu) kernels::multiply_rows(saved.down_slope.mat(r, c), dy);
  }
  const kernels::Panels dup = pass.scratch->wide.panels(r, m);
  for (std::int64_t i = 0; i < r; i += kMlpRows) {
    const std::int64_t n = std::min(kMlpRows, r - i);
    const kernels::Panels part = dup.row_block(i, n);
    kernels::gemm_times(dy.row_block(i, n), w.down.backward, saved.slope.panels(r, m).row_block(i, n), part);
    if (slots_.mlp_up.bias >= 0) kernels::add_panel_sums(part, grad(grads, slots_.mlp_up.bias));
    kernels::gemm_panels(part, w.up.backward, dmid.row_block(i, n));
  }
  float* product = pass.scratch->product.data();
  const ConstMat input = s_.post_norm() ? saved.mid.mat(r, c) : saved.mlp_in.mat(r, c);
  kernels::gemm_at_right_panels(dy, saved.active.panels(r, m), Mat(grad(grads, slots_.mlp_down.weight), c, m), product);
  if (slots_.mlp_down.bias >= 0) kernels::add_column_sums(dy, grad(grads, slots_.mlp_down.bias));
  kernels::gemm_at_left_panels(dup, input, Mat(grad(grads, slots_.mlp_up.weight), m, c), product);
  if (!s_.post_norm()) {
    kernels::layer_norm_backward(dmid, weight2, norm2, dmid, grad(grads, slots_.norm2_weight),
                                 grad(grads, slots_.norm2_bias));
  }
  kernels::add_rows(dout, dmid);
}

void Block::attend_backward(const Pass& pass, BlockSaved& saved, Mat dattention, Mat dq, Mat dk, Mat dv) const {
  const std::int64_t d = s_.head_width();
  const std::int64_t t = s_.tokens;
  const Mat out = saved.attention_out.mat(pass.rows->rows(), s_.width());
  kernels::AttentionShape shape = attention_shape(pass);
  for (std::int64_t b = 0; b < pass.sequences; ++b) {
    const std::int64_t first = pass.rows->offset[static_cast<std::size_t>(b)];
    shape.queries = pass.rows->count(b);
    shape.query_pos = pass.rows->position.data() + first;
    for (std::int64_t head = 0; head < s_.heads(); ++head) {
      shape.head = head;
      shape.dropout_seed = attention_seed(pass, b, head);
      kernels::AttentionBackward io;
      io.q = saved.q.block(first, shape.queries, head * d, d);
      io.k = saved.k.block(b * t, t, head * d, d);
      io.v = saved.v.block(b * t, t, head * d, d);
      io.out = out.block(first, shape.queries, head * d, d);
      io.dout = dattention.block(first, shape.queries, head * d, d);
      io.lse = saved.lse.data() + head * pass.rows->rows() + first;
      io.dq = dq.block(first, shape.queries, head * d, d);
      io.dk = dk.block(b * t, t, head * d, d);
      io.dv = dv.block(b * t, t, head * d, d);
      io.pattern = pattern(pass, saved, b, head);
      io.terms = pass.terms;
      kernels::attention_backward(shape, io, pass.scratch->attention.data());
      if (slots_.has_pe && s_.encoding->rotates()) {
        s_.encoding->rotate(io.dq, shape.query_pos, true);
        s_.encoding->rotate(io.dk, pass.all_rows->position.data() + b * t, true);
      }
    }
  }
}

// dh (N,C) += dq W, at the rows that are read.
void Block::add_query_gradient(const Pass& pass, ConstMat dq, const PackedLinear& w, Mat dh) const {
  if (pass.path == AttentionPath::kPlain) {
    kernels::gemm(dq, w.backward, dh, Store::kAdd);
    return;
  }
  const Mat dread = pass.scratch->rows1.mat(dq.rows, dq.cols);
  kernels::gemm(dq, w.backward, dread, Store::kOverwrite);
  add_read_rows(pass, dread, dh);
}

// dh (N,C) holds the gradient of the keys, which are the source itself; those of queries and values are added.
void Block::joined_backward(const Pass& pass, BlockSaved& saved, ConstMat dq, ConstMat dv, Mat dh) const {
  JoinedGradients& sums = *pass.joined_sums;
  float* product = pass.scratch->product.data();
  kernels::gemm_at(dq, read_source(pass, saved), sums.query(), Store::kAdd, product);
  kernels::add_column_sums(dq, sums.query_bias());
  kernels::gemm_at(dv, source(saved, dv.rows), sums.value(), Store::kAdd, product);
  kernels::add_column_sums(dv, sums.value_bias());
  kernels::gemm(dv, pass.joined->value().backward, dh, Store::kAdd);
  add_query_gradient(pass, dq, pass.joined->query(), dh);
}

void Block::split_backward(const Pass& pass, BlockSaved& saved, Mat dattention, Mat dmid,
                           const SplitGradients& split) const {
  if (pass.joined != nullptr) {
    attend_backward(pass, saved, dattention, split.dq, split.dh, split.dv);
    kernels::add_rows(dmid, split.dh);
  } else {
    attend_backward(pass, saved, dattention, split.dq, split.dk, split.dv);
    kernels::copy_rows(dmid, split.dh);
  }
}

void Block::backward(const Pass& pass, BlockSaved& saved, Mat dout, float* grads, Mat dh,
                     const SplitGradients* split) const {
  const PackedBlock& w = pass.weights->block(layer_);
  const std::int64_t c = s_.width();
  const std::int64_t n = pass.all_rows->rows();
  const std::int64_t r = pass.rows->rows();
  const Mat dmid = pass.scratch->rows2.mat(r, c);
  mlp_backward(pass, saved, dout, grads, dmid);

  const bool post = s_.post_norm();
  const float* weight1 = param(pass, slots_.norm1_weight);
  const kernels::LayerNormSaved norm1{saved.hat1.mat(post ? r : n, c), saved.rstd1.data()};
  if (post) {
    kernels::layer_norm_backward(dmid, weight1, norm1, dmid, grad(grads, slots_.norm1_weight),
                                 grad(grads, slots_.norm1_bias));
  }
  if (split != nullptr && split->dq.data == nullptr) {
    kernels::copy_rows(dmid, split->dh);
    return;
  }
  // dmid is now the gradient of the residual; dattention that of the attention's output, projected back to the heads.
  Mat dattention = dmid;
  if (drops_rows(pass)) {
    dattention = dout;
    kernels::copy_rows(dmid, dattention);
    drop_rows(pass, *pass.rows, dattention, "attention");
  }
  if (pass.joined == nullptr && slots_.out_proj.weight >= 0) {
    linear_backward(pass, saved.attention_out.mat(r, c), dattention, slots_.out_proj, grads);
    const Mat dheads = pass.scratch->rows1.mat(r, c);
    kernels::gemm(dattention, w.out.backward, dheads, Store::kOverwrite);
    dattention = dheads;
  }
  if (split != nullptr) return split_backward(pass, saved, dattention, dmid, *split);
  const Mat dq = pass.scratch->dq.mat(r, c);
  if (pass.joined != nullptr) {
    const Mat dv = pass.scratch->dv.mat(n, c);
    attend_backward(pass, saved, dattention, dq, dh, dv);
    joined_backward(pass, saved, dq, dv, dh);
  } else if (pass.path == AttentionPath::kFolded) {
    folded_backward(pass, saved, dattention, grads, dq, dh);
  } else {
    const Mat dk = pass.scratch->dk.mat(n, c);
    const Mat dv = pass.scratch->dv.mat(n, c);
    attend_backward(pass, saved, dattention, dq, dk, dv);
    projection_backward(pass, source(saved, n), dk, 1, grads);
    projection_backward(pass, source(saved, n), dv, 2, grads);
    kernels::gemm(dk, w.k.backward, dh, Store::kOverwrite);
    kernels::gemm(dv, w.v.backward, dh, Store::kAdd);
  }
  if (pass.joined == nullptr) {
    projection_backward(pass, read_source(pass, saved), dq, 0, grads);
    add_query_gradient(pass, dq, w.q, dh);
  }
  if (!post) {
    kernels::layer_norm_backward(dh, weight1, norm1, dh, grad(grads, slots_.norm1_weight), grad(grads, slots_.norm1_bias));
  }
  add_read_rows(pass, dmid, dh);
}

}  // namespace locus
