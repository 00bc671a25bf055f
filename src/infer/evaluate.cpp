#include "infer/evaluate.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "config/tasks.h"
#include "core/error.h"
#include "core/nan.h"

namespace locus {
namespace {

constexpr std::int64_t kMicrobatchTokens = 512;

std::vector<std::int64_t> chosen_examples(std::int64_t count, std::int64_t limit) {
  const std::int64_t n = limit > 0 ? std::min(limit, count) : count;
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < n; ++i) indices.push_back(i * count / n);
  return indices;
}

double cross_entropy(const float* row, std::int64_t n, std::int32_t label) {
  const double top = *std::max_element(row, row + n);
  double z = 0;
  for (std::int64_t i = 0; i < n; ++i) z += std::exp(static_cast<double>(row[i]) - top);
  return top + std::log(z) - static_cast<double>(row[label]);
}

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

// Results of every chunk at their own places, whatever the order in which chunks are done.
class Results {
 public:
  Results(const ModelStructure& s, const Examples& examples, std::int64_t chunks, Evaluation& e)
      : s_(s), examples_(examples), e_(e), outputs_(static_cast<std::size_t>(chunks)) {
    const auto n = static_cast<std::size_t>(examples.count);
    e.count = examples.count;
    e.example_loss.resize(n);
    if (!s.shape.regression) {
      e.predicted.resize(n);
    } else if (s.config.model.reads_tokens()) {
      squares_.resize(n * static_cast<std::size_t>(s.shape.tokens));
      read_.resize(squares_.size());
    } else {
      output_squares_.resize(n * static_cast<std::size_t>(s.shape.outputs));
    }
  }

  void take(std::int64_t first, std::int64_t count, const PassResult& r, const RowSet& rows) {
    for (std::int64_t b = 0; b < count; ++b) {
      if (s_.shape.regression && !s_.config.model.reads_tokens()) {
        take_targets(first + b, r.outputs.row(b));
      } else if (s_.shape.regression) {
        take_tokens(first + b, b, r, rows);
      } else if (!examples_.labels.empty()) {
        const auto i = static_cast<std::size_t>(first + b);
        e_.predicted[i] = static_cast<std::int32_t>(argmax(r.outputs.row(b), r.outputs.cols));
        e_.example_loss[i] = cross_entropy(r.outputs.row(b), r.outputs.cols, examples_.labels[i]);
      }
    }
  }
  void keep(int chunk, Mat outputs) {
    auto& to = outputs_[static_cast<std::size_t>(chunk)];
    for (std::int64_t r = 0; r < outputs.rows; ++r) to.insert(to.end(), outputs.row(r), outputs.row(r) + outputs.cols);
  }

  void finish() {
    std::vector<float> all;
    for (const auto& part : outputs_) all.insert(all.end(), part.begin(), part.end());
    e_.outputs = MatrixF(static_cast<std::int64_t>(all.size()) / s_.shape.outputs, s_.shape.outputs);
    e_.outputs.values() = std::move(all);
    if (!s_.shape.regression) return finish_classes();
    s_.config.model.reads_tokens() ? finish_tokens() : finish_targets();
  }

 private:
  void take_tokens(std::int64_t example, std::int64_t b, const PassResult& r, const RowSet& rows) {
    const std::int64_t o = s_.shape.outputs;
    double total = 0;
    const std::int64_t end = rows.offset[static_cast<std::size_t>(b + 1)];
    const std::int64_t begin = rows.offset[static_cast<std::size_t>(b)];
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t place = example * s_.shape.tokens + rows.position[static_cast<std::size_t>(row)];
      const float* target = examples_.values.data() + place * o;
      double token = 0;
      for (std::int64_t k = 0; k < o; ++k) {
        const double d = static_cast<double>(r.outputs(row, k)) - static_cast<double>(target[k]);
        token += d * d / static_cast<double>(o);
      }
      total += token;
      squares_[static_cast<std::size_t>(place)] = token;
      read_[static_cast<std::size_t>(place)] = 1;
    }
    e_.example_loss[static_cast<std::size_t>(example)] = total / static_cast<double>(std::max<std::int64_t>(1, end - begin));
  }

  void take_targets(std::int64_t example, const float* outputs) {
    const std::int64_t o = s_.shape.outputs;
    double total = 0;
    for (std::int64_t k = 0; k < o; ++k) {
      const double d = static_cast<double>(outputs[k]) -
                       static_cast<double>(examples_.targets.at(static_cast<std::size_t>(example * o + k)));
      total += d * d / static_cast<double>(o);
      output_squares_[static_cast<std::size_t>(example * o + k)] = d * d;
    }
    e_.example_loss[static_cast<std::size_t>(example)] = total;
  }

  void finish_targets() {
    e_.accuracy = kNan;
    for (const double l : e_.example_loss) e_.loss += l / static_cast<double>(e_.count);
    e_.mse = e_.loss;
    const auto o = static_cast<std::size_t>(s_.shape.outputs);
    e_.output_error.assign(o, 0.0);
    for (std::size_t i = 0; i < output_squares_.size(); ++i)
      e_.output_error[i % o] += output_squares_[i] / static_cast<double>(e_.count);
  }

  void finish_tokens() {
    const auto tokens = static_cast<std::size_t>(s_.shape.tokens);
    e_.accuracy = kNan;
    e_.token_error.assign(tokens, 0.0);
    std::vector<double> seen(tokens);
    double total = 0, count = 0, hidden_total = 0, hidden = 0;
    for (std::size_t i = 0; i < squares_.size(); ++i) {
      if (read_[i] == 0) continue;
      e_.token_error[i % tokens] += squares_[i];
      seen[i % tokens] += 1;
      total += squares_[i];
      count += 1;
      if (!examples_.masks.empty() && examples_.masks[i] != kHidden) continue;
      hidden_total += squares_[i];
      hidden += 1;
    }
    for (std::size_t t = 0; t < tokens; ++t) e_.token_error[t] = seen[t] > 0 ? e_.token_error[t] / seen[t] : kNan;
    e_.loss = total / std::max(1.0, count);
    e_.mse = hidden > 0 ? hidden_total / hidden : kNan;
  }

  void finish_classes() {
    e_.mse = kNan;
    for (const double l : e_.example_loss) e_.loss += l / static_cast<double>(e_.count);
    if (examples_.labels.empty()) {
      e_.accuracy = kNan;
      return;
    }
    double right = 0;
    for (std::size_t i = 0; i < e_.predicted.size(); ++i) right += e_.predicted[i] == examples_.labels[i] ? 1 : 0;
    e_.accuracy = right / static_cast<double>(std::max<std::int64_t>(e_.count, 1));
  }

  const ModelStructure& s_;
  const Examples& examples_;
  Evaluation& e_;
  std::vector<double> squares_;              // (count, T) mean square of a token's errors
  std::vector<std::uint8_t> read_;           // (count, T) 1: the model was asked for this token
  std::vector<double> output_squares_;       // (count, O) of numbers of whole examples
  std::vector<std::vector<float>> outputs_;  // of each chunk
};

}  // namespace

std::int64_t argmax(const float* row, std::int64_t n) { return std::max_element(row, row + n) - row; }

std::int64_t microbatch_sequences(const RunConfig& config, std::int64_t tokens) {
  const std::int64_t wanted = config.train.microbatch_tokens > 0 ? config.train.microbatch_tokens : kMicrobatchTokens;
  return std::max<std::int64_t>(1, wanted / tokens);
}

Microbatch microbatch_of(const ModelShape& shape, const Examples& e, std::int64_t first, std::int64_t count) {
  Microbatch b;
  b.sequences = count;
  b.first = first;
  const std::int64_t t = shape.tokens;
  if (!e.ids.empty()) b.ids = e.ids.data() + first * t;
  if (!e.values.empty()) b.values = e.values.data() + first * t * shape.features;
  if (!e.masks.empty()) b.masked = e.masks.data() + first * t;
  if (!e.read_token.empty()) b.read_token = e.read_token.data() + first;
  if (!e.labels.empty()) b.labels = e.labels.data() + first;
  if (!e.targets.empty()) {
    b.targets = e.targets.data() + first * shape.outputs;
  } else if (shape.regression) {
    b.targets = b.values;
  }
  return b;
}

Evaluator::Evaluator(const ModelStructure& structure, ThreadPool* pool)
    : s_(structure),
      pool_(pool),
      chunk_(microbatch_sequences(structure.config, structure.tokens)),
      prepared_(structure),
      passes_(static_cast<std::size_t>(pool != nullptr ? pool->threads() : 1)) {}

Evaluation Evaluator::run(const float* params, const Examples& examples, const EvalOptions& options) {
  prepared_.update(params, {}, pool_);
  return run(prepared_, examples, options);
}

Evaluation Evaluator::run(const Prepared& prepared, const Examples& examples, const EvalOptions& options) {
  if (s_.config.model.readout == Readout::kMasked && examples.masks.empty()) {
    throw DataError({.what = "the examples have no masks of evaluation", .hint = "make the data set with its own source"});
  }
  Evaluation e;
  e.indices = chosen_examples(examples.count, options.limit);
  const auto count = static_cast<std::int64_t>(e.indices.size());
  Examples fewer;
  if (count < examples.count) fewer = take_examples({s_.shape.tokens, s_.shape.features}, examples, e.indices);
  const Examples& used = count < examples.count ? fewer : examples;

  // Noisy inputs differ from token to token, so the first block's tables do not hold them.
  const bool noisy = options.noise_sd > 0;
  std::vector<std::unique_ptr<EncoderPass>> plain(noisy ? passes_.size() : 0);
  const std::int64_t chunk = std::min(chunk_, std::max<std::int64_t>(1, count));
  const auto chunks = static_cast<int>((count + chunk - 1) / chunk);
  StepContext step;
  step.noise_sd = static_cast<float>(options.noise_sd);
  step.noise_seed = options.noise_seed;
  step.seed = options.seed;
  Results results(s_, used, chunks, e);
  const auto one = [&](int c, int worker) {
    auto& pass = (noisy ? plain : passes_)[static_cast<std::size_t>(worker)];
    if (!pass || pass->max_sequences() < chunk)
      pass = std::make_unique<EncoderPass>(s_, chunk, noisy ? no_savings() : admitted_savings(s_));
    const std::int64_t first = c * chunk;
    const std::int64_t n = std::min(chunk, count - first);
    const PassResult r = pass->evaluate(prepared, microbatch_of(s_.shape, used, first, n), step);
    results.take(first, n, r, pass->rows());
    if (options.keep_outputs) results.keep(c, r.outputs);
  };
  if (pool_ != nullptr) {
    pool_->run(chunks, one);
  } else {
    for (int c = 0; c < chunks; ++c) one(c, 0);
  }
  results.finish();
  return e;
}

void Evaluator::patterns(const float* params, const Examples& examples, const PatternSink& sink) {
  Prepared prepared(s_);
  prepared.update(params, {});
  EncoderPass plain(s_, chunk_, no_savings());
  PatternObserver observer(sink);
  for (std::int64_t i = 0; i < examples.count; i += chunk_) {
    const Microbatch batch = microbatch_of(s_.shape, examples, i, std::min(chunk_, examples.count - i));
    plain.evaluate(prepared, batch, {}, &observer);
  }
}

Evaluation evaluate(const ModelStructure& s, const Prepared& prepared, const Dataset& dataset, const std::string& split,
                    const EvalOptions& options, ThreadPool& pool) {
  const Examples& examples = dataset.split(split);
  Evaluation e = Evaluator(s, &pool).run(prepared, examples, options);
  if (s.shape.regression) return e;
  std::vector<double> right(dataset.conditions.size());
  std::vector<double> seen(dataset.conditions.size());
  for (std::size_t i = 0; !examples.condition.empty() && i < e.indices.size(); ++i) {
    const auto example = static_cast<std::size_t>(e.indices[i]);
    right[static_cast<std::size_t>(examples.condition[example])] += e.predicted[i] == examples.labels[example] ? 1 : 0;
    seen[static_cast<std::size_t>(examples.condition[example])] += 1;
  }
  for (std::size_t c = 0; c < right.size(); ++c) e.condition_accuracy.push_back(seen[c] > 0 ? right[c] / seen[c] : kNan);
  return e;
}

std::vector<std::pair<std::string, double>> evaluation_metrics(const Dataset& dataset, const std::string& split,
                                                               const Evaluation& e) {
  std::vector<std::pair<std::string, double>> out = {{split + ".loss", e.loss}};
  for (const auto& [name, value] : task_row(dataset.task).measure(dataset, dataset.split(split), e))
    out.emplace_back(split + "." + name, value);
  return out;
}

}  // namespace locus
