#include "model/block.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/rng.h"

namespace locus {

using kernels::Store;

namespace {

std::int64_t flat_row(const RowSet& rows, std::int64_t sequence, std::int64_t r, std::int64_t tokens) {
  return sequence * tokens + rows.position[static_cast<std::size_t>(r)];
}

// Calls body(r, n) for each selected row r and its row n among all tokens.
template <class Body>
void for_rows(const RowSet& rows, std::int64_t sequences, std::int64_t tokens, Body&& body) {
  for (std::int64_t b = 0; b < sequences; ++b) {
    const std::int64_t end = rows.offset[static_cast<std::size_t>(b + 1)];
    for (std::int64_t r = rows.offset[static_cast<std::size_t>(b)]; r < end; ++r) body(r, flat_row(rows, b, r, tokens));
  }
}

// x becomes gelu(x); its slope is kept where a place is given.
void activate(Mat x, Mat slope) {
  if (slope.data != nullptr) {
    kernels::gelu_with_slope(x, x, slope);
  } else {
    kernels::gelu_forward(x, x);
  }
}

class ObserverTap : public kernels::PatternTap {
 public:
  ObserverTap(Observer* observer, std::int64_t layer, std::int64_t sequence)
      : observer_(observer), layer_(layer), sequence_(sequence) {}
  void on_pattern(const kernels::AttentionTile& tile, Mat pattern) override {
    observer_->on_activation(
        {fmt::format("blocks.{}.attn.pattern", layer_), pattern, sequence_, 1, tile.head, tile.query_pos[0]});
  }

 private:
  Observer* observer_;
  std::int64_t layer_;
  std::int64_t sequence_;
};

}  // namespace

BlockScratch::BlockScratch(const ModelStructure& s, const Capacity& c) {
  const std::int64_t n = c.tokens;
  const std::int64_t width = s.width();
  rows1 = Buffer(n * width);
  rows2 = Buffer(n * width);
  wide = Buffer(std::max(kernels::Panels::floats(n, s.config.model.mlp()), s.tokens));
  product = Buffer(kernels::gemm_at_scratch(kernels::kAnyDepth));
  attention = Buffer(kernels::attention_scratch(s.tokens, s.tokens, s.head_width()));
  dq = Buffer(n * width);
  dk = Buffer(n * width);
  dv = Buffer(n * width);
  dcontext = Buffer(c.sequences * s.heads() * width);
  dfolded = Buffer(c.sequences * s.heads() * width);
}

Block::Block(const ModelStructure& structure, std::int64_t layer)
    : s_(structure),
      slots_(structure.blocks[static_cast<std::size_t>(layer)]),
      layer_(layer),
      scale_(
          static_cast<float>(structure.config.model.logit_scale / std::sqrt(static_cast<double>(structure.head_width())))) {}

void Block::allocate(BlockSaved& saved, const Capacity& capacity, const Storage& storage) const {
  const AttentionPath path = storage.path;
  const std::int64_t c = s_.width();
  const std::int64_t n = capacity.tokens;
  const std::int64_t r = path == AttentionPath::kPlain ? n : capacity.read_rows;
  const bool post = s_.post_norm();
  if (storage.own_projections) {
    saved.own_h = Buffer(n * c);
    saved.own_q = Buffer(r * c);
    if (path != AttentionPath::kFolded) {
      if (!storage.joined) saved.own_k = Buffer(n * c);
      saved.own_v = Buffer(n * c);
    }
  }
  if (!post) saved.source = Buffer(n * c);
  saved.hat1 = Buffer((post ? r : n) * c);
  saved.rstd1 = Buffer(post ? r : n);
  saved.attention_out = Buffer(r * c);
  saved.lse = Buffer(r * s_.heads());
  saved.mid = Buffer(r * c);
  if (!post) saved.mlp_in = Buffer(r * c);
  saved.hat2 = Buffer(r * c);
  saved.rstd2 = Buffer(r);
  saved.active = Buffer(kernels::Panels::floats(r, s_.config.model.mlp()));
  saved.slope = Buffer(kernels::Panels::floats(r, s_.config.model.mlp()));
  if (s_.config.model.mlp_final_gelu) saved.down_slope = Buffer(r * c);
  if (storage.patterns && path != AttentionPath::kFolded)
    saved.patterns = Buffer(r * s_.heads() * kernels::pattern_stride(s_.tokens));
  if (path != AttentionPath::kPlain) {
    saved.read_h = Buffer(r * c);
    if (!post) saved.read_source = Buffer(r * c);
  }
  if (path == AttentionPath::kFolded) {
    saved.folded_q = Buffer(r * s_.heads() * c);
    saved.context = Buffer(r * s_.heads() * c);
    saved.pattern = Buffer(r * s_.heads() * s_.tokens);
  }
}

Mat Block::source(BlockSaved& saved, std::int64_t rows) const {
  return s_.post_norm() ? saved.h : saved.source.mat(rows, s_.width());
}

ConstMat Block::read_source(const Pass& pass, BlockSaved& saved) const {
  if (pass.path == AttentionPath::kPlain) return source(saved, pass.all_rows->rows());
  return (s_.post_norm() ? saved.read_h : saved.read_source).mat(pass.rows->rows(), s_.width());
}

void Block::observe(const Pass& pass, const char* name, Mat values) const {
  if (pass.observer == nullptr) return;
  pass.observer->on_activation({fmt::format("blocks.{}.{}", layer_, name), values, pass.first_sequence, pass.sequences});
}

// A row's mask depends on its sequence and token only, so all paths drop the same entries.
void Block::drop_rows(const Pass& pass, const RowSet& rows, Mat x, const char* site) const {
  if (!drops_rows(pass)) return;
  const auto p = static_cast<float>(s_.config.model.residual_dropout);
  const std::uint64_t seed = derive_seed(pass.step.seed, site, static_cast<std::uint64_t>(layer_));
  for_rows(rows, pass.sequences, s_.tokens, [&](std::int64_t r, std::int64_t n) {
    const std::int64_t global = pass.first_sequence * s_.tokens + n;
    kernels::dropout_apply({x.row(r), 1, x.cols}, p, seed, static_cast<std::uint64_t>(global * x.cols));
  });
}

void Block::project(const Pass& pass, BlockSaved& saved) const {
  const PackedBlock& w = pass.weights->block(layer_);
  const std::int64_t c = s_.width();
  const std::int64_t n = pass.all_rows->rows();
  const Mat all = source(saved, n);
  saved.q = saved.own_q.mat(pass.rows->rows(), c);
  if (pass.joined != nullptr) {
    saved.k = all;
    saved.v = saved.own_v.mat(n, c);
    const PackedLinear& query = pass.joined->query();
    const PackedLinear& value = pass.joined->value();
    kernels::gemm(read_source(pass, saved), query.forward, saved.q, Store::kOverwrite, query.bias);
    kernels::gemm(all, value.forward, saved.v, Store::kOverwrite, value.bias);
    return;
  }
  kernels::gemm(read_source(pass, saved), w.q.forward, saved.q, Store::kOverwrite, w.q.bias);
  if (pass.path == AttentionPath::kFolded) return;
  saved.k = saved.own_k.mat(n, c);
  saved.v = saved.own_v.mat(n, c);
  kernels::gemm(all, w.k.forward, saved.k, Store::kOverwrite, w.k.bias);
  kernels::gemm(all, w.v.forward, saved.v, Store::kOverwrite, w.v.bias);
}

kernels::AttentionShape Block::attention_shape(const Pass& pass) const {
  kernels::AttentionShape shape;
  shape.keys = s_.tokens;
  shape.head_width = s_.head_width();
  shape.scale = scale_;
  shape.causal = s_.config.model.attention_mask == AttentionMask::kCausal;
  shape.dropout = pass.step.training ? static_cast<float>(s_.config.model.attention_dropout) : 0.0f;
  return shape;
}

std::uint64_t Block::attention_seed(const Pass& pass, std::int64_t sequence, std::int64_t head) const {
  if (!pass.step.training || s_.config.model.attention_dropout <= 0) return 0;
  return derive_seed(pass.step.seed, fmt::format("attention/{}/{}", layer_, head),
                     static_cast<std::uint64_t>(pass.first_sequence + sequence));
}

void Block::add_read_rows(const Pass& pass, ConstMat from, Mat to) const {
  for_rows(*pass.rows, pass.sequences, s_.tokens,
           [&](std::int64_t r, std::int64_t n) { kernels::axpy(1.0f, from.row(r), to.row(n), from.cols); });
}

Mat Block::pattern(const Pass& pass, BlockSaved& saved, std::int64_t sequence, std::int64_t head) const {
  if (saved.patterns.data() == nullptr) return {};
  const std::int64_t first = head * pass.rows->rows() + pass.rows->offset[static_cast<std::size_t>(sequence)];
  const std::int64_t stride = kernels::pattern_stride(s_.tokens);
  return {saved.patterns.data() + first * stride, pass.rows->count(sequence), s_.tokens, stride};
}

void Block::attend(const Pass& pass, BlockSaved& saved, Mat out) const {
  const std::int64_t d = s_.head_width();
  const std::int64_t t = s_.tokens;
  kernels::AttentionShape shape = attention_shape(pass);
  for (std::int64_t b = 0; b < pass.sequences; ++b) {
    const std::int64_t first = pass.rows->offset[static_cast<std::size_t>(b)];
    shape.queries = pass.rows->count(b);
    shape.query_pos = pass.rows->position.data() + first;
    for (std::int64_t head = 0; head < s_.heads(); ++head) {
      shape.head = head;
      shape.dropout_seed = attention_seed(pass, b, head);
      const Mat q = saved.q.block(first, shape.queries, head * d, d);
      const Mat k = saved.k.block(b * t, t, head * d, d);
      if (slots_.has_pe && s_.encoding->rotates()) {
        s_.encoding->rotate(q, shape.query_pos, false);
        s_.encoding->rotate(k, pass.all_rows->position.data() + b * t, false);
      }
      kernels::AttentionForward io;
      io.q = q;
      io.k = k;
      io.v = saved.v.block(b * t, t, head * d, d);
      io.out = out.block(first, shape.queries, head * d, d);
      io.lse = saved.lse.data() + head * pass.rows->rows() + first;
      if (pass.backward_follows) io.pattern = pattern(pass, saved, b, head);
      io.terms = pass.terms;
      ObserverTap tap(pass.observer, layer_, pass.first_sequence + b);
      if (pass.observer != nullptr) io.tap = &tap;
      kernels::attention_forward(shape, io, pass.scratch->attention.data());
    }
  }
}

void Block::mlp(const Pass& pass, BlockSaved& saved, Mat out) const {
  const PackedBlock& w = pass.weights->block(layer_);
  const std::int64_t r = pass.rows->rows();
  const std::int64_t c = s_.width();
  const std::int64_t m = s_.config.model.mlp();
  const Mat mid = saved.mid.mat(r, c);
  Mat input = mid;
  const kernels::LayerNormSaved norm2{saved.hat2.mat(r, c), saved.rstd2.data()};
  if (!s_.post_norm()) {
    input = saved.mlp_in.mat(r, c);
    kernels::layer_norm_forward(mid, {}, norm(pass, slots_.norm2_weight, slots_.norm2_bias), norm2, input);
  }
  const Mat y = pass.scratch->rows1.mat(r, c);
  const kernels::Panels all_active = saved.active.panels(r, m);
  const kernels::Panels all_slopes = pass.backward_follows ? saved.slope.panels(r, m) : kernels::Panels();
  for (std::int64_t i = 0; i < r; i += kMlpRows) {
    const std::int64_t n = std::min(kMlpRows, r - i);
    const kernels::Panels active = all_active.row_block(i, n);
    const kernels::Panels slopes = all_slopes.data == nullptr ? all_slopes : all_slopes.row_block(i, n);
    kernels::gemm_gelu(input.row_block(i, n), w.up.forward, w.up.bias, active, slopes);
    const Mat down = y.row_block(i, n);
    kernels::gemm_panels(active, w.down.forward, down, w.down.bias);
    if (s_.config.model.mlp_final_gelu)
      activate(down, pass.backward_follows ? saved.down_slope.mat(r, c).row_block(i, n) : Mat());
  }
  drop_rows(pass, *pass.rows, y, "mlp");
  if (s_.post_norm()) {
    kernels::layer_norm_forward(mid, y, norm(pass, slots_.norm2_weight, slots_.norm2_bias), norm2, out);
  } else {
    for (std::int64_t i = 0; i < r; ++i) kernels::sum_of(mid.row(i), y.row(i), out.row(i), c);
  }
}

Mat Block::attention(const Pass& pass, BlockSaved& saved, Given given) const {
  const std::int64_t c = s_.width();
  const std::int64_t r = pass.rows->rows();
  const Mat out = pass.scratch->rows1.mat(r, c);
  if (given == Given::kAttention) return out;
  if (given == Given::kInput) project(pass, saved);
  observe(pass, "attn.q", saved.q);
  if (pass.path != AttentionPath::kFolded) {
    observe(pass, "attn.k", saved.k);
    observe(pass, "attn.v", saved.v);
  }
  const Mat heads = saved.attention_out.mat(r, c);
  if (pass.path == AttentionPath::kFolded) {
    attend_folded(pass, saved, heads);
  } else {
    attend(pass, saved, heads);
  }
  if (pass.joined != nullptr && !drops_rows(pass)) return heads;
  if (pass.joined == nullptr && slots_.out_proj.weight >= 0) {
    const PackedLinear& w = pass.weights->block(layer_).out;
    kernels::gemm(heads, w.forward, out, Store::kOverwrite, w.bias);
  } else {
    for (std::int64_t i = 0; i < r; ++i) std::copy_n(heads.row(i), c, out.row(i));
  }
  return out;
}

void Block::forward(const Pass& pass, BlockSaved& saved, Given given, Mat out) const {
  const std::int64_t c = s_.width();
  const std::int64_t n = pass.all_rows->rows();
  const std::int64_t r = pass.rows->rows();
  observe(pass, "input", saved.h);
  if (!s_.post_norm()) {
    kernels::layer_norm_forward(saved.h, {}, norm(pass, slots_.norm1_weight, slots_.norm1_bias),
                                {saved.hat1.mat(n, c), saved.rstd1.data()}, saved.source.mat(n, c));
  }
  Mat residual = saved.h;
  if (pass.path != AttentionPath::kPlain) {
    residual = saved.read_h.mat(r, c);
    for_rows(*pass.rows, pass.sequences, s_.tokens, [&](std::int64_t i, std::int64_t row) {
      std::copy_n(saved.h.row(row), c, residual.row(i));
      if (!s_.post_norm()) std::copy_n(saved.source.mat(n, c).row(row), c, saved.read_source.mat(r, c).row(i));
    });
  }
  const Mat attention = this->attention(pass, saved, given);
  observe(pass, "attn.out", attention);
  drop_rows(pass, *pass.rows, attention, "attention");
  const Mat mid = saved.mid.mat(r, c);
  if (s_.post_norm()) {
    kernels::layer_norm_forward(residual, attention, norm(pass, slots_.norm1_weight, slots_.norm1_bias),
                                {saved.hat1.mat(r, c), saved.rstd1.data()}, mid);
  } else {
    for (std::int64_t i = 0; i < r; ++i) kernels::sum_of(residual.row(i), attention.row(i), mid.row(i), c);
  }
  observe(pass, "mid", mid);
  mlp(pass, saved, out);
  observe(pass, "output", out);
}

}  // namespace locus
