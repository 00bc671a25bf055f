// Ops of the oracle, forward and backward side by side, as plain loops. Matrices are row-major; weights are (out, in).
// A backward adds into its gradient arguments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/reference/scalar.h"

namespace locus::reference {

template <class S>
using Array = std::vector<S>;

// y (n, out) = x (n, in) weight^T + bias; bias may be null.
template <class S>
Array<S> linear_forward(const Array<S>& x, const Array<S>& weight, const Array<S>* bias, int in) {
  const int out = static_cast<int>(weight.size()) / in;
  const int n = static_cast<int>(x.size()) / in;
  Array<S> y(static_cast<std::size_t>(n) * out);
  for (int r = 0; r < n; ++r) {
    for (int o = 0; o < out; ++o) {
      S sum = bias ? (*bias)[o] : S(0);
      for (int i = 0; i < in; ++i) sum += x[r * in + i] * weight[o * in + i];
      y[r * out + o] = sum;
    }
  }
  return y;
}

template <class S>
struct LinearGradients {
  Array<S>* weight;
  Array<S>* bias;  // or null
};

// Returns dx (n, in).
template <class S>
Array<S> linear_backward(const Array<S>& x, const Array<S>& weight, const Array<S>& dy, int in, LinearGradients<S> grads) {
  const int out = static_cast<int>(weight.size()) / in;
  const int n = static_cast<int>(x.size()) / in;
  Array<S> dx(x.size(), S(0));
  for (int r = 0; r < n; ++r) {
    for (int o = 0; o < out; ++o) {
      const S d = dy[r * out + o];
      if (grads.bias) (*grads.bias)[o] += d;
      for (int i = 0; i < in; ++i) {
        (*grads.weight)[o * in + i] += d * x[r * in + i];
        dx[r * in + i] += d * weight[o * in + i];
      }
    }
  }
  return dx;
}

// GELU in its erf form: x Phi(x).
template <class S>
Array<S> gelu_forward(const Array<S>& x) {
  Array<S> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = S(0.5) * x[i] * (S(1) + erf_of(x[i] * S(1.0 / std::numbers::sqrt2)));
  }
  return y;
}

template <class S>
Array<S> gelu_backward(const Array<S>& x, const Array<S>& dy) {
  const S density = S(1.0 / std::sqrt(2.0 * std::numbers::pi));
  Array<S> dx(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const S phi = S(0.5) * (S(1) + erf_of(x[i] * S(1.0 / std::numbers::sqrt2)));
    dx[i] = dy[i] * (phi + x[i] * density * exp_of(x[i] * x[i] * S(-0.5)));
  }
  return dx;
}

// Mean and 1/standard deviation of one row; biased variance, eps 1e-5.
template <class S>
struct Moments {
  S mean, inverse;
};

template <class S>
Moments<S> row_moments(std::span<const S> row) {
  const S count = S(static_cast<double>(row.size()));
  S mean = S(0), variance = S(0);
  for (const S& v : row) mean += v;
  mean /= count;
  for (const S& v : row) variance += (v - mean) * (v - mean);
  return {mean, S(1) / sqrt_of(variance / count + S(1e-5))};
}

// y (n, C) = (x - mean) / deviation * weight + bias, row by row.
template <class S>
Array<S> layer_norm_forward(const Array<S>& x, const Array<S>& weight, const Array<S>& bias) {
  const std::size_t width = weight.size();
  Array<S> y(x.size());
  for (std::size_t start = 0; start < x.size(); start += width) {
    const Moments<S> m = row_moments(std::span<const S>(x).subspan(start, width));
    for (std::size_t c = 0; c < width; ++c) y[start + c] = (x[start + c] - m.mean) * m.inverse * weight[c] + bias[c];
  }
  return y;
}

template <class S>
Array<S> layer_norm_backward(const Array<S>& x, const Array<S>& weight, const Array<S>& dy, LinearGradients<S> grads) {
  const std::size_t width = weight.size();
  Array<S> dx(x.size());
  for (std::size_t start = 0; start < x.size(); start += width) {
    const Moments<S> m = row_moments(std::span<const S>(x).subspan(start, width));
    S sum = S(0), sum_normal = S(0);
    for (std::size_t c = 0; c < width; ++c) {
      const S normal = (x[start + c] - m.mean) * m.inverse;
      (*grads.weight)[c] += dy[start + c] * normal;
      (*grads.bias)[c] += dy[start + c];
      sum += dy[start + c] * weight[c];
      sum_normal += dy[start + c] * weight[c] * normal;
    }
    const S count = S(static_cast<double>(width));
    for (std::size_t c = 0; c < width; ++c) {
      const S normal = (x[start + c] - m.mean) * m.inverse;
      dx[start + c] = m.inverse * (dy[start + c] * weight[c] - sum / count - normal * sum_normal / count);
    }
  }
  return dx;
}

// In place over the first `count` entries of a row; the rest becomes 0.
template <class S>
void softmax_forward(std::span<S> row, int count) {
  double largest = real_part(row[0]);
  for (int j = 1; j < count; ++j) largest = std::max(largest, real_part(row[j]));
  S sum = S(0);
  for (int j = 0; j < count; ++j) sum += row[j] = exp_of(row[j] - S(largest));
  for (int j = 0; j < static_cast<int>(row.size()); ++j) row[j] = j < count ? row[j] / sum : S(0);
}

// d logits from the probabilities and their gradient, in place of the latter.
template <class S>
void softmax_backward(std::span<const S> row, std::span<S> d) {
  S inner = S(0);
  for (std::size_t j = 0; j < row.size(); ++j) inner += row[j] * d[j];
  for (std::size_t j = 0; j < row.size(); ++j) d[j] = row[j] * (d[j] - inner);
}

// x times given factors (dropout masks); its own backward. No factors: x as it is.
template <class S>
Array<S> scaled(Array<S> x, const std::vector<double>& factors) {
  for (std::size_t i = 0; i < factors.size(); ++i) x[i] *= S(factors[i]);
  return x;
}

template <class S>
void add_to(Array<S>& sum, const Array<S>& x) {
  for (std::size_t i = 0; i < x.size(); ++i) sum[i] += x[i];
}

template <class S>
struct Loss {
  S value;
  Array<S> gradient;  // of the outputs
};

// Mean cross-entropy of logits (n, O) with labels (n).
template <class S>
Loss<S> cross_entropy(const Array<S>& logits, const std::vector<std::int64_t>& labels) {
  const int n = static_cast<int>(labels.size());
  const int outputs = static_cast<int>(logits.size()) / n;
  Loss<S> loss{S(0), logits};
  for (int r = 0; r < n; ++r) {
    const std::span<S> row(loss.gradient.data() + static_cast<std::size_t>(r) * outputs, outputs);
    softmax_forward(row, outputs);
    loss.value -= log_of(row[labels[r]]) / S(n);
    row[labels[r]] -= S(1);
    for (S& d : row) d /= S(n);
  }
  return loss;
}

// Mean square difference over all entries.
template <class S>
Loss<S> mean_square(const Array<S>& outputs, const std::vector<double>& targets) {
  const S count = S(static_cast<double>(outputs.size()));
  Loss<S> loss{S(0), Array<S>(outputs.size())};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const S difference = outputs[i] - S(targets[i]);
    loss.value += difference * difference / count;
    loss.gradient[i] = S(2) * difference / count;
  }
  return loss;
}

}  // namespace locus::reference
