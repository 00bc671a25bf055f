#include "bench/flops.h"

#include "model/encoder.h"

namespace locus::bench {
namespace {

// Forward operations of a layer by part, for a whole batch. Products of weights cost three times that in training
// (forward, input gradient, weight gradient), those inside attention as well, and half of it more where the pattern is
// computed again in the backward pass.
struct LayerFlops {
  double weights = 0;
  double attention = 0;
};

struct Counted {
  double sequences, tokens, read, c, m;  // read: tokens of a sequence whose output is used
};

LayerFlops full_layer(const Counted& n) {
  const double rows = n.sequences * n.tokens;
  return {rows * (8 * n.c * n.c + 4 * n.c * n.m), 4 * rows * n.tokens * n.c};
}

// In-projection of all tokens, everything else for those read.
LayerFlops row_layer(const Counted& n, bool packed) {
  const double rows = n.sequences * n.read, all = n.sequences * n.tokens;
  const double in = packed ? 6 * all * n.c * n.c : 4 * all * n.c * n.c + 2 * rows * n.c * n.c;
  return {in + rows * (2 * n.c * n.c + 4 * n.c * n.m), 4 * rows * n.tokens * n.c};
}

// One query a sequence: q, its product with W_k, W_v after the weighted sum, out-projection, MLP.
LayerFlops folded_layer(const Counted& n) {
  return {n.sequences * (8 * n.c * n.c + 4 * n.c * n.m), 4 * n.sequences * n.tokens * n.c};
}

double tokens_read(const ModelStructure& s) {
  switch (s.config.model.readout) {
    case Readout::kToken:
    case Readout::kGiven:
    case Readout::kCls:
      return 1;
    case Readout::kMasked:
      return static_cast<double>((s.tokens + 1) / 2);
    default:
      return static_cast<double>(s.tokens);
  }
}

double total(const LayerFlops& l, bool training, bool recomputes) {
  if (!training) return l.weights + l.attention;
  return 3 * l.weights + (recomputes ? 3.5 : 3.0) * l.attention;
}

}  // namespace

Flops step_flops(const ModelStructure& s, bool training) {
  const Counted n{static_cast<double>(s.config.train.batch), static_cast<double>(s.tokens), tokens_read(s),
                  static_cast<double>(s.width()), static_cast<double>(s.config.model.mlp())};
  const Savings savings = admitted_savings(s);
  const bool one_row = n.read == 1 && s.layers() > 1;
  const bool few_rows = n.read < n.tokens;
  const double mlp = n.sequences * n.tokens * 4 * n.c * n.m;
  const double in_projection = 6 * n.sequences * n.tokens * n.c * n.c;
  Flops out;
  for (std::int64_t l = 0; l < s.layers(); ++l) {
    const bool last = l + 1 == s.layers();
    LayerFlops needed = full_layer(n), executed = needed;
    if (last && few_rows) needed = one_row ? folded_layer(n) : row_layer(n, true);
    if (l == 0 && !last && s.shape.ids) needed = {mlp, 0};
    if (last && savings.last == AttentionPath::kRows) executed = row_layer(n, false);
    if (last && savings.last == AttentionPath::kFolded) executed = folded_layer(n);
    if (l == 0 && savings.first != FirstPath::kPlain) executed.weights -= in_projection;
    // Joined: a product for queries and one for values instead of four.
    if (savings.joins(l, s.layers())) {
      const double rows = n.sequences * n.tokens, read = last && few_rows ? n.sequences * n.read : rows;
      const bool split = l == 0 && savings.first != FirstPath::kPlain;  // queries and values come from tables anyway
      executed.weights -= (split ? 2 * rows : 2 * rows + 2 * read) * n.c * n.c;
    }
    // By the table of pairs: no out-projection, no scores; the values are still summed.
    if (l == 0 && savings.first == FirstPath::kTable) executed = {mlp, 2 * n.sequences * n.tokens * n.tokens * n.c};
    out.needed += total(needed, training, false);
    out.executed += total(executed, training, !savings.keep_patterns);
  }
  return out;
}

}  // namespace locus::bench
