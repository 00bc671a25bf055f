#include "kernels/elementwise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/rng.h"
#include "kernels/simd.h"

namespace locus::kernels {
namespace {

using simd::kLanes;
using simd::Vec;

// Calls body(pointer offset, count) over n floats, a vector at a time; the last call may have fewer.
template <class Body>
inline void for_vectors(std::int64_t n, Body&& body) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) body(i, kLanes);
  if (i < n) body(i, n - i);
}
inline Vec get(const float* p, std::int64_t n) { return n == kLanes ? simd::load(p) : simd::load_some(p, n, 0.0f); }
inline void put(float* p, Vec v, std::int64_t n) {
  if (n == kLanes) {
    simd::store(p, v);
  } else {
    simd::store_some(p, v, n);
  }
}

inline Vec gelu_slope(Vec x, Vec cdf) {
  const Vec density = simd::splat(0.398942280401432678f) * simd::bell(x);
  return cdf + x * density;
}

void normalize_row(const float* a, const float* b, std::int64_t n, float* hat, float* rstd) {
  Vec total{};
  for_vectors(n, [&](std::int64_t i, std::int64_t k) {
    const Vec x = b != nullptr ? get(a + i, k) + get(b + i, k) : get(a + i, k);
    put(hat + i, x, k);
    total += x;
  });
  const Vec mean = simd::splat(simd::sum(total) / static_cast<float>(n));
  Vec squares{};
  for_vectors(n, [&](std::int64_t i, std::int64_t k) {
    Vec d = get(hat + i, k) - mean;
    if (k != kLanes) d = simd::load_some(reinterpret_cast<const float*>(&d), k, 0.0f);
    squares += d * d;
  });
  *rstd = 1.0f / std::sqrt(simd::sum(squares) / static_cast<float>(n) + kLayerNormEps);
  const Vec r = simd::splat(*rstd);
  for_vectors(n, [&](std::int64_t i, std::int64_t k) { put(hat + i, (get(hat + i, k) - mean) * r, k); });
}

}  // namespace

void gelu_forward(ConstMat in, Mat out) {
  for (std::int64_t r = 0; r < in.rows; ++r) {
    const float* x = in.row(r);
    float* y = out.row(r);
    for_vectors(in.cols, [&](std::int64_t i, std::int64_t k) {
      const Vec v = get(x + i, k);
      put(y + i, v * simd::normal_cdf(v), k);
    });
  }
}

void gelu_with_slope(ConstMat in, Mat out, Mat slope) {
  for (std::int64_t r = 0; r < in.rows; ++r) {
    const float* x = in.row(r);
    float* y = out.row(r);
    float* dy = slope.row(r);
    for_vectors(in.cols, [&](std::int64_t i, std::int64_t k) {
      const Vec v = get(x + i, k);
      const Vec cdf = simd::normal_cdf(v);
      put(y + i, v * cdf, k);
      put(dy + i, gelu_slope(v, cdf), k);
    });
  }
}

void layer_norm_forward(ConstMat a, ConstMat b, LayerNormParams params, LayerNormSaved saved, Mat out) {
  for (std::int64_t r = 0; r < a.rows; ++r) {
    float* hat = saved.normalized.row(r);
    normalize_row(a.row(r), b.data != nullptr ? b.row(r) : nullptr, a.cols, hat, saved.rstd + r);
    float* y = out.row(r);
    for_vectors(a.cols, [&](std::int64_t i, std::int64_t k) {
      put(y + i, get(hat + i, k) * get(params.weight + i, k) + get(params.bias + i, k), k);
    });
  }
}

void layer_norm_backward(ConstMat dout, const float* weight, LayerNormSaved saved, Mat din, float* dweight, float* dbias) {
  const std::int64_t n = dout.cols;
  const float inverse_n = 1.0f / static_cast<float>(n);
  for (std::int64_t r = 0; r < dout.rows; ++r) {
    const float* dy = dout.row(r);
    const float* hat = saved.normalized.row(r);
    float* dx = din.row(r);
    Vec sum_g{};
    Vec sum_gh{};
    for_vectors(n, [&](std::int64_t i, std::int64_t k) {
      const Vec d = get(dy + i, k);
      const Vec h = get(hat + i, k);
      const Vec g = d * get(weight + i, k);
      sum_g += g;
      sum_gh += g * h;
      put(dweight + i, get(dweight + i, k) + d * h, k);
      put(dbias + i, get(dbias + i, k) + d, k);
    });
    const Vec mean_g = simd::splat(simd::sum(sum_g) * inverse_n);
    const Vec mean_gh = simd::splat(simd::sum(sum_gh) * inverse_n);
    const Vec rstd = simd::splat(saved.rstd[r]);
    for_vectors(n, [&](std::int64_t i, std::int64_t k) {
      const Vec g = get(dy + i, k) * get(weight + i, k);
      put(dx + i, (g - mean_g - get(hat + i, k) * mean_gh) * rstd, k);
    });
  }
}

void softmax_rows(Mat scores, std::int64_t padded, float* lse) {
  constexpr float kLow = -std::numeric_limits<float>::infinity();
  // Where the padding reaches, the last vector is made whole by columns that weigh nothing.
  const std::int64_t whole = (scores.cols + kLanes - 1) / kLanes * kLanes;
  const std::int64_t n = whole <= padded ? whole : scores.cols;
  for (std::int64_t r = 0; r < scores.rows; ++r) {
    float* s = scores.row(r);
    std::fill(s + scores.cols, s + n, kLow);
    Vec top = simd::splat(kLow);
    for_vectors(n, [&](std::int64_t i, std::int64_t k) {
      top = simd::max(top, k == kLanes ? simd::load(s + i) : simd::load_some(s + i, k, kLow));
    });
    const float m = simd::max_of(top);
    const Vec shift = simd::splat(m);
    Vec total{};
    for_vectors(n, [&](std::int64_t i, std::int64_t k) {
      const Vec e = simd::exp((k == kLanes ? simd::load(s + i) : simd::load_some(s + i, k, kLow)) - shift);
      total += e;
      put(s + i, e, k);
    });
    const float z = simd::sum(total);
    const Vec inverse = simd::splat(1.0f / z);
    for_vectors(n, [&](std::int64_t i, std::int64_t k) { put(s + i, get(s + i, k) * inverse, k); });
    std::fill(s + scores.cols, s + padded, 0.0f);
    lse[r] = m + std::log(z);
  }
}

void exp_minus_rows(Mat scores, std::int64_t padded, const float* lse) {
  const std::int64_t n = scores.cols;
  for (std::int64_t r = 0; r < scores.rows; ++r) {
    float* s = scores.row(r);
    const Vec shift = simd::splat(lse[r]);
    for_vectors(n, [&](std::int64_t i, std::int64_t k) { put(s + i, simd::exp(get(s + i, k) - shift), k); });
    std::fill(s + n, s + padded, 0.0f);
  }
}

void exp_values(const float* in, float* out, std::int64_t n) {
  for_vectors(n, [&](std::int64_t i, std::int64_t k) { put(out + i, simd::exp(get(in + i, k)), k); });
}

void erf_values(const float* in, float* out, std::int64_t n) {
  for_vectors(n, [&](std::int64_t i, std::int64_t k) { put(out + i, simd::erf(get(in + i, k)), k); });
}

void copy_rows(ConstMat a, Mat out) {
  for (std::int64_t r = 0; r < a.rows; ++r) std::copy_n(a.row(r), a.cols, out.row(r));
}

void add_rows(ConstMat a, Mat out) {
  for (std::int64_t r = 0; r < a.rows; ++r) axpy(1.0f, a.row(r), out.row(r), a.cols);
}

void multiply_rows(ConstMat a, Mat out) {
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const float* x = a.row(r);
    float* y = out.row(r);
    for (std::int64_t c = 0; c < a.cols; ++c) y[c] *= x[c];
  }
}

// Four vectors of columns at a time stay in registers; each column is summed in the order of the rows.
void add_column_sums(ConstMat a, float* out) {
  std::int64_t c = 0;
  for (; c + 4 * kLanes <= a.cols; c += 4 * kLanes) {
    Vec sums[4];
    for (int i = 0; i < 4; ++i) sums[i] = simd::load(out + c + i * kLanes);
    for (std::int64_t r = 0; r < a.rows; ++r) {
      const float* row = a.row(r) + c;
      for (int i = 0; i < 4; ++i) sums[i] += simd::load(row + i * kLanes);
    }
    for (int i = 0; i < 4; ++i) simd::store(out + c + i * kLanes, sums[i]);
  }
  for (std::int64_t r = 0; r < a.rows; ++r) axpy(1.0f, a.row(r) + c, out + c, a.cols - c);
}

void scale_rows(Mat a, float factor) {
  const Vec f = simd::splat(factor);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    float* x = a.row(r);
    for_vectors(a.cols, [&](std::int64_t i, std::int64_t k) { put(x + i, get(x + i, k) * f, k); });
  }
}

float dot(const float* a, const float* b, std::int64_t n) {
  Vec total{};
  for_vectors(n, [&](std::int64_t i, std::int64_t k) { total += get(a + i, k) * get(b + i, k); });
  return simd::sum(total);
}

void axpy(float factor, const float* x, float* y, std::int64_t n) {
  const Vec f = simd::splat(factor);
  for_vectors(n, [&](std::int64_t i, std::int64_t k) { put(y + i, get(y + i, k) + f * get(x + i, k), k); });
}

void dropout_apply(Mat a, float probability, std::uint64_t seed, std::uint64_t first) {
  if (probability <= 0) return;
  const auto threshold = static_cast<std::uint32_t>(static_cast<double>(probability) * 4294967296.0);
  const float keep = 1.0f / (1.0f - probability);
  const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  PhiloxBlock block{};
  std::uint64_t have = ~std::uint64_t{0};
  for (std::int64_t r = 0; r < a.rows; ++r) {
    float* x = a.row(r);
    for (std::int64_t c = 0; c < a.cols; ++c) {
      const std::uint64_t index = first + static_cast<std::uint64_t>(r * a.cols + c);
      if (index / 4 != have) {
        have = index / 4;
        block = philox4x32({static_cast<std::uint32_t>(have), static_cast<std::uint32_t>(have >> 32), 0, 0}, key);
      }
      x[c] = block[index % 4] < threshold ? 0.0f : x[c] * keep;
    }
  }
}

}  // namespace locus::kernels
