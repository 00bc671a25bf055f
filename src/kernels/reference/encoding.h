// Positional encodings of the oracle: what positions alone decide (Geometry), and the four places where an encoding acts,
// each with its backward: add_to_input, rotate, score_bias, value term.
#pragma once

#include <algorithm>

#include "kernels/reference/ops.h"
#include "kernels/reference/spec.h"

namespace locus::reference {

// Bucket of a rounded offset, key minus query.
inline int t5_bucket(int offset, int buckets, int max_distance) {
  const int half = buckets / 2, exact = half / 2;
  const int start = offset > 0 ? half : 0, n = std::abs(offset);
  if (n < exact) return start + n;
  const double farthest = max_distance == 0 ? 128 : max_distance;
  const double part = std::log(static_cast<double>(n) / exact) / std::log(farthest / exact);
  return start + std::min(half - 1, exact + static_cast<int>(std::floor(part * (half - exact))));
}

struct Geometry {
  explicit Geometry(const Spec& spec) : length(spec.length()) {
    for (int t = 0; t < spec.tokens && spec.coordinates.empty(); ++t) positions.push_back({static_cast<double>(t)});
    if (!spec.coordinates.empty()) positions = spec.coordinates;
    if (static_cast<int>(positions.size()) < length) positions.push_back(cls_position(spec));
    LOCUS_CHECK(static_cast<int>(positions.size()) == length, "one row of coordinates per token");
    axes = static_cast<int>(positions[0].size());
    for (auto& row : positions) {
      for (double& p : row) p *= spec.coord_scale;
    }
    radius = spec.max_distance > 0 ? spec.max_distance : largest_offset();
  }

  // round(p_x[j] - p_x[i]), halves to even.
  int offset(int x, int i, int j) const { return static_cast<int>(std::nearbyint(positions[j][x] - positions[i][x])); }
  // Row of a relative table.
  int relative_row(int x, int i, int j) const {
    return x * (2 * radius + 1) + std::clamp(offset(x, i, j), -radius, radius) + radius;
  }
  double distance(int i, int j) const {
    double sum = 0;
    for (int x = 0; x < axes; ++x) sum += (positions[i][x] - positions[j][x]) * (positions[i][x] - positions[j][x]);
    return std::sqrt(sum);
  }

  int length = 0, axes = 1, radius = 0;
  std::vector<std::vector<double>> positions;  // (T, X), scaled

 private:
  std::vector<double> cls_position(const Spec& spec) const {
    if (spec.coordinates.empty()) return {static_cast<double>(spec.tokens)};
    std::vector<double> mean(positions[0].size(), 0.0);
    for (const auto& row : positions) {
      for (std::size_t x = 0; x < mean.size(); ++x) mean[x] += row[x];
    }
    for (double& m : mean) m /= static_cast<double>(positions.size());
    return mean;
  }
  int largest_offset() const {
    int largest = 0;
    for (int x = 0; x < axes; ++x) {
      for (int i = 0; i < length; ++i) {
        for (int j = 0; j < length; ++j) largest = std::max(largest, std::abs(offset(x, i, j)));
      }
    }
    return largest;
  }
};

// Values of a sinusoidal table (T, C).
inline std::vector<double> sinusoid_table(const Geometry& geometry, int width, double base) {
  std::vector<double> table(static_cast<std::size_t>(geometry.length) * width, 0.0);
  const int channels = 2 * (width / (2 * geometry.axes));
  for (int t = 0; t < geometry.length; ++t) {
    for (int x = 0; x < geometry.axes; ++x) {
      for (int i = 0; i < channels / 2; ++i) {
        const double angle = geometry.positions[t][x] * std::pow(base, -2.0 * i / channels);
        table[t * width + x * channels + 2 * i] = std::sin(angle);
        table[t * width + x * channels + 2 * i + 1] = std::cos(angle);
      }
    }
  }
  return table;
}

// One block's encoding: its tensors and, for a backward, their gradients (null where frozen or absent).
template <class S>
struct Encoding {
  Encoding(const Spec& s, const Geometry& g, int layer, const Params<S>& params, Params<S>* gradients)
      : spec(s), geometry(g), kind(s.pe_of_block(layer)) {
    const std::string prefix = s.pe_prefix(layer);
    const auto find = [&](const char* name, const Array<S>*& value, Array<S>*& gradient) {
      if (kind == PeKind::kNone) return;
      value = optional_tensor(params, prefix + name);
      gradient = gradients ? optional_tensor(*gradients, prefix + name) : nullptr;
    };
    find("table", table, d_table);
    find("eigenvectors", eigenvectors, d_eigenvectors);
    find("proj.weight", projection, d_projection);
    find("key_table", key_table, d_key_table);
    find("value_table", value_table, d_value_table);
    find("bias_table", bias_table, d_bias_table);
    find("slopes", slopes, d_slopes);
  }

  bool adds_table() const { return kind == PeKind::kLearned || kind == PeKind::kSinusoidal || kind == PeKind::kLaplacian; }

  const Spec& spec;
  const Geometry& geometry;
  PeKind kind;
  const Array<S>*table = nullptr, *eigenvectors = nullptr, *projection = nullptr, *key_table = nullptr,
        *value_table = nullptr, *bias_table = nullptr, *slopes = nullptr;
  Array<S>*d_table = nullptr, *d_eigenvectors = nullptr, *d_projection = nullptr, *d_key_table = nullptr,
  *d_value_table = nullptr, *d_bias_table = nullptr, *d_slopes = nullptr;
};

// Eigenvectors with their signs, (T, k).
template <class S>
Array<S> signed_eigenvectors(const Encoding<S>& pe, const std::vector<double>& signs) {
  Array<S> vectors = *pe.eigenvectors;
  const std::size_t k = vectors.size() / pe.geometry.length;
  for (std::size_t i = 0; i < vectors.size() && !signs.empty(); ++i) vectors[i] *= S(signs[i % k]);
  return vectors;
}

// The table (T, C) that the encoding adds.
template <class S>
Array<S> added_table_forward(const Encoding<S>& pe, const std::vector<double>& signs) {
  if (pe.kind != PeKind::kLaplacian) return *pe.table;
  const int k = static_cast<int>(pe.eigenvectors->size()) / pe.geometry.length;
  return linear_forward<S>(signed_eigenvectors(pe, signs), *pe.projection, nullptr, k);
}

template <class S>
void added_table_backward(const Encoding<S>& pe, const std::vector<double>& signs, const Array<S>& d_table) {
  if (pe.kind == PeKind::kLaplacian) {
    const int k = static_cast<int>(pe.eigenvectors->size()) / pe.geometry.length;
    if (pe.d_projection) {
      linear_backward<S>(signed_eigenvectors(pe, signs), *pe.projection, d_table, k, {pe.d_projection, nullptr});
    }
  } else if (pe.d_table) {
    add_to(*pe.d_table, d_table);
  }
}

// x (B, T, C) += the encoding's table.
template <class S>
void add_to_input_forward(const Encoding<S>& pe, const std::vector<double>& signs, Array<S>& x) {
  if (!pe.adds_table()) return;
  const Array<S> table = added_table_forward(pe, signs);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += table[i % table.size()];
}

template <class S>
void add_to_input_backward(const Encoding<S>& pe, const std::vector<double>& signs, const Array<S>& dx) {
  if (!pe.adds_table()) return;
  Array<S> d_table(static_cast<std::size_t>(pe.geometry.length) * pe.spec.width, S(0));
  for (std::size_t i = 0; i < dx.size(); ++i) d_table[i % d_table.size()] += dx[i];
  added_table_backward(pe, signs, d_table);
}

// Rotary: turns the pairs of head `row` (D channels) of token t; direction -1 is the backward of +1.
template <class S>
void rotate(const Encoding<S>& pe, int t, int direction, S* row) {
  if (pe.kind != PeKind::kRotary) return;
  const int axes = pe.geometry.axes;
  // The little more than the product keeps a fraction like 0.7 from losing a pair to rounding.
  const int per_axis = static_cast<int>(std::floor(pe.spec.rotary_fraction * pe.spec.head_width() + 1e-9)) / (2 * axes);
  for (int x = 0; x < axes; ++x) {
    for (int i = 0; i < per_axis; ++i) {
      const double angle =
          direction * pe.geometry.positions[t][x] * std::pow(pe.spec.base, -static_cast<double>(i) / per_axis);
      S* pair = row + 2 * (x * per_axis + i);
      const S a = pair[0], b = pair[1], c = S(std::cos(angle)), s = S(std::sin(angle));
      pair[0] = a * c - b * s;
      pair[1] = a * s + b * c;
    }
  }
}

// A query-key pair of one head.
struct Pair {
  int head, i, j;
  double scale;  // logit_scale / sqrt(D)
};

// The encoding's term of the logit; q is the query of token i, D channels.
template <class S>
S score_bias_forward(const Encoding<S>& pe, const Pair& at, const S* q) {
  const int width = pe.spec.head_width();
  S sum = S(0);
  if (pe.kind == PeKind::kAlibi) return -(*pe.slopes)[at.head] * S(pe.geometry.distance(at.i, at.j));
  for (int x = 0; x < pe.geometry.axes; ++x) {
    if (pe.kind == PeKind::kT5) {
      const int bucket = t5_bucket(pe.geometry.offset(x, at.i, at.j), pe.spec.buckets, pe.spec.max_distance);
      sum += (*pe.bias_table)[(x * pe.spec.buckets + bucket) * pe.spec.heads + at.head];
    } else if (pe.kind == PeKind::kRelative) {
      const int row = pe.geometry.relative_row(x, at.i, at.j);
      for (int d = 0; d < width; ++d) sum += S(at.scale) * q[d] * (*pe.key_table)[row * width + d];
    }
  }
  return sum;
}

// d: gradient of the logit. Adds to dq and to the tensors' gradients.
template <class S>
void score_bias_backward(const Encoding<S>& pe, const Pair& at, const S* q, const S& d, S* dq) {
  const int width = pe.spec.head_width();
  if (pe.kind == PeKind::kAlibi && pe.d_slopes) (*pe.d_slopes)[at.head] -= d * S(pe.geometry.distance(at.i, at.j));
  for (int x = 0; x < pe.geometry.axes; ++x) {
    if (pe.kind == PeKind::kT5 && pe.d_bias_table) {
      const int bucket = t5_bucket(pe.geometry.offset(x, at.i, at.j), pe.spec.buckets, pe.spec.max_distance);
      (*pe.d_bias_table)[(x * pe.spec.buckets + bucket) * pe.spec.heads + at.head] += d;
    } else if (pe.kind == PeKind::kRelative) {
      const int row = pe.geometry.relative_row(x, at.i, at.j);
      for (int c = 0; c < width; ++c) {
        dq[c] += d * S(at.scale) * (*pe.key_table)[row * width + c];
        if (pe.d_key_table) (*pe.d_key_table)[row * width + c] += d * S(at.scale) * q[c];
      }
    }
  }
}

// Value term of the relative encoding: out (D channels of token i) += weight * sum_x value_table[...].
template <class S>
void value_term_forward(const Encoding<S>& pe, const Pair& at, const S& weight, S* out) {
  if (pe.kind != PeKind::kRelative || !pe.value_table) return;
  const int width = pe.spec.head_width();
  for (int x = 0; x < pe.geometry.axes; ++x) {
    const int row = pe.geometry.relative_row(x, at.i, at.j);
    for (int d = 0; d < width; ++d) out[d] += weight * (*pe.value_table)[row * width + d];
  }
}

// Returns what the term adds to the gradient of `weight`.
template <class S>
S value_term_backward(const Encoding<S>& pe, const Pair& at, const S& weight, const S* d_out) {
  S sum = S(0);
  if (pe.kind != PeKind::kRelative || !pe.value_table) return sum;
  const int width = pe.spec.head_width();
  for (int x = 0; x < pe.geometry.axes; ++x) {
    const int row = pe.geometry.relative_row(x, at.i, at.j);
    for (int d = 0; d < width; ++d) {
      sum += d_out[d] * (*pe.value_table)[row * width + d];
      if (pe.d_value_table) (*pe.d_value_table)[row * width + d] += weight * d_out[d];
    }
  }
  return sum;
}

}  // namespace locus::reference
