#include "train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "train/batches.h"
#include "train/step.h"

namespace locus {
namespace {

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

// Writes results of one chunk to their own places.
class ChunkResults {
 public:
  ChunkResults(const ModelStructure& s, Evaluation& e, std::vector<double>& token_sum,
               std::vector<std::int64_t>& token_count)
      : s_(s), e_(e), token_sum_(token_sum), token_count_(token_count) {}

  void take(std::int64_t first, const BatchData& batch, const PassResult& r, const RowSet& rows) {
    for (std::int64_t b = 0; b < batch.count; ++b) {
      if (s_.shape.regression) {
        take_regression(first + b, b, batch, r, rows);
      } else {
        const auto i = static_cast<std::size_t>(first + b);
        const std::int32_t label = batch.labels[static_cast<std::size_t>(b)];
        e_.predicted[i] = static_cast<std::int32_t>(argmax(r.outputs.row(b), r.outputs.cols));
        e_.example_loss[i] = cross_entropy(r.outputs.row(b), r.outputs.cols, label);
      }
    }
  }

 private:
  void take_regression(std::int64_t example, std::int64_t b, const BatchData& batch, const PassResult& r,
                       const RowSet& rows) {
    const std::int64_t o = s_.shape.outputs;
    double total = 0;
    const std::int64_t end = rows.offset[static_cast<std::size_t>(b + 1)];
    const std::int64_t begin = rows.offset[static_cast<std::size_t>(b)];
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t t = rows.position[static_cast<std::size_t>(row)];
      const float* target = batch.values.data() + (b * s_.shape.tokens + t) * o;
      double token = 0;
      for (std::int64_t k = 0; k < o; ++k) {
        const double d = static_cast<double>(r.outputs(row, k)) - static_cast<double>(target[k]);
        token += d * d / static_cast<double>(o);
      }
      total += token;
      const auto place = static_cast<std::size_t>(example * s_.shape.tokens + t);
      token_sum_[place] = token;
      token_count_[place] = 1;
    }
    e_.example_loss[static_cast<std::size_t>(example)] = total / static_cast<double>(std::max<std::int64_t>(1, end - begin));
  }

  const ModelStructure& s_;
  Evaluation& e_;
  std::vector<double>& token_sum_;
  std::vector<std::int64_t>& token_count_;
};

void summarize_classes(const Dataset& dataset, const Examples& examples, Evaluation& e) {
  std::vector<double> right(dataset.conditions.size());
  std::vector<double> seen(dataset.conditions.size());
  double all = 0;
  for (std::size_t i = 0; i < e.indices.size(); ++i) {
    const auto example = static_cast<std::size_t>(e.indices[i]);
    const double hit = e.predicted[i] == examples.labels[example] ? 1 : 0;
    all += hit;
    if (examples.condition.empty()) continue;
    right[static_cast<std::size_t>(examples.condition[example])] += hit;
    seen[static_cast<std::size_t>(examples.condition[example])] += 1;
  }
  e.accuracy = all / static_cast<double>(e.count);
  for (std::size_t c = 0; c < right.size(); ++c) {
    e.condition_accuracy.push_back(seen[c] > 0 ? right[c] / seen[c] : std::numeric_limits<double>::quiet_NaN());
  }
}

}  // namespace

Evaluation evaluate(const ModelStructure& s, const Prepared& prepared, const Dataset& dataset, const std::string& split,
                    const EvalOptions& options, ThreadPool& pool) {
  const Examples& examples = dataset.split(split);
  Evaluation e;
  e.indices = chosen_examples(examples.count, options.limit);
  e.count = static_cast<std::int64_t>(e.indices.size());
  e.predicted.resize(s.shape.regression ? 0 : e.indices.size());
  e.example_loss.resize(e.indices.size());
  const std::size_t token_slots = s.shape.regression ? e.indices.size() * static_cast<std::size_t>(s.shape.tokens) : 0;
  std::vector<double> token_sum(token_slots);
  std::vector<std::int64_t> token_count(token_slots);
  ChunkResults results(s, e, token_sum, token_count);

  // Noisy inputs differ from token to token, so the first block's tables do not hold them.
  const Savings savings = options.noise_sd > 0 ? no_savings() : admitted_savings(s);
  const std::int64_t chunk = std::min(microbatch_sequences(s.config, s.tokens), std::max<std::int64_t>(1, e.count));
  const auto chunks = static_cast<int>((e.count + chunk - 1) / chunk);
  std::vector<std::unique_ptr<EncoderPass>> passes(static_cast<std::size_t>(pool.threads()));
  pool.run(chunks, [&](int c, int worker) {
    auto& pass = passes[static_cast<std::size_t>(worker)];
    if (!pass) pass = std::make_unique<EncoderPass>(s, chunk, savings);
    const std::int64_t first = c * chunk;
    const std::int64_t n = std::min(chunk, e.count - first);
    BatchData batch;
    gather_batch(examples, s.shape, {e.indices.begin() + first, e.indices.begin() + first + n}, batch);
    StepContext step;
    step.noise_sd = static_cast<float>(options.noise_sd);
    step.noise_seed = options.noise_seed;
    step.seed = options.seed;
    Microbatch view = batch.slice(s.shape, 0, n);
    view.first = first;
    results.take(first, batch, pass->evaluate(prepared, view, step), pass->rows());
  });

  for (const double l : e.example_loss) e.loss += l / static_cast<double>(e.count);
  if (!s.shape.regression) {
    summarize_classes(dataset, examples, e);
    return e;
  }
  e.token_error.assign(static_cast<std::size_t>(s.shape.tokens), 0.0);
  std::vector<double> seen(e.token_error.size());
  double total = 0;
  double count = 0;
  for (std::size_t i = 0; i < token_slots; ++i) {
    const std::size_t t = i % e.token_error.size();
    e.token_error[t] += token_sum[i];
    seen[t] += static_cast<double>(token_count[i]);
    total += token_sum[i];
    count += static_cast<double>(token_count[i]);
  }
  for (std::size_t t = 0; t < seen.size(); ++t) e.token_error[t] = seen[t] > 0 ? e.token_error[t] / seen[t] : std::nan("");
  e.loss = total / std::max(1.0, count);
  return e;
}

std::vector<std::pair<std::string, double>> evaluation_metrics(const Dataset& dataset, const std::string& split,
                                                               const Evaluation& e) {
  std::vector<std::pair<std::string, double>> out = {{split + ".loss", e.loss}};
  if (dataset.task == Task::kRegression) {
    out.emplace_back(split + ".mse", e.loss);
    return out;
  }
  out.emplace_back(split + ".accuracy", e.accuracy);
  for (std::size_t c = 0; c < e.condition_accuracy.size(); ++c) {
    if (!std::isnan(e.condition_accuracy[c]))
      out.emplace_back(split + ".accuracy." + dataset.conditions[c], e.condition_accuracy[c]);
  }
  return out;
}

}  // namespace locus
