#include "train/ranks.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/elementwise.h"

namespace locus {
namespace {

// Gradients go along the ranks in pieces, so that all of them add at the same time: large enough to hide the latency of
// a message, small enough that the last rank begins early.
constexpr std::size_t kMessageFloats = std::size_t{32} << 10;

struct StartOrder {
  std::int64_t go = 0;
  std::int64_t step = 0;
  std::array<char, 80> identity{};
};

template <class T>
std::span<std::byte> bytes_of_value(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace

ShardRange shards_of(const Ranks* ranks, std::int64_t shards) {
  if (ranks == nullptr) return {0, shards};
  const std::int64_t size = ranks->size();
  if (size > shards) {
    throw ConfigError({.what = "more ranks than shards: some would have nothing to do",
                       .where = "train.shards",
                       .got = fmt::format("{} ranks, {} shards of a batch", size, shards),
                       .expected = fmt::format("at most {} ranks", shards),
                       .hint = "start fewer ranks with more --threads, or run a sweep, which needs no messages; a larger "
                               "train.shards gives another sum, and so another run"});
  }
  return {shards * ranks->rank() / size, shards * (ranks->rank() + 1) / size};
}

bool RankTeam::start(const std::string& identity, std::int64_t& step, const std::vector<std::span<float>>& arrays) {
  if (alone()) return true;
  StartOrder order;
  LOCUS_CHECK(identity.size() < order.identity.size(), "an identity is a hash");
  if (leads()) {
    order.go = 1;
    order.step = step;
    std::copy(identity.begin(), identity.end(), order.identity.begin());
    started_ = true;
  }
  ranks_->broadcast(0, bytes_of_value(order));
  if (order.go == 0) return false;
  if (identity != order.identity.data()) {
    throw ConfigError({.what = fmt::format("rank {} would train something else than rank 0", ranks_->rank()),
                       .got = identity,
                       .expected = order.identity.data(),
                       .hint = "all ranks must see the same program, configuration and data files"});
  }
  step = order.step;
  for (const std::span<float> array : arrays) ranks_->broadcast(0, std::as_writable_bytes(array));
  started_ = true;
  return true;
}

// From rank to rank, with the totals so far.
bool RankTeam::pass_order(StepOrder& order, std::span<const double> losses, std::int64_t correct) {
  if (!leads()) ranks_->receive(ranks_->rank() - 1, bytes_of_value(order));
  for (const double loss : losses) order.loss += loss;
  order.correct += correct;
  if (ranks_->rank() + 1 < ranks_->size()) ranks_->send(ranks_->rank() + 1, bytes_of_value(order));
  return order.end == 0;
}

bool RankTeam::reduce(StepOrder& order, const ShardSums& own, std::span<float> total) {
  const std::span<const std::span<const float>> shards = own.gradients;
  const int rank = ranks_->rank();
  const int last = ranks_->size() - 1;
  StepOrder passed = order;
  if (!pass_order(passed, own.losses, own.correct)) return false;
  for (std::size_t at = 0; at < total.size(); at += kMessageFloats) {
    const std::span<float> piece = total.subspan(at, std::min(kMessageFloats, total.size() - at));
    std::size_t next = 0;
    if (rank == 0) {
      std::copy_n(shards[0].data() + at, piece.size(), piece.data());
      next = 1;
    } else {
      ranks_->receive(rank - 1, std::as_writable_bytes(piece));
    }
    // Never the shards of a rank first and then to the total: that would be another sum.
    for (; next < shards.size(); ++next)
      kernels::axpy(1.0f, shards[next].data() + at, piece.data(), static_cast<std::int64_t>(piece.size()));
    if (rank < last) ranks_->send(rank + 1, std::as_bytes(piece));
  }
  ranks_->broadcast(last, bytes_of_value(passed));
  ranks_->broadcast(last, std::as_writable_bytes(total));
  order = passed;
  return true;
}

void RankTeam::end() {
  if (alone() || !leads() || ended_) return;
  ended_ = true;
  if (!started_) {
    StartOrder none;
    ranks_->broadcast(0, bytes_of_value(none));
    return;
  }
  StepOrder over;
  over.end = 1;
  pass_order(over, {}, 0);
}

}  // namespace locus
