// The encoder: what a step prepares once from the parameters, and a pass that takes micro-batches through it.
#pragma once

#include <memory>
#include <vector>

#include "core/matrix.h"
#include "core/parallel.h"
#include "model/block.h"
#include "model/embedding.h"
#include "model/first_attention.h"
#include "model/microbatch.h"
#include "model/observer.h"
#include "model/position_products.h"
#include "model/readout.h"
#include "model/structure.h"
#include "model/weights.h"

namespace locus {

// The first block: as the others; projections of tokens and positions apart; besides, attention by pairs of them.
enum class FirstPath { kPlain, kSplit, kTable };

// Which exact savings a model admits: the one place that decides it.
struct Savings {
  FirstPath first = FirstPath::kPlain;
  AttentionPath last = AttentionPath::kPlain;
  bool keep_patterns = false;
  bool join_projections = false;  // in the blocks whose attention is computed token by token

  bool joins(std::int64_t layer, std::int64_t layers) const {
    const bool by_pairs = layer == 0 && first == FirstPath::kTable;
    const bool folded = layer + 1 == layers && last == AttentionPath::kFolded;
    return join_projections && !by_pairs && !folded;
  }
};
Savings admitted_savings(const ModelStructure& structure);
Savings no_savings();

// Everything derived from the parameters that all passes share: packed weights, position tables, split projections.
class Prepared {
 public:
  explicit Prepared(const ModelStructure& structure) : Prepared(structure, admitted_savings(structure)) {}
  // For passes with these savings, or with none.
  Prepared(const ModelStructure& structure, const Savings& savings);
  void update(const float* params, const PeStep& step, ThreadPool* pool = nullptr);

  const PackedWeights& weights() const { return weights_; }
  const float* params() const { return weights_.params(); }
  const PeStep& step() const { return step_; }
  ConstMat positions(std::int64_t layer) const;          // (T,C), null data where the block adds none
  ConstMat token_table() const { return token_table_; }  // (rows, C)
  // Of the first block's split projections (rows, columns) and (T, columns): token, query, key, value; joined without key.
  ConstMat split_table() const { return split_table_; }
  ConstMat split_positions() const { return split_positions_; }                         // biases included
  const std::vector<const PackedLinear*>& split_parts() const { return split_parts_; }  // the projections behind them
  const FirstAttentionTable& first_attention() const { return *first_attention_; }
  const PositionProducts& position_products() const { return *position_products_; }  // where wanted

 private:
  void split_rows(ConstMat vectors, bool with_bias, Mat out) const;
  const ModelStructure& s_;
  Savings savings_;
  Embedding embedding_;
  PackedWeights weights_;
  std::vector<const PackedLinear*> split_parts_;
  PeStep step_;
  std::vector<Buffer> positions_;
  Buffer token_buffer_, split_buffer_, split_position_buffer_;
  mutable Mat token_table_, split_table_, split_positions_;
  std::unique_ptr<FirstAttentionTable> first_attention_;  // where admitted
  std::unique_ptr<PositionProducts> position_products_;   // where wanted
};

struct PassResult {
  double loss = 0;  // weighted
  Mat outputs;      // (examples or rows read, O)
};

// A thread's own space to run micro-batches in.
class EncoderPass {
 public:
  // `gradients` (an arena) may be null for evaluation; it is only read as an address until backward adds to it.
  EncoderPass(const ModelStructure& structure, std::int64_t max_sequences, const Savings& savings);

  // Gradients from here on go to `grads`, already zero; end_shard finishes sums kept aside.
  void begin_shard(const Prepared& prepared, float* grads);
  PassResult train(const Prepared& prepared, const Microbatch& batch, const StepContext& step);
  void end_shard(const Prepared& prepared);
  // As train, but the gradient added is that of outputs(row, column) of this micro-batch; no targets are needed.
  PassResult output_gradient(const Prepared& prepared, const Microbatch& batch, const StepContext& step, std::int64_t row,
                             std::int64_t column);

  // Forward alone; the loss only where `batch` has labels or targets.
  PassResult evaluate(const Prepared& prepared, const Microbatch& batch, const StepContext& step,
                      Observer* observer = nullptr);

  std::int64_t max_sequences() const { return capacity_.sequences; }
  const RowSet& rows() const { return read_; }  // of the last micro-batch

 private:
  Mat forward(const Prepared& prepared, const Microbatch& batch, const StepContext& step, Observer* observer);
  void backward(const Prepared& prepared, const Microbatch& batch, const StepContext& step);
  void first_input(const Prepared& prepared, const Microbatch& batch, Observer* observer);
  void position_input(const Prepared& prepared, std::int64_t layer, const Microbatch& batch, const StepContext& step,
                      Mat h) const;
  void position_backward(const Prepared& prepared, std::int64_t layer, const Microbatch& batch, const StepContext& step,
                         Mat dh);
  Block::Pass block_pass(const Prepared& prepared, const Microbatch& batch, const StepContext& step, std::int64_t layer);
  struct SplitTarget {
    Mat weight;
    float* bias;  // null: none
  };
  std::vector<SplitTarget> split_targets() const;
  void end_split(const Prepared& prepared);
  void end_position_products(const Prepared& prepared);
  void bind_terms(const Prepared& prepared, float* grads);
  void input_dropout(const Microbatch& batch, const StepContext& step, std::int64_t layer, Mat h) const;
  std::vector<const float*> pe_params(const Prepared& prepared, std::int64_t layer) const;
  std::vector<float*> pe_grads(std::int64_t layer) const;
  bool splits_first() const { return savings_.first != FirstPath::kPlain; }
  // Parts side by side in a row of the first block's split input: the token alone by pairs, else its projections too.
  std::int64_t split_parts() const { return savings_.joins(0, s_.layers()) ? 3 : 4; }
  std::int64_t first_columns() const { return (splits_first() ? split_parts() : 1) * s_.width(); }
  bool only_rows() const { return savings_.last != AttentionPath::kPlain; }

  const ModelStructure& s_;
  Savings savings_;
  Capacity capacity_;
  Embedding embedding_;
  std::vector<Block> blocks_;
  std::vector<BlockSaved> saved_;
  BlockScratch scratch_;
  ReadoutPass readout_;
  RowSet all_, read_;
  Buffer final_, gradient_, dgradient_, split_, dsplit_;
  std::unique_ptr<FirstAttention> first_attention_;       // with FirstPath::kTable
  std::vector<std::unique_ptr<JoinedGradients>> joined_;  // of the blocks that join
  Buffer dtokens_, dpositions_;                           // sums over a shard: (rows, C or 4C), (T, C or 4C)
  std::vector<std::unique_ptr<kernels::AttentionTerms>> terms_;
  std::vector<std::unique_ptr<PositionProductTerms>> position_terms_;  // in place of terms_ where wanted
  float* grads_ = nullptr;
};

}  // namespace locus
