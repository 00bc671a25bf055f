// One transformer block, forward and backward, on the tokens of a micro-batch. Three exact ways through attention:
// plain; only the rows that are read; one row per sequence with keys and values folded into the query. The first two may
// have their projections joined (model/joined.h).
#pragma once

#include <memory>

#include "core/matrix.h"
#include "kernels/attention.h"
#include "kernels/elementwise.h"
#include "kernels/gemm.h"
#include "model/microbatch.h"
#include "model/observer.h"
#include "model/structure.h"
#include "model/weights.h"

namespace locus {

// Floats with a place of their own.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t n) : floats_(static_cast<std::size_t>(n)) {}
  Mat mat(std::int64_t rows, std::int64_t cols) { return {floats_.data(), rows, cols}; }
  kernels::Panels panels(std::int64_t rows, std::int64_t cols) { return {floats_.data(), rows, cols}; }
  float* data() { return floats_.data(); }

 private:
  AlignedBuffer<float> floats_;
};

// The largest micro-batch buffers are made for.
struct Capacity {
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;     // B*T
  std::int64_t read_rows = 0;  // most rows read in the last block
};

inline constexpr std::int64_t kMlpRows = 96;  // rows at once through the MLP: its hidden layer stays in the cache

enum class AttentionPath { kPlain, kRows, kFolded };

// What a block keeps from forward for backward. h, q, k, v are views: the first block's lie side by side in one buffer.
struct BlockSaved {
  Mat h, q, k, v;  // (N,C) block input with PE; projections (q: rows read)
  Buffer own_h, own_q, own_k, own_v;
  Buffer source, hat1, rstd1, attention_out, lse, patterns, mid, mlp_in, hat2, rstd2;
  Buffer active, slope;               // the MLP inside, in panels: its activation and GELU's slope
  Buffer down_slope;                  // of the second GELU
  Buffer read_h, read_source;         // rows read, kRows and kFolded
  Buffer folded_q, pattern, context;  // kFolded: (R, H, C), (R, H, T), (R, H, C)
};

// Space that all blocks share.
struct BlockScratch {
  BlockScratch(const ModelStructure& structure, const Capacity& capacity);
  Buffer wide;  // in panels
  Buffer rows1, rows2, product, attention, dq, dk, dv, dcontext, dfolded;
};

// What of a block's attention the caller has computed: nothing, the projections (saved.q, k, v), or all of it up to the
// residual sum (scratch.rows1).
enum class Given { kInput, kProjections, kAttention };

// Where backward puts the first block's gradients when projections are split (dh, dq, dk, dv), and what it skips then. With
// the whole attention given, only dh: attention's output has the same gradient. Joined, dh holds dk as well.
struct SplitGradients {
  Mat dh, dq, dk, dv;
};

class Block {
 public:
  Block(const ModelStructure& structure, std::int64_t layer);

  struct Storage {
    AttentionPath path = AttentionPath::kPlain;
    bool own_projections = true;  // false: h, q, k and v lie elsewhere (the first block's)
    bool patterns = false;        // attention weights are kept
    bool joined = false;          // keys are the tokens themselves
  };
  void allocate(BlockSaved& saved, const Capacity& capacity, const Storage& storage) const;

  struct Pass {
    const PackedWeights* weights;
    const RowSet* all_rows;
    const RowSet* rows;  // rows computed after the keys and values: all, or those read
    AttentionPath path = AttentionPath::kPlain;
    StepContext step;
    std::int64_t sequences = 0;
    std::int64_t first_sequence = 0;
    kernels::AttentionTerms* terms = nullptr;
    const JoinedWeights* joined = nullptr;   // null: projections as they are
    JoinedGradients* joined_sums = nullptr;  // for backward
    Observer* observer = nullptr;
    bool backward_follows = false;  // keep what backward needs
    BlockScratch* scratch = nullptr;
  };

  // saved.h must hold the input with PE. out: (rows, C).
  void forward(const Pass& pass, BlockSaved& saved, Given given, Mat out) const;

  // dout (rows, C) is used up. Gradients of parameters are added to `grads`. Without `split`, dh (N,C) is overwritten by the
  // gradient of the input; with it, dh, dq, dk, dv are left for the caller, who also owns the in-projection's gradient.
  void backward(const Pass& pass, BlockSaved& saved, Mat dout, float* grads, Mat dh, const SplitGradients* split) const;

 private:
  void project(const Pass& pass, BlockSaved& saved) const;
  Mat attention(const Pass& pass, BlockSaved& saved, Given given) const;  // (rows, C), out-projection included
  bool drops_rows(const Pass& pass) const { return s_.config.model.residual_dropout > 0 && pass.step.training; }
  void attend(const Pass& pass, BlockSaved& saved, Mat out) const;
  void attend_folded(const Pass& pass, BlockSaved& saved, Mat out) const;
  void mlp(const Pass& pass, BlockSaved& saved, Mat out) const;
  void mlp_backward(const Pass& pass, BlockSaved& saved, Mat dout, float* grads, Mat dmid) const;
  void split_backward(const Pass& pass, BlockSaved& saved, Mat dattention, Mat dmid, const SplitGradients& split) const;
  void attend_backward(const Pass& pass, BlockSaved& saved, Mat dattention, Mat dq, Mat dk, Mat dv) const;
  void folded_backward(const Pass& pass, BlockSaved& saved, Mat dattention, float* grads, Mat dq, Mat dsource) const;
  void joined_backward(const Pass& pass, BlockSaved& saved, ConstMat dq, ConstMat dv, Mat dh) const;
  void add_query_gradient(const Pass& pass, ConstMat dq, const PackedLinear& w, Mat dh) const;
  void projection_backward(const Pass& pass, ConstMat input, ConstMat dy, std::int64_t part, float* grads) const;
  void linear_backward(const Pass& pass, ConstMat input, ConstMat dy, const Linear& l, float* grads) const;
  Mat pattern(const Pass& pass, BlockSaved& saved, std::int64_t sequence, std::int64_t head) const;  // null if not kept
  kernels::AttentionShape attention_shape(const Pass& pass) const;
  std::uint64_t attention_seed(const Pass& pass, std::int64_t sequence, std::int64_t head) const;
  kernels::AttentionTile folded_tile(const Pass& pass, std::int64_t sequence, std::int64_t head) const;
  void add_read_rows(const Pass& pass, ConstMat from, Mat to) const;  // to[row of token] += from[row read]
  void drop_rows(const Pass& pass, const RowSet& rows, Mat x, const char* site) const;
  void observe(const Pass& pass, const char* name, Mat values) const;
  Mat source(BlockSaved& saved, std::int64_t rows) const;           // what is projected: h, or its norm
  ConstMat read_source(const Pass& pass, BlockSaved& saved) const;  // its rows that are read

  const float* param(const Pass& pass, std::int64_t slot) const { return pass.weights->params() + s_.layout[slot].offset; }
  float* grad(float* grads, std::int64_t slot) const { return grads + s_.layout[slot].offset; }
  kernels::LayerNormParams norm(const Pass& pass, std::int64_t weight, std::int64_t bias) const {
    return {param(pass, weight), param(pass, bias)};
  }

  const ModelStructure& s_;
  const BlockSlots& slots_;
  std::int64_t layer_;
  float scale_;
};

}  // namespace locus
