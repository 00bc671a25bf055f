#include "model/joined.h"

#include <algorithm>

#include "kernels/elementwise.h"

namespace locus {

using kernels::Packed;
using kernels::Store;

namespace {

std::size_t square(std::int64_t c) { return static_cast<std::size_t>(c * c); }

std::size_t packed_floats(std::int64_t c) { return static_cast<std::size_t>(kernels::packed_size(c, c)); }

std::size_t product_floats(std::int64_t c) { return static_cast<std::size_t>(kernels::gemm_at_scratch(c)); }

// The four layers as they lie in an arena; biases may be null.
template <class T>
struct Parts {
  Parts(const ModelStructure& s, const BlockSlots& b, T* arena) {
    const std::int64_t c = s.width();
    T* in = arena + s.layout[b.in_weight].offset;
    q = {in, c, c};
    k = {in + c * c, c, c};
    v = {in + 2 * c * c, c, c};
    out = {arena + s.layout[b.out_proj.weight].offset, c, c};
    if (b.in_bias >= 0) {
      q_bias = arena + s.layout[b.in_bias].offset;
      v_bias = q_bias + 2 * c;
    }
    if (b.out_proj.bias >= 0) out_bias = arena + s.layout[b.out_proj.bias].offset;
  }
  MatrixView<T> q, k, v, out;
  T* q_bias = nullptr;
  T* v_bias = nullptr;
  T* out_bias = nullptr;
};

}  // namespace

JoinedWeights::JoinedWeights(const ModelStructure& s, std::int64_t layer)
    : s_(s),
      slots_(s.blocks[static_cast<std::size_t>(layer)]),
      product_(square(s.width())),
      bias_(static_cast<std::size_t>(2 * s.width())),
      scratch_(product_floats(s.width()) + packed_floats(s.width())),
      packed_(4 * packed_floats(s.width())) {}

void JoinedWeights::pack_both(ConstMat w, float* packed, PackedLinear& out) const {
  float* backward = packed + packed_floats(s_.width());
  kernels::pack_transposed(w, packed);
  kernels::pack(w, backward);
  out.forward = Packed(packed, w.cols);
  out.backward = Packed(backward, w.rows);
}

void JoinedWeights::update(const float* params) {
  const std::int64_t c = s_.width();
  const Parts<const float> w(s_, slots_, params);
  const Mat product(product_.data(), c, c);
  kernels::gemm_at(w.k, w.q, product, Store::kOverwrite, scratch_.data());
  pack_both(product, packed_.data(), query_);
  float* packed_v = scratch_.data() + product_floats(c);
  kernels::pack(w.v, packed_v);
  kernels::gemm(w.out, Packed(packed_v, c), product, Store::kOverwrite);
  pack_both(product, packed_.data() + 2 * packed_floats(c), value_);

  float* query_bias = bias_.data();
  float* value_bias = bias_.data() + c;
  std::fill_n(bias_.data(), 2 * c, 0.0f);
  if (w.q_bias != nullptr) {
    for (std::int64_t i = 0; i < c; ++i) kernels::axpy(w.q_bias[i], w.k.row(i), query_bias, c);
    for (std::int64_t i = 0; i < c; ++i) value_bias[i] = kernels::dot(w.out.row(i), w.v_bias, c);
  }
  if (w.out_bias != nullptr) kernels::axpy(1.0f, w.out_bias, value_bias, c);
  query_.bias = query_bias;
  value_.bias = value_bias;
}

JoinedGradients::JoinedGradients(const ModelStructure& s, std::int64_t layer)
    : s_(s),
      slots_(s.blocks[static_cast<std::size_t>(layer)]),
      width_(s.width()),
      sums_(2 * square(s.width()) + static_cast<std::size_t>(2 * s.width())),
      packed_(packed_floats(s.width())),
      scratch_(product_floats(s.width())) {}

void JoinedGradients::clear() { std::fill_n(sums_.data(), sums_.size(), 0.0f); }

void JoinedGradients::add_to(const float* params, float* grads) {
  const std::int64_t c = width_;
  const Parts<const float> w(s_, slots_, params);
  const Parts<float> d(s_, slots_, grads);
  float* packed = packed_.data();
  // query = W_k^T W_q
  kernels::pack(query(), packed);
  kernels::gemm(w.k, Packed(packed, c), d.q, Store::kAdd);
  kernels::pack_transposed(query(), packed);
  kernels::gemm(w.q, Packed(packed, c), d.k, Store::kAdd);
  // value = W_out W_v
  kernels::pack_transposed(w.v, packed);
  kernels::gemm(value(), Packed(packed, c), d.out, Store::kAdd);
  kernels::gemm_at(w.out, value(), d.v, Store::kAdd, scratch_.data());
  if (w.q_bias != nullptr) {
    for (std::int64_t i = 0; i < c; ++i) {
      d.q_bias[i] += kernels::dot(w.k.row(i), query_bias(), c);
      kernels::axpy(w.q_bias[i], query_bias(), d.k.row(i), c);
      kernels::axpy(value_bias()[i], w.out.row(i), d.v_bias, c);
      kernels::axpy(value_bias()[i], w.v_bias, d.out.row(i), c);
    }
  }
  if (d.out_bias != nullptr) kernels::axpy(1.0f, value_bias(), d.out_bias, c);
}

}  // namespace locus
