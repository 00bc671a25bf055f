#include "train/step.h"

#include <algorithm>
#include <numeric>

#include "core/turns.h"
#include "kernels/elementwise.h"

namespace locus {
namespace {

constexpr std::int64_t kShardTokens = 1024;
constexpr std::int64_t kMaxShards = 8;

}  // namespace

std::int64_t shard_count(const RunConfig& config, std::int64_t tokens) {
  const std::int64_t wanted = config.train.shards > 0
                                  ? config.train.shards
                                  : std::clamp<std::int64_t>(config.train.batch * tokens / kShardTokens, 1, kMaxShards);
  return std::min(wanted, config.train.batch);
}

StepRunner::StepRunner(const ModelStructure& s, ThreadPool& pool, RankTeam* team)
    : s_(s),
      pool_(pool),
      team_(team != nullptr && !team->alone() ? team : nullptr),
      shards_(shard_count(s.config, s.tokens)),
      own_(shards_of(team_ != nullptr ? team_->ranks() : nullptr, shards_)),
      chunk_(std::min(microbatch_sequences(s.config, s.tokens), (s.config.train.batch + shards_ - 1) / shards_)),
      total_(static_cast<std::size_t>(s.layout.floats())) {
  const auto workers = static_cast<std::size_t>(std::min<std::int64_t>(pool.threads(), own_.count()));
  for (std::size_t w = 0; w < workers; ++w) passes_.push_back(std::make_unique<EncoderPass>(s, chunk_, admitted_savings(s)));
  partial_.resize(team_ != nullptr ? static_cast<std::size_t>(own_.count()) : shards_ > 1 ? workers : 0);
  for (AlignedBuffer<float>& p : partial_) p = AlignedBuffer<float>(static_cast<std::size_t>(s.layout.floats()));
}

double StepRunner::loss_weight(const Examples& batch) const {
  if (!s_.shape.regression) return 1.0 / static_cast<double>(batch.count);
  if (!s_.config.model.reads_tokens()) return 1.0 / static_cast<double>(batch.count * s_.shape.outputs);
  std::int64_t read = batch.count * s_.shape.tokens;
  if (s_.config.model.readout == Readout::kMasked) read = std::count(batch.masks.begin(), batch.masks.end(), kHidden);
  return 1.0 / static_cast<double>(read * s_.shape.outputs);
}

// The first shard sums straight into the total; the others add theirs in turn.
float* StepRunner::shard_gradients(int shard, int worker) {
  return shard == 0 ? total_.data() : partial_[static_cast<std::size_t>(worker)].data();
}

StepResult StepRunner::run_shard(std::int64_t shard, int worker, float* grads, const Prepared& prepared,
                                 const Examples& batch, const StepContext& step) {
  const std::int64_t begin = batch.count * shard / shards_;
  const std::int64_t end = batch.count * (shard + 1) / shards_;
  EncoderPass& pass = *passes_[static_cast<std::size_t>(worker)];
  std::fill_n(grads, s_.layout.floats(), 0.0f);
  StepResult result;
  pass.begin_shard(prepared, grads);
  for (std::int64_t i = begin; i < end; i += chunk_) {
    const std::int64_t n = std::min(chunk_, end - i);
    const PassResult r = pass.train(prepared, microbatch_of(s_.shape, batch, i, n), step);
    result.loss += r.loss;
    if (s_.shape.regression) continue;
    for (std::int64_t k = 0; k < n; ++k) {
      if (argmax(r.outputs.row(k), r.outputs.cols) == batch.labels[static_cast<std::size_t>(i + k)]) ++result.correct;
    }
  }
  pass.end_shard(prepared);
  return result;
}

// The gradients of each shard stay apart until the total of the ranks before has come.
StepResult StepRunner::run_own_shards(const Prepared& prepared, const Examples& batch, const StepContext& step,
                                      bool frozen) {
  const auto count = static_cast<std::size_t>(own_.count());
  std::vector<StepResult> results(count);
  pool_.run(static_cast<int>(count), [&](int k, int worker) {
    const auto i = static_cast<std::size_t>(k);
    results[i] = run_shard(own_.first + k, worker, partial_[i].data(), prepared, batch, step);
  });
  std::vector<std::span<const float>> gradients;
  std::vector<double> losses;
  ShardSums own;
  for (std::size_t i = 0; i < count; ++i) {
    gradients.emplace_back(partial_[i].data(), static_cast<std::size_t>(s_.layout.floats()));
    losses.push_back(results[i].loss);
    own.correct += results[i].correct;
  }
  own.gradients = gradients;
  own.losses = losses;
  StepOrder order;
  order.frozen = frozen ? 1 : 0;
  StepResult total;
  total.ended = !team_->reduce(order, own, {total_.data(), static_cast<std::size_t>(s_.layout.floats())});
  total.loss = order.loss;
  total.correct = order.correct;
  total.frozen = order.frozen != 0;
  return total;
}

StepResult StepRunner::run(const Prepared& prepared, const Examples& batch, const StepContext& step, bool frozen) {
  StepContext weighted = step;
  weighted.loss_weight = loss_weight(batch);
  if (team_ != nullptr) return run_own_shards(prepared, batch, weighted, frozen);
  std::vector<StepResult> results(static_cast<std::size_t>(shards_));
  const auto work = [&](int shard, int worker) {
    results[static_cast<std::size_t>(shard)] =
        run_shard(shard, worker, shard_gradients(shard, worker), prepared, batch, weighted);
  };
  const auto add = [&](int shard, int worker) {
    if (shard != 0) kernels::axpy(1.0f, shard_gradients(shard, worker), total_.data(), s_.layout.floats());
  };
  run_in_turns(pool_, static_cast<int>(shards_), work, add);
  StepResult total;
  total.frozen = frozen;
  for (const StepResult& r : results) {
    total.loss += r.loss;
    total.correct += r.correct;
  }
  return total;
}

}  // namespace locus
