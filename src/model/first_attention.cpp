#include "model/first_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/elementwise.h"
#include "kernels/gemm.h"

namespace locus {

using kernels::Packed;
using kernels::padded;
using kernels::Store;

namespace {

std::int64_t pair_count(const ModelStructure& s) { return Embedding(s).variants() * s.tokens; }

}  // namespace

FirstAttentionTable::FirstAttentionTable(const ModelStructure& s)
    : s_(s),
      pairs_(pair_count(s)),
      scale_(static_cast<float>(s.config.model.logit_scale / std::sqrt(static_cast<double>(s.head_width())))) {
  const std::int64_t c = s.width();
  for (auto [buffer, view] :
       {std::pair{&query_buffer_, &query_}, {&key_buffer_, &key_}, {&value_buffer_, &value_}, {&output_buffer_, &output_}}) {
    *buffer = Buffer(pairs_ * c);
    *view = buffer->mat(pairs_, c);
  }
  scores_buffer_ = Buffer(pairs_ * pairs_);
  scores_ = scores_buffer_.mat(pairs_, pairs_);
  packed_key_ = Buffer(kernels::packed_size(c, pairs_));
}

void FirstAttentionTable::update(const PackedBlock& weights, ConstMat split_tokens, ConstMat split_positions) {
  const std::int64_t c = s_.width();
  const std::int64_t t = s_.tokens;
  const Mat* const parts[] = {&query_, &key_, &value_};
  for (std::int64_t p = 0; p < pairs_; ++p) {
    const float* token = split_tokens.row(p / t);
    const float* position = split_positions.row(p % t);
    for (std::int64_t i = 0; i < 3; ++i) {
      float* out = parts[i]->row(p);
      const std::int64_t from = (i + 1) * c;
      for (std::int64_t k = 0; k < c; ++k) out[k] = token[from + k] + position[from + k];
    }
  }
  kernels::pack_transposed(key_, packed_key_.data());
  kernels::gemm(query_, Packed(packed_key_.data(), c), scores_, Store::kOverwrite);
  kernels::scale_rows(scores_, scale_);
  kernels::gemm(value_, weights.out.forward, output_, Store::kOverwrite, weights.out.bias);
}

FirstAttention::FirstAttention(const ModelStructure& s, const Capacity& capacity)
    : s_(s), embedding_(s), columns_(padded(s.tokens)), pair_(static_cast<std::size_t>(s.tokens)) {
  const std::int64_t c = s.width();
  const std::int64_t pairs = pair_count(s);
  patterns_ = Buffer(capacity.tokens * columns_);
  rows_ = Buffer(s.tokens * c);
  packed_ = Buffer(std::max(kernels::packed_size(s.tokens, c), kernels::packed_size(c, s.tokens)));
  dpattern_ = Buffer(s.tokens * columns_);
  lse_ = Buffer(s.tokens);
  product_ = Buffer(kernels::gemm_at_scratch(kernels::kAnyDepth));
  dscores_ = Buffer(pairs * pairs);
  doutput_ = Buffer(pairs * c);
  for (Buffer* b : {&dquery_, &dkey_, &dvalue_}) *b = Buffer(pairs * c);
  packed_table_ = Buffer(kernels::packed_size(pairs, c));
}

const std::int64_t* FirstAttention::pairs_of(const Microbatch& batch, std::int64_t sequence) {
  for (std::int64_t t = 0; t < s_.tokens; ++t)
    pair_[static_cast<std::size_t>(t)] = embedding_.variant(batch, sequence, t) * s_.tokens + t;
  return pair_.data();
}

void FirstAttention::forward(const FirstAttentionTable& table, const Microbatch& batch, Mat out) {
  const std::int64_t t = s_.tokens;
  const std::int64_t c = s_.width();
  const bool causal = s_.config.model.attention_mask == AttentionMask::kCausal;
  const std::int64_t panel = kernels::panel_columns();
  for (std::int64_t b = 0; b < batch.sequences; ++b) {
    const std::int64_t* pair = pairs_of(batch, b);
    const Mat pattern_here = pattern(b);
    for (std::int64_t i = 0; i < t; ++i) {
      const float* scores = table.scores().row(pair[i]);
      float* row = pattern_here.row(i);
      for (std::int64_t j = 0; j < t; ++j) row[j] = scores[pair[j]];
      if (causal) std::fill(row + i + 1, row + t, -std::numeric_limits<float>::infinity());
    }
    const Mat exact = pattern_here.block(0, t, 0, t);
    kernels::softmax_rows(exact, columns_, lse_.data());
    float* packed = packed_.data();
    for (std::int64_t j = 0; j < c; j += panel) {
      const std::int64_t cols = std::min(panel, c - j);
      for (std::int64_t k = 0; k < t; ++k, packed += panel) {
        std::copy_n(table.output().row(pair[k]) + j, cols, packed);
        std::fill(packed + cols, packed + panel, 0.0f);
      }
    }
    kernels::gemm(exact, Packed(packed_.data(), t), out.row_block(b * t, t), Store::kOverwrite);
  }
}

void FirstAttention::begin_shard() {
  const std::int64_t pairs = pair_count(s_);
  std::fill_n(dscores_.data(), pairs * pairs, 0.0f);
  std::fill_n(doutput_.data(), pairs * s_.width(), 0.0f);
}

void FirstAttention::backward(const FirstAttentionTable& table, const Microbatch& batch, ConstMat dout) {
  const std::int64_t t = s_.tokens;
  const std::int64_t c = s_.width();
  const std::int64_t pairs = table.pairs();
  const Mat rows = rows_.mat(t, c);
  const Mat dpattern = dpattern_.mat(t, columns_);
  const Mat dscores = dscores_.mat(pairs, pairs);
  const Mat doutput = doutput_.mat(pairs, c);
  for (std::int64_t b = 0; b < batch.sequences; ++b) {
    const std::int64_t* pair = pairs_of(batch, b);
    const ConstMat p = pattern(b).block(0, t, 0, t);
    const ConstMat d = dout.row_block(b * t, t);
    for (std::int64_t k = 0; k < t; ++k) std::copy_n(table.output().row(pair[k]), c, rows.row(k));
    kernels::pack_transposed(rows, packed_.data());
    kernels::gemm(d, Packed(packed_.data(), c), dpattern, Store::kOverwrite);
    for (std::int64_t i = 0; i < t; ++i) {
      const float* weight = p.row(i);
      const float* dweight = dpattern.row(i);
      float* to = dscores.row(pair[i]);
      const float delta = kernels::dot(weight, dweight, t);
      for (std::int64_t j = 0; j < t; ++j) to[pair[j]] += weight[j] * (dweight[j] - delta);
    }
    kernels::gemm_at(p, d, rows, Store::kOverwrite, product_.data());
    for (std::int64_t k = 0; k < t; ++k) kernels::axpy(1.0f, rows.row(k), doutput.row(pair[k]), c);
  }
}

// dpairs (P,C) belongs to part 1, 2, 3 (query, key, value) of the split rows.
void FirstAttention::add_parts(ConstMat dpairs, std::int64_t part, Mat dtokens, Mat dpositions) const {
  const std::int64_t c = s_.width();
  for (std::int64_t p = 0; p < dpairs.rows; ++p) {
    kernels::axpy(1.0f, dpairs.row(p), dtokens.row(p / s_.tokens) + part * c, c);
    kernels::axpy(1.0f, dpairs.row(p), dpositions.row(p % s_.tokens) + part * c, c);
  }
}

void FirstAttention::end_shard(const FirstAttentionTable& table, const PackedBlock& weights, float* grads, Mat dtokens,
                               Mat dpositions) {
  const std::int64_t c = s_.width();
  const std::int64_t pairs = table.pairs();
  const Mat dscores = dscores_.mat(pairs, pairs);
  const Mat doutput = doutput_.mat(pairs, c);
  const Linear& out = s_.blocks[0].out_proj;
  kernels::scale_rows(dscores, table.scale());
  kernels::pack(table.key(), packed_table_.data());
  kernels::gemm(dscores, Packed(packed_table_.data(), pairs), dquery_.mat(pairs, c), Store::kOverwrite);
  kernels::gemm_at(dscores, table.query(), dkey_.mat(pairs, c), Store::kOverwrite, product_.data());
  kernels::gemm(doutput, weights.out.backward, dvalue_.mat(pairs, c), Store::kOverwrite);
  kernels::gemm_at(doutput, table.value(), Mat(grads + s_.layout[out.weight].offset, out.out, out.in), Store::kAdd,
                   product_.data());
  if (out.bias >= 0) kernels::add_column_sums(doutput, grads + s_.layout[out.bias].offset);
  add_parts(dquery_.mat(pairs, c), 1, dtokens, dpositions);
  add_parts(dkey_.mat(pairs, c), 2, dtokens, dpositions);
  add_parts(dvalue_.mat(pairs, c), 3, dtokens, dpositions);
}

}  // namespace locus
