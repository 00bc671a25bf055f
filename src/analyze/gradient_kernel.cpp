#include "analyze/gradient_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analyze/movement.h"
#include "core/error.h"
#include "infer/evaluate.h"
#include "kernels/gemm.h"

namespace locus {
namespace {

constexpr std::int64_t kDepth = 960;   // of one product in single precision, then added in double
constexpr std::int64_t kColumns = 64;  // below the diagonal is computed in steps of this: whole panels
constexpr std::uintptr_t kLine = 16;   // floats of a cache line

struct Range {
  std::int64_t offset, size;
  bool pe;
};

std::vector<Range> trained_ranges(const ModelStructure& s) {
  std::vector<Range> out;
  for (const TensorSlot& slot : s.layout.slots()) {
    if (slot.trained) out.push_back({slot.offset, slot.size, is_position_tensor(slot.name)});
  }
  return out;
}

// Rows of gradients of some examples for one output: (count, floats of the layout).
struct Gradients {
  AlignedBuffer<float> values;
  std::int64_t first = 0, count = 0, stride = 0;

  float* row(std::int64_t i) { return values.data() + i * stride; }
  const float* row(std::int64_t i) const { return values.data() + i * stride; }
};

// One example at a time: the table of pairs and joined projections would cost more than they save.
Savings savings_for_one(const ModelStructure& s) {
  Savings savings = admitted_savings(s);
  if (savings.first == FirstPath::kTable) savings.first = FirstPath::kSplit;
  savings.join_projections = false;
  return savings;
}

class KernelBuilder {
 public:
  KernelBuilder(const ModelStructure& s, const float* params, const Examples& probe,
                std::span<const std::vector<float>> directions)
      : s_(s),
        probe_(probe),
        directions_(directions),
        ranges_(trained_ranges(s)),
        prepared_(s, savings_for_one(s)),
        pass_(s, 1, savings_for_one(s)) {
    prepared_.update(params, {});
  }

  void gradients(const OutputPlace& place, std::int64_t column, Gradients& g, TangentKernel& out) {
    for (std::int64_t i = 0; i < g.count; ++i) {
      float* row = g.row(i);
      std::fill_n(row, g.stride, 0.0f);
      pass_.begin_shard(prepared_, row);
      const PassResult result =
          pass_.output_gradient(prepared_, microbatch_of(s_.shape, probe_, g.first + i, 1), {}, place.row, place.column);
      out.outputs(g.first + i, column) = result.outputs(place.row, place.column);
      pass_.end_shard(prepared_);
      for (std::size_t d = 0; d < directions_.size(); ++d)
        out.along[d](g.first + i, column) = dot(row, directions_[d].data());
    }
  }

  // Adds the products of all rows of a with all rows of b; of one group with itself the upper part alone.
  void add_products(const Gradients& a, const Gradients& b, TangentKernel& out) {
    const bool same = a.first == b.first;
    packed_.resize(static_cast<std::size_t>(kernels::packed_size(kDepth, b.count)) + kLine);
    float* packed = packed_.data();
    packed += (kLine - reinterpret_cast<std::uintptr_t>(packed) / sizeof(float) % kLine) % kLine;
    block_.resize(static_cast<std::size_t>(a.count * b.count));
    for (const Range& range : ranges_) {
      MatrixD& k = range.pe ? out.pe : out.rest;
      for (std::int64_t at = 0; at < range.size; at += kDepth) {
        const std::int64_t depth = std::min(kDepth, range.size - at);
        kernels::pack_transposed(ConstMat(b.row(0) + range.offset + at, b.count, depth, b.stride), packed);
        for (std::int64_t j = 0; j < b.count; j += kColumns) {
          const std::int64_t columns = std::min(kColumns, b.count - j);
          const std::int64_t rows = same ? std::min(a.count, j + columns) : a.count;
          kernels::gemm(ConstMat(a.row(0) + range.offset + at, rows, depth, a.stride),
                        kernels::Packed(packed, depth).cols_from(j), Mat(block_.data() + j, rows, columns, b.count),
                        kernels::Store::kOverwrite);
          for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t c = j; c < j + columns; ++c) {
              k(a.first + r, b.first + c) += static_cast<double>(block_[static_cast<std::size_t>(r * b.count + c)]);
            }
          }
        }
      }
    }
  }

 private:
  double dot(const float* a, const float* b) const {
    double total = 0;
    for (const Range& range : ranges_) {
      double sums[4] = {0, 0, 0, 0};
      const std::int64_t end = range.offset + range.size;
      std::int64_t i = range.offset;
      for (; i + 4 <= end; i += 4) {
        for (int u = 0; u < 4; ++u) sums[u] += static_cast<double>(a[i + u]) * static_cast<double>(b[i + u]);
      }
      for (; i < end; ++i) sums[0] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
      total += (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    return total;
  }

  const ModelStructure& s_;
  const Examples& probe_;
  std::span<const std::vector<float>> directions_;
  std::vector<Range> ranges_;
  Prepared prepared_;
  EncoderPass pass_;
  std::vector<float> packed_, block_;
};

// Examples a group, so that one group (all examples) or two (a pair) fit into the memory.
std::int64_t group_size(std::int64_t examples, std::int64_t floats, double memory) {
  const auto fit = static_cast<std::int64_t>(memory / (4.0 * static_cast<double>(floats)));
  return fit >= examples ? examples : std::max<std::int64_t>(fit / 2, 1);
}

Gradients make_group(std::int64_t count, std::int64_t stride) {
  Gradients g;
  g.stride = stride;
  g.values = AlignedBuffer<float>(static_cast<std::size_t>(count * stride));
  return g;
}

void finish(MatrixD& k, double outputs) {
  for (std::ptrdiff_t i = 0; i < k.rows(); ++i) {
    for (std::ptrdiff_t j = i; j < k.cols(); ++j) {
      k(i, j) /= outputs;
      k(j, i) = k(i, j);
    }
  }
}

double inner(const MatrixD& a, const MatrixD& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.values().size(); ++i) sum += a.values()[i] * b.values()[i];
  return sum;
}

}  // namespace

MatrixD TangentKernel::all() const {
  MatrixD out = pe;
  for (std::size_t i = 0; i < out.values().size(); ++i) out.values()[i] += rest.values()[i];
  return out;
}

TangentKernel tangent_kernel(const ModelStructure& s, const float* params, const Examples& probe,
                             std::span<const OutputPlace> places, std::span<const std::vector<float>> directions,
                             const KernelOptions& options) {
  const std::int64_t n = probe.count;
  const auto outputs = static_cast<std::int64_t>(places.size());
  LOCUS_CHECK(n > 0 && outputs > 0, "a kernel needs examples and outputs");
  TangentKernel out;
  out.pe = out.rest = MatrixD(n, n);
  out.outputs = MatrixD(n, outputs);
  out.along.assign(directions.size(), MatrixD(n, outputs));
  KernelBuilder builder(s, params, probe, directions);
  const std::int64_t group = group_size(n, s.layout.floats(), options.memory);
  const std::int64_t groups = (n + group - 1) / group;
  Gradients a = make_group(group, s.layout.floats());
  Gradients b = groups > 1 ? make_group(group, s.layout.floats()) : Gradients{};
  std::int64_t done = 0;
  for (std::int64_t o = 0; o < outputs; ++o) {
    const OutputPlace& place = places[static_cast<std::size_t>(o)];
    for (std::int64_t i = 0; i < groups; ++i) {
      a.first = i * group;
      a.count = std::min(group, n - a.first);
      builder.gradients(place, o, a, out);
      builder.add_products(a, a, out);
      for (std::int64_t j = i + 1; j < groups; ++j) {
        b.first = j * group;
        b.count = std::min(group, n - b.first);
        builder.gradients(place, o, b, out);
        builder.add_products(a, b, out);
      }
      ++done;
      if (options.progress) options.progress(static_cast<double>(done) / static_cast<double>(outputs * groups));
    }
  }
  finish(out.pe, static_cast<double>(outputs));
  finish(out.rest, static_cast<double>(outputs));
  return out;
}

double kernel_change(const MatrixD& a, const MatrixD& b) {
  const double norms = std::sqrt(inner(a, a) * inner(b, b));
  if (!(norms > 0)) return std::numeric_limits<double>::quiet_NaN();
  // Of nearly equal kernels the difference of unit matrices is exact where 1 - cos cancels.
  const double na = std::sqrt(inner(a, a)), nb = std::sqrt(inner(b, b));
  double squares = 0;
  for (std::size_t i = 0; i < a.values().size(); ++i) {
    const double d = a.values()[i] / na - b.values()[i] / nb;
    squares += d * d;
  }
  return squares / 2;
}

MatrixD centre_kernel(const MatrixD& k) {
  const auto n = static_cast<double>(k.rows());
  std::vector<double> row(static_cast<std::size_t>(k.rows()), 0.0), column(static_cast<std::size_t>(k.rows()), 0.0);
  double total = 0;
  for (std::ptrdiff_t i = 0; i < k.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < k.cols(); ++j) {
      row[static_cast<std::size_t>(i)] += k(i, j) / n;
      column[static_cast<std::size_t>(j)] += k(i, j) / n;
      total += k(i, j) / (n * n);
    }
  }
  MatrixD out = k;
  for (std::ptrdiff_t i = 0; i < k.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < k.cols(); ++j) {
      out(i, j) += total - row[static_cast<std::size_t>(i)] - column[static_cast<std::size_t>(j)];
    }
  }
  return out;
}

double kernel_alignment(const MatrixD& a, const MatrixD& b) {
  const MatrixD x = centre_kernel(a), y = centre_kernel(b);
  const double norms = std::sqrt(inner(x, x) * inner(y, y));
  return norms > 0 ? inner(x, y) / norms : std::numeric_limits<double>::quiet_NaN();
}

double kernel_rank(const MatrixD& k) {
  double trace = 0;
  for (std::ptrdiff_t i = 0; i < k.rows(); ++i) trace += k(i, i);
  const double squares = inner(k, k);
  return squares > 0 ? trace * trace / squares : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace locus
