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

// A row's sums, root and divisions each wait for the one before, so layer norms take several rows through every stage.
constexpr std::int64_t kRowsTogether = 4;

// The first k lanes of v; the rest 0.
inline Vec first_lanes(Vec v, std::int64_t k) {
  return k == kLanes ? v : simd::load_some(reinterpret_cast<const float*>(&v), k, 0.0f);
}

void normalize_rows(ConstMat a, ConstMat b, LayerNormParams params, LayerNormSaved saved, Mat out) {
  const std::int64_t n = a.cols;
  const float inverse_n = 1.0f / static_cast<float>(n);
  Vec mean[kRowsTogether], rstd[kRowsTogether];
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const float* x = a.row(r);
    const float* added = b.data != nullptr ? b.row(r) : nullptr;
    float* hat = saved.normalized.row(r);
    Vec total{};
    for_vectors(n, [&](std::int64_t i, std::int64_t k) {
      const Vec sum = added != nullptr ? get(x + i, k) + get(added + i, k) : get(x + i, k);
      put(hat + i, sum, k);
      total += sum;
    });
    mean[r] = simd::splat(simd::sum(total) * inverse_n);
  }
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const float* hat = saved.normalized.row(r);
    Vec squares{};
    for_vectors(n, [&](std::int64_t i, std::int64_t k) {
      const Vec d = first_lanes(get(hat + i, k) - mean[r], k);
      squares += d * d;
    });
    saved.rstd[r] = 1.0f / std::sqrt(simd::sum(squares) * inverse_n + kLayerNormEps);
    rstd[r] = simd::splat(saved.rstd[r]);
  }
  for (std::int64_t r = 0; r < a.rows; ++r) {
    float* hat = saved.normalized.row(r);
    float* y = out.row(r);
    for_vectors(n, [&](std::int64_t i, std::int64_t k) {
      const Vec h = (get(hat + i, k) - mean[r]) * rstd[r];
      put(hat + i, h, k);
      put(y + i, h * get(params.weight + i, k) + get(params.bias + i, k), k);
    });
  }
}

void normalize_rows_backward(ConstMat dout, const float* weight, LayerNormSaved saved, Mat din) {
  const std::int64_t n = dout.cols;
  const float inverse_n = 1.0f / static_cast<float>(n);
  Vec mean_g[kRowsTogether], mean_gh[kRowsTogether];
  for (std::int64_t r = 0; r < dout.rows; ++r) {
    const float* dy = dout.row(r);
    const float* hat = saved.normalized.row(r);
    Vec sum_g{};
    Vec sum_gh{};
    for_vectors(n, [&](std::int64_t i, std::int64_t k) {
      const Vec g = get(dy + i, k) * get(weight + i, k);
      sum_g += g;
      sum_gh += g * get(hat + i, k);
    });
    mean_g[r] = simd::splat(simd::sum(sum_g) * inverse_n);
    mean_gh[r] = simd::splat(simd::sum(sum_gh) * inverse_n);
  }
  for (std::int64_t r = 0; r < dout.rows; ++r) {
    const float* dy = dout.row(r);
    const float* hat = saved.normalized.row(r);
    float* dx = din.row(r);
    const Vec rstd = simd::splat(saved.rstd[r]);
    for_vectors(n, [&](std::int64_t i, std::int64_t k) {
      const Vec g = get(dy + i, k) * get(weight + i, k);
      put(dx + i, (g - mean_g[r] - get(hat + i, k) * mean_gh[r]) * rstd, k);
    });
  }
}

LayerNormSaved rows_of(LayerNormSaved saved, std::int64_t first, std::int64_t count) {
  return {saved.normalized.row_block(first, count), saved.rstd + first};
}

}  // namespace

void gelu_forward(ConstMat in, Mat out) {
  for (std::int64_t r = 0; r < in.rows; ++r) {
    const float* x = in.row(r);
    float* y = out.row(r);
    for_vectors(in.cols, [&](std::int64_t i, std::int64_t k) {
      const Vec v = get(x + i, k);
      put(y + i, v * simd::normal(v).cdf, k);
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
      const simd::Normal n = simd::normal(v);
      put(y + i, v * n.cdf, k);
      put(dy + i, n.cdf + v * n.density, k);
    });
  }
}

void layer_norm_forward(ConstMat a, ConstMat b, LayerNormParams params, LayerNormSaved saved, Mat out) {
  for (std::int64_t r = 0; r < a.rows; r += kRowsTogether) {
    const std::int64_t rows = std::min(kRowsTogether, a.rows - r);
    const ConstMat added = b.data != nullptr ? b.row_block(r, rows) : b;
    normalize_rows(a.row_block(r, rows), added, params, rows_of(saved, r, rows), out.row_block(r, rows));
  }
}

void layer_norm_backward(ConstMat dout, const float* weight, LayerNormSaved saved, Mat din, float* dweight, float* dbias) {
  for (std::int64_t r = 0; r < dout.rows; r += kRowsTogether) {
    const std::int64_t rows = std::min(kRowsTogether, dout.rows - r);
    const LayerNormSaved here = rows_of(saved, r, rows);
    for_vectors(dout.cols, [&](std::int64_t i, std::int64_t k) {
      Vec dw = get(dweight + i, k);
      Vec db = get(dbias + i, k);
      for (std::int64_t j = 0; j < rows; ++j) {
        const Vec d = get(dout.row(r + j) + i, k);
        dw += d * get(here.normalized.row(j) + i, k);
        db += d;
      }
      put(dweight + i, dw, k);
      put(dbias + i, db, k);
    });
    normalize_rows_backward(dout.row_block(r, rows), weight, here, din.row_block(r, rows));
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

void copy_rows(ConstMat a, Mat out) {
  for (std::int64_t r = 0; r < a.rows; ++r) std::copy_n(a.row(r), a.cols, out.row(r));
}

void add_rows(ConstMat a, Mat out) {
  if (a.stride == a.cols && out.stride == out.cols) {
    axpy(1.0f, a.data, out.data, a.rows * a.cols);
    return;
  }
  for (std::int64_t r = 0; r < a.rows; ++r) axpy(1.0f, a.row(r), out.row(r), a.cols);
}

void sum_of(const float* a, const float* b, float* out, std::int64_t n) {
  for_vectors(n, [&](std::int64_t i, std::int64_t k) { put(out + i, get(a + i, k) + get(b + i, k), k); });
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
  for (; c + kLanes <= a.cols; c += kLanes) {
    Vec sum = simd::load(out + c);
    for (std::int64_t r = 0; r < a.rows; ++r) sum += simd::load(a.row(r) + c);
    simd::store(out + c, sum);
  }
  if (c == a.cols) return;
  for (std::int64_t r = 0; r < a.rows; ++r) axpy(1.0f, a.row(r) + c, out + c, a.cols - c);
}

// Even and odd rows apart, for one chain of sums would wait for itself.
void add_panel_sums(Panels a, float* out) {
  for (std::int64_t c = 0; c < a.cols; c += kPanel) {
    Vec sums[2][2] = {};
    const float* row = &a(0, c);
    std::int64_t r = 0;
    for (; r + 2 <= a.rows; r += 2, row += 2 * kPanel) {
      for (int i = 0; i < 2; ++i) {
        sums[0][i] += simd::load(row + i * kLanes);
        sums[1][i] += simd::load(row + kPanel + i * kLanes);
      }
    }
    for (int i = 0; r < a.rows && i < 2; ++i) sums[0][i] += simd::load(row + i * kLanes);
    for (int i = 0; i < 2; ++i) {
      const std::int64_t first = c + i * kLanes;
      const std::int64_t n = std::min(kLanes, a.cols - first);
      if (n > 0) put(out + first, get(out + first, n) + (sums[0][i] + sums[1][i]), n);
    }
  }
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
