#include "model/encoder.h"

#include <algorithm>

#include "core/error.h"
#include "core/rng.h"
#include "kernels/elementwise.h"
#include "kernels/gemm.h"

namespace locus {

using kernels::Store;

namespace {

constexpr std::int64_t kMostSplitFeatures = 64;
constexpr std::int64_t kTokensAPair = 4;                // in a batch, for the table of pairs to pay
constexpr std::int64_t kMostPatternFloats = 1LL << 18;  // 1 MB a sequence; beyond it backward computes patterns again

std::vector<bool> joined_blocks(const Savings& savings, std::int64_t layers) {
  std::vector<bool> out;
  for (std::int64_t l = 0; l < layers; ++l) out.push_back(savings.joins(l, layers));
  return out;
}

void fill_zero(Buffer& buffer, std::int64_t n) { std::fill_n(buffer.data(), n, 0.0f); }

}  // namespace

Savings no_savings() { return {}; }

Savings admitted_savings(const ModelStructure& s) {
  Savings out;
  const TrainConfig& t = s.config.train;
  const ModelConfig& m = s.config.model;
  const bool one_row = m.readout == Readout::kToken || m.readout == Readout::kGiven || m.readout == Readout::kCls;
  if (s.layers() > 0 && t.save_last_layer && (one_row || m.readout == Readout::kMasked)) {
    const bool encoding_folds = !s.blocks.back().has_pe || !s.encoding->forbids_folding();
    const bool heads_fold = m.heads == 1 || s.head_width() % kernels::panel_columns() == 0;
    const bool folds = t.fold_single_query && one_row && encoding_folds && heads_fold && m.attention_dropout == 0;
    out.last = folds ? AttentionPath::kFolded : AttentionPath::kRows;
  }
  out.keep_patterns = t.keep_patterns && m.heads * s.tokens * s.tokens <= kMostPatternFloats;
  const bool only_added = s.config.pe.kind == PeKind::kNone || s.encoding->adds_to_input();
  out.join_projections = t.join_projections && m.heads == 1 && m.attention_output && only_added && m.attention_dropout == 0;
  const bool first_is_last = s.layers() == 1 && out.last != AttentionPath::kPlain;
  const bool splits = t.save_first_layer && s.layers() > 0 && !first_is_last && s.post_norm() && s.embed.weight >= 0 &&
                      s.config.pe.dropout == 0 && (s.shape.ids || s.shape.features <= kMostSplitFeatures);
  if (!splits) return out;
  const std::int64_t pairs = Embedding(s).variants() * s.tokens;
  const bool tabulates = t.table_first_layer && !PositionProducts::wanted(s) && s.shape.ids && only_added && m.heads == 1 &&
                         s.blocks[0].out_proj.weight >= 0 && m.attention_dropout == 0 && m.residual_dropout == 0 &&
                         pairs <= kMostPairs && t.batch * s.tokens >= kTokensAPair * pairs;
  out.first = tabulates ? FirstPath::kTable : FirstPath::kSplit;
  return out;
}

Prepared::Prepared(const ModelStructure& s, const Savings& savings)
    : s_(s), savings_(savings), embedding_(s), weights_(s, joined_blocks(savings, s.layers())) {
  const std::int64_t c = s.width();
  token_buffer_ = Buffer(embedding_.rows() * c);
  token_table_ = token_buffer_.mat(embedding_.rows(), c);
  if (savings.first != FirstPath::kPlain) {
    const PackedBlock& w = weights_.block(0);
    split_parts_ = {&w.q, &w.k, &w.v};
    if (w.joined != nullptr) split_parts_ = {&w.joined->query(), &w.joined->value()};
    const std::int64_t columns = (static_cast<std::int64_t>(split_parts_.size()) + 1) * c;
    split_buffer_ = Buffer(embedding_.rows() * columns);
    split_position_buffer_ = Buffer(s.tokens * columns);
    split_table_ = split_buffer_.mat(embedding_.rows(), columns);
    split_positions_ = split_position_buffer_.mat(s.tokens, columns);
  }
  if (savings.first == FirstPath::kTable) first_attention_ = std::make_unique<FirstAttentionTable>(s);
  if (PositionProducts::wanted(s)) position_products_ = std::make_unique<PositionProducts>(s);
  if (s.encoding->adds_to_input()) {
    for (const BlockSlots& b : s.blocks) positions_.emplace_back(b.has_pe ? s.tokens * c : 0);
  }
}

ConstMat Prepared::positions(std::int64_t layer) const {
  if (positions_.empty() || !s_.blocks[static_cast<std::size_t>(layer)].has_pe) return {};
  return const_cast<Buffer&>(positions_[static_cast<std::size_t>(layer)]).mat(s_.tokens, s_.width());
}

// out (rows, columns) = vector, then its projections (and their biases).
void Prepared::split_rows(ConstMat vectors, bool with_bias, Mat out) const {
  const std::int64_t c = s_.width();
  for (std::int64_t r = 0; r < vectors.rows; ++r) std::copy_n(vectors.row(r), c, out.row(r));
  std::int64_t column = c;
  for (const PackedLinear* part : split_parts_) {
    kernels::gemm(vectors, part->forward, out.block(0, vectors.rows, column, c), Store::kOverwrite,
                  with_bias ? part->bias : nullptr);
    column += c;
  }
}

void Prepared::update(const float* params, const PeStep& step, ThreadPool* pool) {
  step_ = step;
  weights_.update(params, pool);
  embedding_.build_table(params, token_table_);
  for (std::size_t l = 0; l < positions_.size(); ++l) {
    if (!s_.blocks[l].has_pe) continue;
    std::vector<const float*> pe;
    for (const std::int64_t slot : s_.blocks[l].pe) pe.push_back(params + s_.layout[slot].offset);
    s_.encoding->table(pe, step, positions_[l].mat(s_.tokens, s_.width()));
    const auto layer = static_cast<std::int64_t>(l);
    if (position_products_ != nullptr) position_products_->update(params, layer, positions(layer));
  }
  if (savings_.first == FirstPath::kPlain) return;
  split_rows(token_table_, false, split_table_);
  const ConstMat p = positions(0);
  if (p.data != nullptr) {
    split_rows(p, true, split_positions_);
  } else {
    AlignedBuffer<float> zero(static_cast<std::size_t>(s_.tokens * s_.width()));
    split_rows(ConstMat(zero.data(), s_.tokens, s_.width()), true, split_positions_);
  }
  if (first_attention_ != nullptr) first_attention_->update(weights_.block(0), split_table_, split_positions_);
}

EncoderPass::EncoderPass(const ModelStructure& s, std::int64_t max_sequences, const Savings& savings)
    : s_(s),
      savings_(savings),
      capacity_{max_sequences, max_sequences * s.tokens, max_rows_read(s, max_sequences)},
      embedding_(s),
      saved_(s.blocks.size()),
      scratch_(s, capacity_),
      readout_(s, capacity_),
      terms_(s.blocks.size()) {
  const std::int64_t c = s.width();
  const std::int64_t n = capacity_.tokens;
  const std::int64_t columns = first_columns();
  for (std::int64_t l = 0; l < s.layers(); ++l) {
    blocks_.emplace_back(s, l);
    const bool last = l + 1 == s.layers();
    const bool joined = savings_.joins(l, s.layers());
    blocks_.back().allocate(saved_[static_cast<std::size_t>(l)], capacity_,
                            {.path = last ? savings_.last : AttentionPath::kPlain,
                             .own_projections = l != 0 || !splits_first(),
                             .patterns = savings_.keep_patterns,
                             .joined = joined});
    joined_.push_back(joined ? std::make_unique<JoinedGradients>(s, l) : nullptr);
    const bool products = PositionProducts::wanted(s) && s.blocks[static_cast<std::size_t>(l)].has_pe;
    position_terms_.push_back(products ? std::make_unique<PositionProductTerms>(s, l) : nullptr);
  }
  final_ = Buffer(n * c);
  gradient_ = Buffer(n * c);
  dgradient_ = Buffer(n * c);
  if (splits_first()) {
    split_ = Buffer(n * (savings_.first == FirstPath::kTable ? c : columns));
    dsplit_ = Buffer(n * (savings_.first == FirstPath::kTable ? c : columns));
  }
  if (savings_.first == FirstPath::kTable) first_attention_ = std::make_unique<FirstAttention>(s, capacity_);
  dtokens_ = Buffer(embedding_.rows() * columns);
  dpositions_ = Buffer(s.tokens * columns);
}

std::vector<const float*> EncoderPass::pe_params(const Prepared& prepared, std::int64_t layer) const {
  std::vector<const float*> out;
  for (const std::int64_t slot : s_.blocks[static_cast<std::size_t>(layer)].pe)
    out.push_back(prepared.params() + s_.layout[slot].offset);
  return out;
}

std::vector<float*> EncoderPass::pe_grads(std::int64_t layer) const {
  std::vector<float*> out;
  if (grads_ == nullptr) return out;
  for (const std::int64_t slot : s_.blocks[static_cast<std::size_t>(layer)].pe)
    out.push_back(grads_ + s_.layout[slot].offset);
  return out;
}

void EncoderPass::bind_terms(const Prepared& prepared, float* grads) {
  grads_ = grads;
  for (std::int64_t l = 0; l < s_.layers(); ++l) {
    if (!s_.blocks[static_cast<std::size_t>(l)].has_pe) continue;
    const std::vector<const float*> params = pe_params(prepared, l);
    const std::vector<float*> gradients = pe_grads(l);
    terms_[static_cast<std::size_t>(l)] = s_.encoding->terms(params, gradients);
    PositionProductTerms* products = position_terms_[static_cast<std::size_t>(l)].get();
    if (products != nullptr) products->begin(prepared.position_products(), grads != nullptr);
  }
}

void EncoderPass::begin_shard(const Prepared& prepared, float* grads) {
  bind_terms(prepared, grads);
  fill_zero(dtokens_, embedding_.rows() * first_columns());
  fill_zero(dpositions_, s_.tokens * first_columns());
  for (const auto& joined : joined_) {
    if (joined != nullptr) joined->clear();
  }
  if (first_attention_ != nullptr) first_attention_->begin_shard();
}

Block::Pass EncoderPass::block_pass(const Prepared& prepared, const Microbatch& batch, const StepContext& step,
                                    std::int64_t layer) {
  Block::Pass pass;
  const bool last = layer + 1 == s_.layers();
  pass.weights = &prepared.weights();
  pass.all_rows = &all_;
  pass.path = last ? savings_.last : AttentionPath::kPlain;
  pass.rows = pass.path == AttentionPath::kPlain ? &all_ : &read_;
  pass.step = step;
  pass.sequences = batch.sequences;
  pass.first_sequence = batch.first;
  pass.terms = terms_[static_cast<std::size_t>(layer)].get();
  PositionProductTerms* products = position_terms_[static_cast<std::size_t>(layer)].get();
  if (products != nullptr) pass.terms = products;
  pass.joined_sums = joined_[static_cast<std::size_t>(layer)].get();
  if (pass.joined_sums != nullptr) {
    pass.joined = prepared.weights().block(layer).joined.get();
    LOCUS_CHECK(pass.joined != nullptr, "the parameters were prepared for other savings than this pass has");
  }
  pass.scratch = &scratch_;
  return pass;
}

void EncoderPass::input_dropout(const Microbatch& batch, const StepContext& step, std::int64_t layer, Mat h) const {
  const PeConfig& pe = s_.config.pe;
  if (pe.dropout <= 0 || !(step.training || pe.dropout_at_eval)) return;
  const std::uint64_t seed = derive_seed(step.seed, "pe/dropout", static_cast<std::uint64_t>(layer));
  kernels::dropout_apply(h, static_cast<float>(pe.dropout), seed,
                         static_cast<std::uint64_t>(batch.first * s_.tokens * s_.width()));
}

// Noise, then the position table, then dropout on the sum.
void EncoderPass::position_input(const Prepared& prepared, std::int64_t layer, const Microbatch& batch,
                                 const StepContext& step, Mat h) const {
  if (step.noise_sd > 0) {
    for (std::int64_t b = 0; b < batch.sequences; ++b) {
      Rng rng(derive_seed(step.noise_seed, "noise", static_cast<std::uint64_t>((batch.first + b) * 1000 + layer)), "input");
      for (std::int64_t t = 0; t < s_.tokens; ++t) {
        for (float& x : h.row_span(b * s_.tokens + t)) x += step.noise_sd * static_cast<float>(rng.normal());
      }
    }
  }
  const ConstMat table = prepared.positions(layer);
  if (table.data == nullptr) return;
  for (std::int64_t b = 0; b < batch.sequences; ++b) kernels::add_rows(table, h.row_block(b * s_.tokens, s_.tokens));
  input_dropout(batch, step, layer, h);
}

// The first block's input, and of its attention what the savings prepare.
void EncoderPass::first_input(const Prepared& prepared, const Microbatch& batch, Observer* observer) {
  const std::int64_t c = s_.width();
  const std::int64_t n = batch.sequences * s_.tokens;
  const ConstMat tokens = prepared.split_table();
  const ConstMat positions = prepared.split_positions();
  if (savings_.first == FirstPath::kTable) {
    saved_[0].h = split_.mat(n, c);
    embedding_.gather(batch, tokens.block(0, tokens.rows, 0, c), positions.block(0, s_.tokens, 0, c), saved_[0].h);
    first_attention_->forward(prepared.first_attention(), batch, scratch_.rows1.mat(n, c));
  } else if (splits_first()) {
    const std::int64_t parts = split_parts();
    const Mat split = split_.mat(n, parts * c);
    embedding_.gather(batch, tokens, positions, split);
    saved_[0].h = split.block(0, n, 0, c);
    saved_[0].q = split.block(0, n, c, c);
    saved_[0].k = parts == 3 ? saved_[0].h : split.block(0, n, 2 * c, c);
    saved_[0].v = split.block(0, n, (parts - 1) * c, c);
  } else {
    const Mat x = (s_.layers() > 0 ? saved_[0].own_h : final_).mat(n, c);
    embedding_.gather(batch, prepared.token_table(), {}, x);
    if (observer != nullptr) observer->on_activation({"embed", x, batch.first, batch.sequences});
  }
}

Mat EncoderPass::forward(const Prepared& prepared, const Microbatch& batch, const StepContext& step, Observer* observer) {
  LOCUS_CHECK(batch.sequences <= capacity_.sequences, "micro-batch larger than the pass was made for");
  const std::int64_t c = s_.width();
  const std::int64_t n = batch.sequences * s_.tokens;
  if (all_.rows() != n) all_ = every_row(s_, batch.sequences);
  read_ = rows_read(s_, batch);
  Mat x = final_.mat(n, c);
  first_input(prepared, batch, observer);
  for (std::int64_t l = 0; l < s_.layers(); ++l) {
    BlockSaved& saved = saved_[static_cast<std::size_t>(l)];
    Given given = Given::kInput;
    if (l == 0 && splits_first()) given = savings_.first == FirstPath::kTable ? Given::kAttention : Given::kProjections;
    if (given == Given::kInput) {
      saved.h = saved.own_h.mat(n, c);
      position_input(prepared, l, batch, step, saved.h);
    }
    Block::Pass pass = block_pass(prepared, batch, step, l);
    pass.observer = observer;
    pass.backward_follows = grads_ != nullptr;
    const bool last = l + 1 == s_.layers();
    const Mat out = last ? final_.mat(pass.rows->rows(), c) : saved_[static_cast<std::size_t>(l + 1)].own_h.mat(n, c);
    blocks_[static_cast<std::size_t>(l)].forward(pass, saved, given, out);
    x = out;
  }
  const Mat outputs = readout_.forward(prepared.weights(), batch, read_, only_rows(), x);
  if (observer != nullptr) observer->on_activation({"head", outputs, batch.first, batch.sequences});
  return outputs;
}

void EncoderPass::position_backward(const Prepared& prepared, std::int64_t layer, const Microbatch& batch,
                                    const StepContext& step, Mat dh) {
  if (prepared.positions(layer).data == nullptr) return;
  input_dropout(batch, step, layer, dh);
  const Mat dtable = scratch_.dq.mat(s_.tokens, s_.width());
  kernels::copy_rows(dh.row_block(0, s_.tokens), dtable);
  for (std::int64_t b = 1; b < batch.sequences; ++b) kernels::add_rows(dh.row_block(b * s_.tokens, s_.tokens), dtable);
  s_.encoding->table_backward(pe_params(prepared, layer), prepared.step(), dtable, pe_grads(layer));
}

void EncoderPass::backward(const Prepared& prepared, const Microbatch& batch, const StepContext& step) {
  const std::int64_t c = s_.width();
  const std::int64_t n = batch.sequences * s_.tokens;
  const std::int64_t columns = first_columns();
  const Mat dtokens = dtokens_.mat(embedding_.rows(), columns);
  Mat dx = gradient_.mat(only_rows() ? read_.rows() : n, c);
  Mat other = dgradient_.mat(n, c);
  readout_.backward(prepared.weights(), batch, read_, only_rows(), grads_, dx);
  for (std::int64_t l = s_.layers() - 1; l >= 0; --l) {
    BlockSaved& saved = saved_[static_cast<std::size_t>(l)];
    const Block::Pass pass = block_pass(prepared, batch, step, l);
    const Block& block = blocks_[static_cast<std::size_t>(l)];
    if (l == 0 && savings_.first == FirstPath::kTable) {
      const Mat d = dsplit_.mat(n, c);
      const SplitGradients split{d, {}, {}, {}};
      block.backward(pass, saved, dx, grads_, {}, &split);
      embedding_.scatter(batch, d, dtokens.block(0, dtokens.rows, 0, c),
                         dpositions_.mat(s_.tokens, columns).block(0, s_.tokens, 0, c));
      first_attention_->backward(prepared.first_attention(), batch, d);
      return;
    }
    if (l == 0 && splits_first()) {
      const Mat d = dsplit_.mat(n, columns);
      const SplitGradients split{d.block(0, n, 0, c), d.block(0, n, c, c),
                                 split_parts() == 3 ? Mat() : d.block(0, n, 2 * c, c), d.block(0, n, columns - c, c)};
      block.backward(pass, saved, dx, grads_, {}, &split);
      embedding_.scatter(batch, d, dtokens, dpositions_.mat(s_.tokens, columns));
      return;
    }
    const Mat dh(other.data, n, c);
    block.backward(pass, saved, dx, grads_, dh, nullptr);
    position_backward(prepared, l, batch, step, dh);
    other = Mat(dx.data, n, c);
    dx = dh;
  }
  embedding_.scatter(batch, dx, dtokens, {});
}

PassResult EncoderPass::train(const Prepared& prepared, const Microbatch& batch, const StepContext& step) {
  PassResult result;
  result.outputs = forward(prepared, batch, step, nullptr);
  result.loss = readout_.loss(batch, read_, step.loss_weight);
  backward(prepared, batch, step);
  return result;
}

PassResult EncoderPass::output_gradient(const Prepared& prepared, const Microbatch& batch, const StepContext& step,
                                        std::int64_t row, std::int64_t column) {
  PassResult result;
  result.outputs = forward(prepared, batch, step, nullptr);
  readout_.select_output(row, column);
  backward(prepared, batch, step);
  return result;
}

void EncoderPass::end_shard(const Prepared& prepared) {
  const std::int64_t c = s_.width();
  const std::int64_t rows = embedding_.rows();
  if (splits_first()) {
    end_split(prepared);
  } else {
    embedding_.table_backward(dtokens_.mat(rows, c), grads_);
  }
  for (const auto& joined : joined_) {
    if (joined != nullptr) joined->add_to(prepared.params(), grads_);
  }
  end_position_products(prepared);
}

void EncoderPass::end_position_products(const Prepared& prepared) {
  const Mat dpositions = scratch_.dq.mat(s_.tokens, s_.width());
  for (std::int64_t l = 0; l < s_.layers(); ++l) {
    PositionProductTerms* products = position_terms_[static_cast<std::size_t>(l)].get();
    if (products == nullptr) continue;
    products->end(prepared.params(), prepared.positions(l), grads_, dpositions);
    s_.encoding->table_backward(pe_params(prepared, l), prepared.step(), dpositions, pe_grads(l));
  }
}

// Where the gradients of the first block's split projections are summed, in the order of Prepared::split_parts.
std::vector<EncoderPass::SplitTarget> EncoderPass::split_targets() const {
  const std::int64_t c = s_.width();
  if (joined_[0] != nullptr)
    return {{joined_[0]->query(), joined_[0]->query_bias()}, {joined_[0]->value(), joined_[0]->value_bias()}};
  const BlockSlots& slots = s_.blocks[0];
  float* weight = grads_ + s_.layout[slots.in_weight].offset;
  float* bias = slots.in_bias < 0 ? nullptr : grads_ + s_.layout[slots.in_bias].offset;
  std::vector<SplitTarget> out;
  for (std::int64_t i = 0; i < 3; ++i)
    out.push_back({Mat(weight + i * c * c, c, c), bias == nullptr ? nullptr : bias + i * c});
  return out;
}

// The split projections' sums become gradients: of the projections by outer products with the few vectors behind them,
// of those vectors by the transposed projections.
void EncoderPass::end_split(const Prepared& prepared) {
  const std::int64_t c = s_.width();
  const std::int64_t rows = embedding_.rows();
  const Mat dtokens = dtokens_.mat(rows, first_columns());
  const Mat dpositions = dpositions_.mat(s_.tokens, first_columns());
  if (first_attention_ != nullptr)
    first_attention_->end_shard(prepared.first_attention(), prepared.weights().block(0), grads_, dtokens, dpositions);
  const ConstMat positions = prepared.positions(0);
  const Mat dtable = dtokens.block(0, rows, 0, c);
  const Mat dposition_table = dpositions.block(0, s_.tokens, 0, c);
  const std::vector<SplitTarget> targets = split_targets();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::int64_t column = static_cast<std::int64_t>(i + 1) * c;
    const Mat dt = dtokens.block(0, rows, column, c);
    const Mat dp = dpositions.block(0, s_.tokens, column, c);
    const kernels::Packed& weight = prepared.split_parts()[i]->backward;
    kernels::gemm_at(dt, prepared.token_table(), targets[i].weight, Store::kAdd, scratch_.product.data());
    kernels::gemm(dt, weight, dtable, Store::kAdd);
    if (positions.data != nullptr) {
      kernels::gemm_at(dp, positions, targets[i].weight, Store::kAdd, scratch_.product.data());
      kernels::gemm(dp, weight, dposition_table, Store::kAdd);
    }
    if (targets[i].bias != nullptr) kernels::add_column_sums(dp, targets[i].bias);
  }
  embedding_.table_backward(dtable, grads_);
  if (positions.data != nullptr)
    s_.encoding->table_backward(pe_params(prepared, 0), prepared.step(), dposition_table, pe_grads(0));
}

PassResult EncoderPass::evaluate(const Prepared& prepared, const Microbatch& batch, const StepContext& step,
                                 Observer* observer) {
  LOCUS_CHECK(
      observer == nullptr || (savings_.last == AttentionPath::kPlain && !splits_first() && !savings_.join_projections),
      "an observer needs a pass made with no_savings()");
  bind_terms(prepared, nullptr);
  PassResult result;
  result.outputs = forward(prepared, batch, step, observer);
  const bool has_targets = s_.shape.regression ? batch.targets != nullptr : batch.labels != nullptr;
  if (has_targets) result.loss = readout_.loss(batch, read_, step.loss_weight);
  return result;
}

}  // namespace locus
