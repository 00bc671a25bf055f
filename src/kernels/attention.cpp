// Forward works on tiles of whole rows (a few queries, all keys), so softmax needs no running maximum; backward knows each
// row's log-sum already and works on blocks of both, recomputing the pattern.
#include "kernels/attention.h"

#include <algorithm>
#include <limits>

#include "kernels/elementwise.h"
#include "kernels/gemm.h"
#include "kernels/simd.h"

namespace locus::kernels {
namespace {

constexpr std::int64_t kTileFloats =
    1 << 18;  // a tile of scores: 1 MB; with less, keys of 4096 tokens are fetched too often
constexpr std::int64_t kMaxTileRows = 96;
constexpr std::int64_t kBackwardCols = 192;
constexpr std::int64_t kBackwardStride =
    kBackwardCols + kPanel;  // not a power of two: rows spread over the sets of the cache

std::int64_t forward_rows(std::int64_t keys) {
  const std::int64_t rows = kTileFloats / std::max<std::int64_t>(padded(keys), 1) / kRowBlock * kRowBlock;
  return std::clamp<std::int64_t>(rows, kRowBlock, kMaxTileRows);
}

// A stride that is no power of two, see kBackwardStride.
std::int64_t score_stride(std::int64_t keys) { return padded(keys) + kPanel; }

// Hands out consecutive pieces of the scratch, each on a cache line.
class Pieces {
 public:
  explicit Pieces(float* p) : p_(p) {}
  float* take(std::int64_t n) {
    float* out = p_;
    p_ += padded(n);
    return out;
  }

 private:
  float* p_;
};

std::int64_t key_limit(const AttentionShape& s, const AttentionTile& tile) {
  if (!s.causal) return s.keys;
  std::int32_t last = 0;
  for (std::int64_t r = 0; r < tile.rows; ++r) last = std::max(last, tile.query_pos[r]);
  return std::min<std::int64_t>(s.keys, last + 1);
}

void hide_future(const AttentionTile& tile, Mat scores) {
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    const std::int64_t first_hidden = std::clamp<std::int64_t>(tile.query_pos[r] + 1 - tile.col0, 0, tile.cols);
    std::fill(scores.row(r) + first_hidden, scores.row(r) + tile.cols, -std::numeric_limits<float>::infinity());
  }
}

void drop(const AttentionShape& s, const AttentionTile& tile, Mat pattern) {
  if (s.dropout <= 0) return;
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    dropout_apply({pattern.row(r), 1, tile.cols}, s.dropout, s.dropout_seed,
                  static_cast<std::uint64_t>(tile.query_pos[r]) * static_cast<std::uint64_t>(s.keys) +
                      static_cast<std::uint64_t>(tile.col0));
  }
}

void scaled_copy(ConstMat in, float factor, Mat out) {
  for (std::int64_t r = 0; r < in.rows; ++r) {
    const float* x = in.row(r);
    float* y = out.row(r);
    for (std::int64_t c = 0; c < in.cols; ++c) y[c] = factor * x[c];
  }
}

// Scores of a tile: q k^T, the encoding's bias, the mask. `scores` has padded columns; those beyond the tile are junk.
void tile_scores(const AttentionShape& s, const AttentionTile& tile, ConstMat q, Packed kt, AttentionTerms* terms,
                 Mat scores) {
  gemm(q, kt.cols_from(tile.col0), scores.block(0, tile.rows, 0, padded(tile.cols)), Store::kOverwrite);
  const Mat exact = scores.block(0, tile.rows, 0, tile.cols);
  if (terms != nullptr && terms->biases_scores()) terms->score_bias(tile, q, exact);
  if (s.causal) hide_future(tile, exact);
}

// The columns behind a causal tile are hidden, so zero.
void clear_columns(Mat rows, std::int64_t first) {
  if (first >= rows.cols) return;
  for (std::int64_t r = 0; r < rows.rows; ++r) std::fill(rows.row(r) + first, rows.row(r) + rows.cols, 0.0f);
}

// ds = p * (dp - delta[row]), in place of dp.
void softmax_gradient(ConstMat p, const float* delta, Mat dp) {
  for (std::int64_t r = 0; r < p.rows; ++r) {
    const float* a = p.row(r);
    float* b = dp.row(r);
    const float d = delta[r];
    for (std::int64_t c = 0; c < p.cols; ++c) b[c] = a[c] * (b[c] - d);
  }
}

}  // namespace

std::int64_t pattern_stride(std::int64_t keys) { return padded(keys); }

std::int64_t attention_scratch(std::int64_t queries, std::int64_t keys, std::int64_t head_width) {
  const std::int64_t wide = padded(head_width);
  const std::int64_t forward = padded(keys) * head_width + keys * wide + forward_rows(keys) * (score_stride(keys) + wide);
  const std::int64_t rows = kMaxTileRows;
  const std::int64_t cols = kBackwardCols;
  const std::int64_t backward =
      2 * padded(keys) * head_width + cols * wide + 3 * queries * wide + 3 * rows * kBackwardStride + queries;
  return std::max(forward, backward) + 32 * kPanel;
}

void attention_forward(const AttentionShape& s, const AttentionForward& io, float* scratch) {
  Pieces pieces(scratch);
  const std::int64_t d = s.head_width;
  float* kt = pieces.take(padded(s.keys) * d);
  float* v = pieces.take(s.keys * padded(d));
  const std::int64_t tile_rows = forward_rows(s.keys);
  const Mat own_scores(pieces.take(tile_rows * score_stride(s.keys)), tile_rows, padded(s.keys), score_stride(s.keys));
  const bool keeps = io.pattern.data != nullptr;
  const bool changes = s.dropout > 0 || io.tap != nullptr;  // after the softmax that is kept
  const Mat q_scaled(pieces.take(tile_rows * d), tile_rows, d);
  pack_transposed(io.k, kt);
  if (!s.causal) pack(io.v, v);
  for (std::int64_t r0 = 0; r0 < s.queries; r0 += tile_rows) {
    AttentionTile tile{s.query_pos + r0, std::min(tile_rows, s.queries - r0), 0, 0, s.head};
    tile.cols = key_limit(s, tile);
    const Mat q = q_scaled.row_block(0, tile.rows);
    scaled_copy(io.q.row_block(r0, tile.rows), s.scale, q);
    Mat scores = own_scores;
    if (keeps && !changes) scores = {io.pattern.row(r0), tile.rows, padded(s.keys), io.pattern.stride};
    tile_scores(s, tile, q, Packed(kt, d), io.terms, scores);
    const Mat pattern = scores.block(0, tile.rows, 0, tile.cols);
    softmax_rows(pattern, padded(tile.cols), io.lse + r0);
    if (keeps) {
      if (changes) copy_rows(pattern, io.pattern.row_block(r0, tile.rows));
      clear_columns(io.pattern.row_block(r0, tile.rows), tile.cols);
    }
    drop(s, tile, pattern);
    if (io.tap != nullptr) io.tap->on_pattern(tile, pattern);
    // A causal tile uses the first keys only, so the values are packed to that depth.
    if (s.causal) pack(io.v.row_block(0, tile.cols), v);
    const Mat out = io.out.row_block(r0, tile.rows);
    gemm(pattern, Packed(v, s.causal ? tile.cols : s.keys), out, Store::kOverwrite);
    if (io.terms != nullptr && io.terms->adds_to_output()) io.terms->add_to_output(tile, pattern, out);
  }
}

void attention_backward(const AttentionShape& s, const AttentionBackward& io, float* scratch) {
  Pieces pieces(scratch);
  const std::int64_t d = s.head_width;
  const std::int64_t wide = padded(d);
  const std::int64_t tile_rows = std::min(kMaxTileRows, std::max<std::int64_t>(s.queries, 1));
  float* kt = pieces.take(padded(s.keys) * d);
  float* vt = pieces.take(padded(s.keys) * d);
  float* k_block = pieces.take(kBackwardCols * wide);
  const Mat q_scaled(pieces.take(s.queries * d), s.queries, d);
  const auto take_tile = [&] {
    return Mat(pieces.take(kMaxTileRows * kBackwardStride), kMaxTileRows, kBackwardCols, kBackwardStride);
  };
  const Mat p_tile = take_tile();
  const Mat ds_tile = take_tile();
  const Mat dropped_tile = take_tile();
  float* delta = pieces.take(s.queries);
  float* q_packed = pieces.take(s.queries * wide);
  float* dout_packed = pieces.take(s.queries * wide);

  if (io.pattern.data == nullptr) pack_transposed(io.k, kt);
  pack_transposed(io.v, vt);
  scaled_copy(io.q, s.scale, q_scaled);
  pack(q_scaled, q_packed);
  pack(io.dout, dout_packed);
  for (std::int64_t r = 0; r < s.queries; ++r) delta[r] = dot(io.dout.row(r), io.out.row(r), d);
  for (std::int64_t c0 = 0; c0 < s.keys; c0 += kBackwardCols) {
    const std::int64_t cols = std::min(kBackwardCols, s.keys - c0);
    pack(io.k.row_block(c0, cols), k_block);
    const Mat dk = io.dk.row_block(c0, cols);
    const Mat dv = io.dv.row_block(c0, cols);
    bool first = true;
    for (std::int64_t r0 = 0; r0 < s.queries; r0 += tile_rows) {
      const AttentionTile tile{s.query_pos + r0, std::min(tile_rows, s.queries - r0), c0, cols, s.head};
      if (key_limit(s, tile) <= c0) continue;
      const Mat q = q_scaled.row_block(r0, tile.rows);
      const ConstMat dout = io.dout.row_block(r0, tile.rows);
      const Mat dq = io.dq.row_block(r0, tile.rows);
      ConstMat p = p_tile.block(0, tile.rows, 0, cols);
      const Mat ds = ds_tile.block(0, tile.rows, 0, cols);
      if (io.pattern.data != nullptr) {
        p = io.pattern.block(r0, tile.rows, c0, cols);
      } else {
        tile_scores(s, tile, q, Packed(kt, d), io.terms, p_tile);
        exp_minus_rows(p_tile.block(0, tile.rows, 0, cols), padded(cols), io.lse + r0);
      }
      gemm(dout, Packed(vt, d).cols_from(c0), ds_tile.block(0, tile.rows, 0, padded(cols)), Store::kOverwrite);
      ConstMat used = p;
      if (s.dropout > 0) {
        const Mat dropped = dropped_tile.block(0, tile.rows, 0, cols);
        copy_rows(p, dropped);
        drop(s, tile, dropped);
        used = dropped;
      }
      if (io.terms != nullptr && io.terms->adds_to_output()) io.terms->add_to_output_backward(tile, used, dout, ds);
      drop(s, tile, ds);
      softmax_gradient(p, delta + r0, ds);
      const Store store = first ? Store::kOverwrite : Store::kAdd;
      gemm_at_packed(used, Packed(dout_packed, s.queries).rows_from(r0), dv, store);
      gemm_at_packed(ds, Packed(q_packed, s.queries).rows_from(r0), dk, store);
      gemm(ds, Packed(k_block, cols), dq, c0 == 0 ? Store::kOverwrite : Store::kAdd);
      if (io.terms != nullptr && io.terms->biases_scores()) io.terms->score_bias_backward(tile, q, ds, dq);
      first = false;
    }
    if (first) {
      for (std::int64_t c = 0; c < cols; ++c) {
        std::fill_n(dk.row(c), d, 0.0f);
        std::fill_n(dv.row(c), d, 0.0f);
      }
    }
  }
  // dq so far is the gradient of the scaled query.
  scale_rows(io.dq, s.scale);
}

}  // namespace locus::kernels
