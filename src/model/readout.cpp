#include "model/readout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "kernels/elementwise.h"
#include "kernels/gemm.h"

namespace locus {

using kernels::Store;

RowSet every_row(const ModelStructure& s, std::int64_t sequences) {
  RowSet rows;
  rows.all = true;
  for (std::int64_t b = 0; b <= sequences; ++b) rows.offset.push_back(b * s.tokens);
  rows.position.resize(static_cast<std::size_t>(sequences * s.tokens));
  for (std::int64_t i = 0; i < sequences * s.tokens; ++i)
    rows.position[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % s.tokens);
  return rows;
}

RowSet rows_read(const ModelStructure& s, const Microbatch& batch) {
  const ModelConfig& m = s.config.model;
  if (m.readout == Readout::kMean || m.readout == Readout::kFlat) return every_row(s, batch.sequences);
  RowSet rows;
  rows.offset.push_back(0);
  for (std::int64_t b = 0; b < batch.sequences; ++b) {
    if (m.readout == Readout::kToken) {
      rows.position.push_back(static_cast<std::int32_t>(m.readout_token < 0 ? s.tokens + m.readout_token : m.readout_token));
    } else if (m.readout == Readout::kGiven) {
      rows.position.push_back(batch.read_token[b]);
    } else if (m.readout == Readout::kCls) {
      rows.position.push_back(static_cast<std::int32_t>(s.tokens - 1));
    } else {
      for (std::int64_t t = 0; t < s.shape.tokens; ++t) {
        if (m.readout == Readout::kEvery || batch.masked[b * s.shape.tokens + t] == kHidden)
          rows.position.push_back(static_cast<std::int32_t>(t));
      }
    }
    rows.offset.push_back(static_cast<std::int64_t>(rows.position.size()));
  }
  rows.all = m.readout == Readout::kEvery && !s.has_cls();
  return rows;
}

std::int64_t max_rows_read(const ModelStructure& s, std::int64_t sequences) {
  switch (s.config.model.readout) {
    case Readout::kToken:
    case Readout::kGiven:
    case Readout::kCls:
      return sequences;
    default:
      return sequences * s.tokens;
  }
}

ReadoutPass::ReadoutPass(const ModelStructure& s, const Capacity& capacity)
    : s_(s), input_width_(s.head0.weight >= 0 ? s.head0.in : s.head.in) {
  const std::int64_t c = s.width();
  const std::int64_t rows = capacity.read_rows;
  read_ = Buffer(rows * c);
  dread_ = Buffer(capacity.tokens * c);
  if (s.head0.weight >= 0) {
    slope_ = Buffer(rows * s.head0.out);
    active_ = Buffer(rows * s.head0.out);
    dhidden_ = Buffer(rows * s.head0.out);
  }
  outputs_ = Buffer(rows * s.shape.outputs);
  doutputs_ = Buffer(rows * s.shape.outputs);
  product_ = Buffer(kernels::gemm_at_scratch(kernels::kAnyDepth));
  if (!s.post_norm()) {
    normalized_ = Buffer(capacity.tokens * c);
    hat_ = Buffer(capacity.tokens * c);
    rstd_ = Buffer(capacity.tokens);
  }
}

bool ReadoutPass::reads_rows() const {
  return s_.config.model.readout != Readout::kMean && s_.config.model.readout != Readout::kFlat;
}

Mat ReadoutPass::forward(const PackedWeights& weights, const Microbatch& batch, const RowSet& rows, bool only_rows, Mat x) {
  const std::int64_t c = s_.width();
  const std::int64_t t = s_.tokens;
  if (!s_.post_norm()) {
    const Mat normalized = normalized_.mat(x.rows, c);
    const float* p = weights.params();
    kernels::layer_norm_forward(x, {}, {p + s_.layout[s_.norm_weight].offset, p + s_.layout[s_.norm_bias].offset},
                                {hat_.mat(x.rows, c), rstd_.data()}, normalized);
    x = normalized;
  }
  if (s_.config.model.readout == Readout::kFlat) {
    input_ = Mat(x.data, batch.sequences, t * c);
  } else if (s_.config.model.readout == Readout::kMean) {
    input_ = read_.mat(batch.sequences, c);
    for (std::int64_t b = 0; b < batch.sequences; ++b) {
      float* mean = input_.row(b);
      std::fill_n(mean, c, 0.0f);
      for (std::int64_t i = 0; i < t; ++i) kernels::axpy(1.0f / static_cast<float>(t), x.row(b * t + i), mean, c);
    }
  } else if (only_rows || rows.all) {
    input_ = x;
  } else {
    input_ = read_.mat(rows.rows(), c);
    for (std::int64_t b = 0; b < batch.sequences; ++b) {
      const std::int64_t end = rows.offset[static_cast<std::size_t>(b + 1)];
      for (std::int64_t r = rows.offset[static_cast<std::size_t>(b)]; r < end; ++r) {
        std::copy_n(x.row(b * t + rows.position[static_cast<std::size_t>(r)]), c, input_.row(r));
      }
    }
  }
  const std::int64_t n = input_.rows;
  ConstMat top = input_;
  if (s_.head0.weight >= 0) {
    kernels::gemm(input_, weights.head0().forward, slope_.mat(n, s_.head0.out), Store::kOverwrite, weights.head0().bias);
    const Mat hidden = slope_.mat(n, s_.head0.out);
    kernels::gelu_with_slope(hidden, active_.mat(n, s_.head0.out), hidden);
    top = active_.mat(n, s_.head0.out);
  }
  out_ = outputs_.mat(n, s_.shape.outputs);
  kernels::gemm(top, weights.head().forward, out_, Store::kOverwrite, weights.head().bias);
  if (s_.config.model.output_gain != 1.0) kernels::scale_rows(out_, static_cast<float>(s_.config.model.output_gain));
  return out_;
}

double ReadoutPass::loss(const Microbatch& batch, const RowSet& rows, double weight) {
  const std::int64_t o = s_.shape.outputs;
  const Mat d = doutputs_.mat(out_.rows, o);
  double total = 0;
  if (!s_.shape.regression) {
    for (std::int64_t r = 0; r < out_.rows; ++r) {
      const float* y = out_.row(r);
      const double top = *std::max_element(y, y + o);
      double z = 0;
      for (std::int64_t i = 0; i < o; ++i) z += std::exp(static_cast<double>(y[i]) - top);
      const std::int64_t label = batch.labels[r];
      LOCUS_CHECK(label >= 0 && label < o, "a label beyond the model's outputs");
      total += top + std::log(z) - static_cast<double>(y[label]);
      for (std::int64_t i = 0; i < o; ++i) {
        const double p = std::exp(static_cast<double>(y[i]) - top) / z;
        d(r, i) = static_cast<float>(weight * (p - (i == label ? 1.0 : 0.0)));
      }
    }
    return total * weight;
  }
  const bool per_token = s_.config.model.readout == Readout::kEvery || s_.config.model.readout == Readout::kMasked;
  std::int64_t sequence = 0;
  for (std::int64_t r = 0; r < out_.rows; ++r) {
    while (per_token && r >= rows.offset[static_cast<std::size_t>(sequence + 1)]) ++sequence;
    const std::int64_t place = per_token ? sequence * s_.shape.tokens + rows.position[static_cast<std::size_t>(r)] : r;
    for (std::int64_t i = 0; i < o; ++i) {
      const double difference = static_cast<double>(out_(r, i)) - static_cast<double>(batch.targets[place * o + i]);
      total += difference * difference;
      d(r, i) = static_cast<float>(2 * weight * difference);
    }
  }
  return total * weight;
}

void ReadoutPass::select_output(std::int64_t row, std::int64_t column) {
  LOCUS_CHECK(row >= 0 && row < out_.rows && column >= 0 && column < out_.cols, "no such output");
  const Mat d = doutputs_.mat(out_.rows, s_.shape.outputs);
  std::fill_n(d.data, d.rows * d.cols, 0.0f);
  d(row, column) = 1.0f;
}

void ReadoutPass::linear_backward(const PackedLinear& packed, const Linear& l, ConstMat input, ConstMat dy, float* grads,
                                  Mat dinput) {
  kernels::gemm_at(dy, input, Mat(grads + s_.layout[l.weight].offset, l.out, l.in), Store::kAdd, product_.data());
  kernels::add_column_sums(dy, grads + s_.layout[l.bias].offset);
  kernels::gemm(dy, packed.backward, dinput, Store::kOverwrite);
}

void ReadoutPass::backward(const PackedWeights& weights, const Microbatch& batch, const RowSet& rows, bool only_rows,
                           float* grads, Mat dx) {
  const std::int64_t c = s_.width();
  const std::int64_t t = s_.tokens;
  const std::int64_t n = out_.rows;
  const Mat dy = doutputs_.mat(n, s_.shape.outputs);
  if (s_.config.model.output_gain != 1.0) kernels::scale_rows(dy, static_cast<float>(s_.config.model.output_gain));
  const bool direct = s_.config.model.readout == Readout::kFlat || (reads_rows() && (only_rows || rows.all));
  const Mat dinput = direct ? Mat(dx.data, n, input_width_) : dread_.mat(n, input_width_);
  if (s_.head0.weight >= 0) {
    const Mat dhidden = dhidden_.mat(n, s_.head0.out);
    linear_backward(weights.head(), s_.head, active_.mat(n, s_.head0.out), dy, grads, dhidden);
    kernels::multiply_rows(slope_.mat(n, s_.head0.out), dhidden);
    linear_backward(weights.head0(), s_.head0, input_, dhidden, grads, dinput);
  } else {
    linear_backward(weights.head(), s_.head, input_, dy, grads, dinput);
  }
  if (!direct) {
    for (std::int64_t i = 0; i < dx.rows; ++i) std::fill_n(dx.row(i), c, 0.0f);
    for (std::int64_t b = 0; b < batch.sequences; ++b) {
      if (!reads_rows()) {
        for (std::int64_t i = 0; i < t; ++i)
          kernels::axpy(1.0f / static_cast<float>(t), dinput.row(b), dx.row(b * t + i), c);
        continue;
      }
      const std::int64_t end = rows.offset[static_cast<std::size_t>(b + 1)];
      for (std::int64_t r = rows.offset[static_cast<std::size_t>(b)]; r < end; ++r) {
        std::copy_n(dinput.row(r), c, dx.row(b * t + rows.position[static_cast<std::size_t>(r)]));
      }
    }
  }
  if (!s_.post_norm()) {
    kernels::layer_norm_backward(dx, weights.params() + s_.layout[s_.norm_weight].offset,
                                 {hat_.mat(dx.rows, c), rstd_.data()}, dx, grads + s_.layout[s_.norm_weight].offset,
                                 grads + s_.layout[s_.norm_bias].offset);
  }
}

}  // namespace locus
