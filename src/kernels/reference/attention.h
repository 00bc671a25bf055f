// Softmax attention of the oracle with an encoding's hooks: from packed q, k, v to concatenated heads, and back.
#pragma once

#include "kernels/reference/encoding.h"

namespace locus::reference {

// What a forward keeps for its backward.
template <class S>
struct AttentionState {
  Array<S> qkv;                     // (B, T, 3C): q and k rotated
  Array<S> pattern;                 // (B, H, T, T) before dropout; 0 where masked
  Array<S> positions, d_positions;  // (T, 3C): projections of the added table alone; empty unless their product is scaled
};

// One head of one example: pointers into (T, 3C) and (T, C) rows.
template <class S>
struct HeadView {
  S* qkv;
  S* out;
  S* pattern;             // (T, T)
  const double* dropout;  // (T, T) factors or null
  int head, stride;       // stride: C

  S* q(int t) const { return qkv + t * 3 * stride; }
  S* k(int t) const { return q(t) + stride; }
  S* v(int t) const { return q(t) + 2 * stride; }
  S* o(int t) const { return out + t * stride; }
};

template <class S>
HeadView<S> head_view(const Spec& spec, int example, int head, Array<S>& qkv, Array<S>& out) {
  const int length = spec.length(), channel = head * spec.head_width();
  return {qkv.data() + example * length * 3 * spec.width + channel,
          out.data() + example * length * spec.width + channel,
          nullptr,
          nullptr,
          head,
          spec.width};
}

// What position_logit_scale adds to a logit: the product of the positions' own query and key, without biases.
template <class S>
S position_product_forward(const Encoding<S>& pe, const Pair& at, const HeadView<S>& positions) {
  S dot = S(0);
  for (int c = 0; c < pe.spec.head_width(); ++c) dot += positions.q(at.i)[c] * positions.k(at.j)[c];
  return S((pe.spec.position_logit_scale - 1) * at.scale) * dot;
}

template <class S>
void position_product_backward(const Encoding<S>& pe, const Pair& at, const HeadView<S>& positions, const S& d,
                               const HeadView<S>& d_positions) {
  const S factor = S((pe.spec.position_logit_scale - 1) * at.scale) * d;
  for (int c = 0; c < pe.spec.head_width(); ++c) {
    d_positions.q(at.i)[c] += factor * positions.k(at.j)[c];
    d_positions.k(at.j)[c] += factor * positions.q(at.i)[c];
  }
}

// `positions` is null unless the product of positions is scaled.
template <class S>
void head_forward(const Encoding<S>& pe, const HeadView<S>& at, const HeadView<S>* positions) {
  const int length = pe.spec.length(), width = pe.spec.head_width();
  const double scale = pe.spec.logit_scale / std::sqrt(static_cast<double>(width));
  for (int t = 0; t < length; ++t) {
    rotate(pe, t, 1, at.q(t));
    rotate(pe, t, 1, at.k(t));
  }
  for (int i = 0; i < length; ++i) {
    const int count = pe.spec.causal ? i + 1 : length;
    const std::span<S> row(at.pattern + i * length, length);
    for (int j = 0; j < count; ++j) {
      S dot = S(0);
      for (int d = 0; d < width; ++d) dot += at.q(i)[d] * at.k(j)[d];
      row[j] = S(scale) * dot + score_bias_forward(pe, Pair{at.head, i, j, scale}, at.q(i));
      if (positions) row[j] += position_product_forward(pe, Pair{at.head, i, j, scale}, *positions);
    }
    softmax_forward(row, count);
    for (int j = 0; j < count; ++j) {
      const S weight = at.dropout ? row[j] * S(at.dropout[i * length + j]) : row[j];
      for (int d = 0; d < width; ++d) at.o(i)[d] += weight * at.v(j)[d];
      value_term_forward(pe, Pair{at.head, i, j, scale}, weight, at.o(i));
    }
  }
}

// The projections of positions and their gradients; null where they are not scaled.
template <class S>
struct PositionViews {
  const HeadView<S>* values = nullptr;
  const HeadView<S>* gradients = nullptr;
};

// `at` as after the forward; d.qkv receives the gradient of the unrotated q, k, v, d.out holds that of the output.
template <class S>
void head_backward(const Encoding<S>& pe, const HeadView<S>& at, const HeadView<S>& d, const PositionViews<S>& positions) {
  const int length = pe.spec.length(), width = pe.spec.head_width();
  const double scale = pe.spec.logit_scale / std::sqrt(static_cast<double>(width));
  Array<S> d_row(length);
  for (int i = 0; i < length; ++i) {
    const int count = pe.spec.causal ? i + 1 : length;
    const S* row = at.pattern + i * length;
    std::fill(d_row.begin(), d_row.end(), S(0));
    for (int j = 0; j < count; ++j) {
      const S factor = at.dropout ? S(at.dropout[i * length + j]) : S(1);
      S d_weight = value_term_backward(pe, Pair{at.head, i, j, scale}, row[j] * factor, d.o(i));
      for (int c = 0; c < width; ++c) {
        d_weight += d.o(i)[c] * at.v(j)[c];
        d.v(j)[c] += row[j] * factor * d.o(i)[c];
      }
      d_row[j] = d_weight * factor;
    }
    softmax_backward(std::span<const S>(row, length), std::span<S>(d_row));
    for (int j = 0; j < count; ++j) {
      for (int c = 0; c < width; ++c) {
        d.q(i)[c] += S(scale) * d_row[j] * at.k(j)[c];
        d.k(j)[c] += S(scale) * d_row[j] * at.q(i)[c];
      }
      score_bias_backward(pe, Pair{at.head, i, j, scale}, at.q(i), d_row[j], d.q(i));
      if (positions.values)
        position_product_backward(pe, Pair{at.head, i, j, scale}, *positions.values, d_row[j], *positions.gradients);
    }
  }
  for (int t = 0; t < length; ++t) {
    rotate(pe, t, -1, d.q(t));
    rotate(pe, t, -1, d.k(t));
  }
}

// state.qkv (B, T, 3C) in; rotates it, fills state.pattern and returns the heads' outputs (B, T, C).
template <class S>
Array<S> attention_forward(const Encoding<S>& pe, int examples, const std::vector<double>& dropout,
                           AttentionState<S>& state) {
  const Spec& spec = pe.spec;
  const std::size_t square = static_cast<std::size_t>(spec.length()) * spec.length();
  Array<S> out(static_cast<std::size_t>(examples) * spec.length() * spec.width, S(0));
  state.pattern.assign(square * spec.heads * examples, S(0));
  for (int b = 0; b < examples; ++b) {
    for (int h = 0; h < spec.heads; ++h) {
      HeadView<S> at = head_view(spec, b, h, state.qkv, out);
      const std::size_t start = (static_cast<std::size_t>(b) * spec.heads + h) * square;
      at.pattern = state.pattern.data() + start;
      at.dropout = dropout.empty() ? nullptr : dropout.data() + start;
      if (state.positions.empty()) {
        head_forward<S>(pe, at, nullptr);
      } else {
        const HeadView<S> positions = head_view(spec, 0, h, state.positions, out);
        head_forward(pe, at, &positions);
      }
    }
  }
  return out;
}

// Returns the gradient of q, k, v before rotation (B, T, 3C).
template <class S>
Array<S> attention_backward(const Encoding<S>& pe, const std::vector<double>& dropout, AttentionState<S>& state,
                            Array<S>& d_out) {
  const Spec& spec = pe.spec;
  const std::size_t square = static_cast<std::size_t>(spec.length()) * spec.length();
  const int examples = static_cast<int>(state.pattern.size() / (square * spec.heads));
  Array<S> d_qkv(state.qkv.size(), S(0));
  state.d_positions.assign(state.positions.size(), S(0));
  for (int b = 0; b < examples; ++b) {
    for (int h = 0; h < spec.heads; ++h) {
      HeadView<S> at = head_view(spec, b, h, state.qkv, d_out);
      const std::size_t start = (static_cast<std::size_t>(b) * spec.heads + h) * square;
      at.pattern = state.pattern.data() + start;
      at.dropout = dropout.empty() ? nullptr : dropout.data() + start;
      const HeadView<S> d = head_view(spec, b, h, d_qkv, d_out);
      if (state.positions.empty()) {
        head_backward(pe, at, d, {});
      } else {
        const HeadView<S> values = head_view(spec, 0, h, state.positions, d_out);
        const HeadView<S> gradients = head_view(spec, 0, h, state.d_positions, d_out);
        head_backward(pe, at, d, {&values, &gradients});
      }
    }
  }
  return d_qkv;
}

}  // namespace locus::reference
