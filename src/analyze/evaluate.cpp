#include "analyze/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"

namespace locus {
namespace {

constexpr std::int64_t kMicrobatchTokens = 1024;

std::int64_t sequences_for(const ModelStructure& s) { return std::clamp<std::int64_t>(kMicrobatchTokens / s.tokens, 1, 64); }

class PatternObserver : public Observer {
 public:
  explicit PatternObserver(const Evaluator::PatternSink& sink) : sink_(sink) {}
  void on_activation(const Activation& a) override {
    if (a.head < 0) return;
    constexpr std::string_view kPrefix = "blocks.";
    const std::int64_t layer = std::stoll(a.name.substr(kPrefix.size()));
    sink_(a.first_sequence, layer, a.head, a.first_query, a.values);
  }

 private:
  const Evaluator::PatternSink& sink_;
};

template <class T>
void take_rows(const std::vector<T>& from, std::int64_t width, const std::vector<std::int64_t>& indices,
               std::vector<T>& to) {
  if (from.empty()) return;
  to.reserve(indices.size() * static_cast<std::size_t>(width));
  for (const std::int64_t i : indices) to.insert(to.end(), from.begin() + i * width, from.begin() + (i + 1) * width);
}

}  // namespace

Microbatch microbatch_of(const ModelShape& shape, const Examples& e, std::int64_t first, std::int64_t count) {
  Microbatch b;
  b.sequences = count;
  b.first = first;
  const std::int64_t t = shape.tokens;
  if (!e.ids.empty()) b.ids = e.ids.data() + first * t;
  if (!e.values.empty()) b.values = e.values.data() + first * t * shape.features;
  if (!e.fixed_masks.empty()) b.masked = e.fixed_masks.data() + first * t;
  if (!e.read_token.empty()) b.read_token = e.read_token.data() + first;
  if (!e.labels.empty()) b.labels = e.labels.data() + first;
  if (shape.regression && !e.values.empty()) b.targets = e.values.data() + first * t * shape.outputs;
  return b;
}

Examples take_examples(const Dataset& d, const Examples& from, const std::vector<std::int64_t>& indices) {
  Examples out;
  out.count = static_cast<std::int64_t>(indices.size());
  take_rows(from.ids, d.tokens, indices, out.ids);
  take_rows(from.values, d.tokens * d.features, indices, out.values);
  take_rows(from.labels, 1, indices, out.labels);
  take_rows(from.read_token, 1, indices, out.read_token);
  take_rows(from.condition, 1, indices, out.condition);
  take_rows(from.cluster, 1, indices, out.cluster);
  take_rows(from.fixed_masks, d.tokens, indices, out.fixed_masks);
  return out;
}

std::vector<std::int64_t> sample_indices(std::int64_t available, std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(available));
  std::iota(all.begin(), all.end(), 0);
  if (available <= count) return all;
  Rng rng(seed, "analyze/sample");
  rng.shuffle(std::span<std::int64_t>(all));
  all.resize(static_cast<std::size_t>(count));
  std::sort(all.begin(), all.end());
  return all;
}

std::string choose_split(const Dataset& dataset, const std::string& wanted) {
  std::vector<std::string> names;
  for (const auto& [name, examples] : dataset.splits) names.push_back(name);
  if (!wanted.empty()) {
    if (dataset.has_split(wanted) && dataset.split(wanted).count > 0) return wanted;
    const std::string near = nearest_name(wanted, names);
    throw DataError({.what = "the data has no such split",
                     .got = wanted,
                     .expected = join(names, ", "),
                     .hint = near.empty() ? "" : "did you mean " + near + "?"});
  }
  for (const char* name : {"heldout", "test", "validation", "train"}) {
    if (dataset.has_split(name) && dataset.split(name).count > 0) return name;
  }
  throw DataError({.what = "the data has no examples"});
}

void require_same_data(const AnalysisRun& run, const Dataset& d) {
  const ModelShape& s = run.structure->shape;
  if (s.tokens != d.tokens || s.features != d.features || s.outputs != d.outputs) {
    throw DataError({.what = "the data set does not fit the run",
                     .where = run.path.string(),
                     .got = fmt::format("{} tokens, {} features, {} outputs", d.tokens, d.features, d.outputs),
                     .expected = fmt::format("{} tokens, {} features, {} outputs", s.tokens, s.features, s.outputs),
                     .hint = "analyse with the data the run was trained on"});
  }
  if (!run.data_hash.empty() && !d.hash.empty() && run.data_hash != d.hash) {
    throw DataError({.what = "the data set is not the one the run was trained on",
                     .where = run.path.string(),
                     .got = d.hash,
                     .expected = run.data_hash,
                     .hint = "data files or the generator changed since; train again, or restore the files"});
  }
}

Evaluator::Evaluator(std::shared_ptr<const ModelStructure> structure)
    : structure_(std::move(structure)),
      prepared_(*structure_),
      pass_(*structure_, sequences_for(*structure_), admitted_savings(*structure_)) {}

void Evaluator::add_batch(const PassResult& result, const Microbatch& batch, ModelEvaluation& sum, double& squares,
                          std::int64_t& correct) {
  const Mat out = result.outputs;
  for (std::int64_t r = 0; r < out.rows; ++r) {
    sum.outputs.values().insert(sum.outputs.values().end(), out.row(r), out.row(r) + out.cols);
  }
  if (batch.labels != nullptr && !structure_->shape.regression) {
    for (std::int64_t r = 0; r < out.rows; ++r) {
      correct += std::max_element(out.row(r), out.row(r) + out.cols) - out.row(r) == batch.labels[r] ? 1 : 0;
    }
  }
  if (!structure_->shape.regression || batch.targets == nullptr) return;
  const RowSet& rows = pass_.rows();
  const std::int64_t t = structure_->shape.tokens;
  for (std::int64_t b = 0; b < batch.sequences; ++b) {
    for (std::int64_t r = rows.offset[static_cast<std::size_t>(b)]; r < rows.offset[static_cast<std::size_t>(b + 1)]; ++r) {
      const std::int32_t token = rows.position[static_cast<std::size_t>(r)];
      const bool hidden = batch.masked == nullptr || batch.masked[b * t + token] != 0;
      sum.row_token.push_back(hidden ? token : -1 - token);
      for (std::int64_t o = 0; hidden && o < out.cols; ++o) {
        const double d = static_cast<double>(out(r, o)) - static_cast<double>(batch.targets[(b * t + token) * out.cols + o]);
        squares += d * d;
      }
    }
  }
}

ModelEvaluation Evaluator::run(const float* params, const Examples& examples) {
  const ModelStructure& s = *structure_;
  if (s.shape.regression && examples.fixed_masks.empty() && s.config.model.readout == Readout::kMasked) {
    throw DataError({.what = "the examples have no masks of evaluation", .hint = "make the data set with its study"});
  }
  prepared_.update(params, {});
  StepContext step;
  ModelEvaluation out;
  out.examples = examples.count;
  double squares = 0, loss = 0;
  std::int64_t correct = 0, rows = 0;
  for (std::int64_t i = 0; i < examples.count; i += pass_.max_sequences()) {
    const Microbatch batch = microbatch_of(s.shape, examples, i, std::min(pass_.max_sequences(), examples.count - i));
    const PassResult result = pass_.evaluate(prepared_, batch, step);
    loss += result.loss;
    rows += result.outputs.rows;
    add_batch(result, batch, out, squares, correct);
  }
  const auto hidden = std::count_if(out.row_token.begin(), out.row_token.end(), [](std::int32_t t) { return t >= 0; });
  MatrixF outputs(rows, s.shape.outputs);
  outputs.values() = std::move(out.outputs.values());
  out.outputs = std::move(outputs);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const bool regression = s.shape.regression;
  const double n = static_cast<double>(std::max<std::int64_t>(examples.count, 1));
  out.accuracy = regression || examples.labels.empty() ? nan : static_cast<double>(correct) / n;
  out.mse = regression && hidden > 0 ? squares / static_cast<double>(hidden * s.shape.outputs) : nan;
  out.loss = regression ? loss / static_cast<double>(std::max<std::int64_t>(rows * s.shape.outputs, 1)) : loss / n;
  return out;
}

void Evaluator::patterns(const float* params, const Examples& examples, const PatternSink& sink) {
  const ModelStructure& s = *structure_;
  Prepared prepared(s);
  prepared.update(params, {});
  EncoderPass plain(s, sequences_for(s), no_savings());
  PatternObserver observer(sink);
  for (std::int64_t i = 0; i < examples.count; i += plain.max_sequences()) {
    const Microbatch batch = microbatch_of(s.shape, examples, i, std::min(plain.max_sequences(), examples.count - i));
    plain.evaluate(prepared, batch, {}, &observer);
  }
}

}  // namespace locus
