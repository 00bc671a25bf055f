#include "infer/predict.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "infer/evaluate.h"

namespace locus {
namespace {

Microbatch part_of(const ModelShape& shape, const InputView& in, std::int64_t first, std::int64_t count) {
  const std::int64_t t = shape.tokens;
  Microbatch b;
  b.sequences = count;
  b.first = first;
  if (in.ids != nullptr) b.ids = in.ids + first * t;
  if (in.values != nullptr) b.values = in.values + first * t * shape.features;
  if (in.masked != nullptr) b.masked = in.masked + first * t;
  if (in.read_token != nullptr) b.read_token = in.read_token + first;
  return b;
}

// Where each example's rows begin in the outputs: (count + 1).
std::vector<std::int64_t> row_offsets(const ModelStructure& s, const InputView& in) {
  std::vector<std::int64_t> offsets = {0};
  const std::int64_t t = s.shape.tokens;
  for (std::int64_t i = 0; i < in.count; ++i) {
    std::int64_t rows = s.config.model.readout == Readout::kEvery ? t : 1;
    if (s.config.model.readout == Readout::kMasked) rows = std::count(in.masked + i * t, in.masked + (i + 1) * t, kHidden);
    offsets.push_back(offsets.back() + rows);
  }
  return offsets;
}

[[noreturn]] void refuse(std::string what, std::int64_t sample, std::string got, std::string expected) {
  throw DataError({.what = std::move(what),
                   .where = fmt::format("sample {}", sample),
                   .got = std::move(got),
                   .expected = std::move(expected)});
}

void check_values(const ModelShape& shape, const InputView& in) {
  const std::int64_t width = shape.tokens * shape.features;
  for (std::int64_t i = 0; i < in.count; ++i) {
    const float* row = in.values + i * width;
    // A sum is finite only when all its terms are: quick in the usual case.
    float sum = 0;
    for (std::int64_t k = 0; k < width; ++k) sum += row[k] * 0.0f;
    if (sum == 0.0f) continue;
    refuse("a value is NaN or Inf", i, "NaN or Inf", "finite numbers");
  }
}

}  // namespace

void check_inputs(const ModelStructure& s, const InputView& in) {
  const std::int64_t t = s.shape.tokens;
  LOCUS_CHECK((in.ids != nullptr) == s.shape.ids || in.count == 0, "ids for a model of ids, values for one of values");
  for (std::int64_t i = 0; in.ids != nullptr && i < in.count * t; ++i) {
    if (in.ids[i] < -1 || in.ids[i] >= s.shape.features)
      refuse("no such token", i / t, fmt::format("{}", in.ids[i]), fmt::format("-1 (blank) .. {}", s.shape.features - 1));
  }
  if (in.values != nullptr) check_values(s.shape, in);
  if (s.config.model.readout == Readout::kMasked) {
    if (in.masked == nullptr)
      throw DataError(
          {.what = "this model predicts hidden tokens: say which", .hint = "give masked, 1 where a token is hidden"});
    for (std::int64_t i = 0; i < in.count * t; ++i) {
      if (in.masked[i] > kMissing)
        refuse("a mask is none of 0, 1 and 2", i / t, fmt::format("{}", in.masked[i]), "0, 1 (hidden) or 2 (no value)");
    }
  }
  if (s.config.model.readout == Readout::kGiven) {
    if (in.read_token == nullptr) throw DataError({.what = "this model is told which token to read: give read_token"});
    for (std::int64_t i = 0; i < in.count; ++i) {
      if (in.read_token[i] < 0 || in.read_token[i] >= t)
        refuse("no such token to read", i, fmt::format("{}", in.read_token[i]), fmt::format("0 .. {}", t - 1));
    }
  }
}

MatrixF predict(const ModelStructure& s, const Prepared& prepared, const InputView& in, ThreadPool& pool) {
  check_inputs(s, in);
  const std::vector<std::int64_t> offsets = row_offsets(s, in);
  MatrixF outputs(offsets.back(), s.shape.outputs);
  const std::int64_t chunk = std::min(microbatch_sequences(s.config, s.tokens), std::max<std::int64_t>(1, in.count));
  std::vector<std::unique_ptr<EncoderPass>> passes(static_cast<std::size_t>(pool.threads()));
  pool.run(static_cast<int>((in.count + chunk - 1) / chunk), [&](int c, int worker) {
    auto& pass = passes[static_cast<std::size_t>(worker)];
    if (!pass) pass = std::make_unique<EncoderPass>(s, chunk, admitted_savings(s));
    const std::int64_t first = c * chunk;
    const PassResult r = pass->evaluate(prepared, part_of(s.shape, in, first, std::min(chunk, in.count - first)), {});
    for (std::int64_t i = 0; i < r.outputs.rows; ++i)
      std::copy_n(r.outputs.row(i), r.outputs.cols, outputs.row(offsets[static_cast<std::size_t>(first)] + i).begin());
  });
  return outputs;
}

void observe(const ModelStructure& s, const float* params, const InputView& in, Observer& observer) {
  check_inputs(s, in);
  Prepared prepared(s, no_savings());
  prepared.update(params, {});
  const std::int64_t chunk = std::min(microbatch_sequences(s.config, s.tokens), std::max<std::int64_t>(1, in.count));
  EncoderPass plain(s, chunk, no_savings());
  for (std::int64_t i = 0; i < in.count; i += chunk)
    plain.evaluate(prepared, part_of(s.shape, in, i, std::min(chunk, in.count - i)), {}, &observer);
}

}  // namespace locus
