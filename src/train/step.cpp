#include "train/step.h"

#include <algorithm>
#include <numeric>

#include "kernels/elementwise.h"

namespace locus {
namespace {

constexpr std::int64_t kShardTokens = 1024;
constexpr std::int64_t kMaxShards = 8;
constexpr std::int64_t kMicrobatchTokens = 512;

}  // namespace

std::int64_t shard_count(const RunConfig& config, std::int64_t tokens) {
  const std::int64_t wanted = config.train.shards > 0
                                  ? config.train.shards
                                  : std::clamp<std::int64_t>(config.train.batch * tokens / kShardTokens, 1, kMaxShards);
  return std::min(wanted, config.train.batch);
}

std::int64_t microbatch_sequences(const RunConfig& config, std::int64_t tokens) {
  const std::int64_t wanted = config.train.microbatch_tokens > 0 ? config.train.microbatch_tokens : kMicrobatchTokens;
  return std::max<std::int64_t>(1, wanted / tokens);
}

std::int64_t argmax(const float* row, std::int64_t n) { return std::max_element(row, row + n) - row; }

StepRunner::StepRunner(const ModelStructure& s, ThreadPool& pool)
    : s_(s),
      pool_(pool),
      shards_(shard_count(s.config, s.tokens)),
      chunk_(std::min(microbatch_sequences(s.config, s.tokens), (s.config.train.batch + shards_ - 1) / shards_)),
      total_(static_cast<std::size_t>(s.layout.floats())) {
  const auto workers = static_cast<std::size_t>(std::min<std::int64_t>(pool.threads(), shards_));
  for (std::size_t w = 0; w < workers; ++w) passes_.push_back(std::make_unique<EncoderPass>(s, chunk_, admitted_savings(s)));
  partial_.resize(shards_ > 1 ? workers : 0);
  for (AlignedBuffer<float>& p : partial_) p = AlignedBuffer<float>(static_cast<std::size_t>(s.layout.floats()));
}

double StepRunner::loss_weight(const BatchData& batch) const {
  if (!s_.shape.regression) return 1.0 / static_cast<double>(batch.count);
  std::int64_t read = batch.count * s_.shape.tokens;
  if (s_.config.model.readout == Readout::kMasked)
    read = std::accumulate(batch.masked.begin(), batch.masked.end(), std::int64_t{0});
  return 1.0 / static_cast<double>(read * s_.shape.outputs);
}

StepResult StepRunner::run_shard(int shard, int worker, const Prepared& prepared, const BatchData& batch,
                                 const StepContext& step) {
  const std::int64_t begin = batch.count * shard / shards_;
  const std::int64_t end = batch.count * (shard + 1) / shards_;
  EncoderPass& pass = *passes_[static_cast<std::size_t>(worker)];
  // The first shard sums straight into the total; the others add theirs in turn.
  float* grads = shard == 0 ? total_.data() : partial_[static_cast<std::size_t>(worker)].data();
  std::fill_n(grads, s_.layout.floats(), 0.0f);
  StepResult result;
  pass.begin_shard(prepared, grads);
  for (std::int64_t i = begin; i < end; i += chunk_) {
    const std::int64_t n = std::min(chunk_, end - i);
    const PassResult r = pass.train(prepared, batch.slice(s_.shape, i, n), step);
    result.loss += r.loss;
    if (s_.shape.regression) continue;
    for (std::int64_t k = 0; k < n; ++k) {
      if (argmax(r.outputs.row(k), r.outputs.cols) == batch.labels[static_cast<std::size_t>(i + k)]) ++result.correct;
    }
  }
  pass.end_shard(prepared);
  {
    std::unique_lock lock(mutex_);
    turn_.wait(lock, [&] { return next_shard_ == shard; });
  }
  if (shard != 0) kernels::axpy(1.0f, grads, total_.data(), s_.layout.floats());
  {
    const std::lock_guard lock(mutex_);
    ++next_shard_;
  }
  turn_.notify_all();
  return result;
}

StepResult StepRunner::run(const Prepared& prepared, const BatchData& batch, const StepContext& step) {
  next_shard_ = 0;
  std::vector<StepResult> results(static_cast<std::size_t>(shards_));
  StepContext weighted = step;
  weighted.loss_weight = loss_weight(batch);
  pool_.run(static_cast<int>(shards_), [&](int shard, int worker) {
    results[static_cast<std::size_t>(shard)] = run_shard(shard, worker, prepared, batch, weighted);
  });
  StepResult total;
  for (const StepResult& r : results) {
    total.loss += r.loss;
    total.correct += r.correct;
  }
  return total;
}

}  // namespace locus
