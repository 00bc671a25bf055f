// Processes that train one run together. Each holds the whole model and computes its own shards of every batch; the running
// total of the gradients goes along them in shard order, so that the sum is the same for any number of processes
// (docs/decisions/0003). Rank 0 alone owns the run's folder, its clock and the signals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"

namespace locus {

// Another process is gone or does not answer: this one cannot go on.
class RankError : public Error {
 public:
  using Error::Error;
};

// How they talk. Messages between two ranks arrive whole and in order. Every call may throw RankError.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // May return before the message is out, with a copy of its bytes.
  virtual void send(int to, std::span<const std::byte> bytes) = 0;
  virtual void receive(int from, std::span<std::byte> bytes) = 0;
  virtual void broadcast(int root, std::span<std::byte> bytes) = 0;
};

// What the leader says with every step; it goes along the ranks before the gradients.
struct StepOrder {
  std::int64_t end = 0;     // no step: training is over
  std::int64_t frozen = 0;  // the encoding's tensors are not updated
  double loss = 0;          // running totals, in shard order
  std::int64_t correct = 0;
};

// What a rank computed of a batch: its shards, in order.
struct ShardSums {
  std::span<const std::span<const float>> gradients;
  std::span<const double> losses;
  std::int64_t correct = 0;
};

// Shards [first, last) of a batch.
struct ShardRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t count() const { return last - first; }
};
ShardRange shards_of(const Ranks* ranks, std::int64_t shards);

// The ranks of one training, as its steps use them. Without others it does nothing.
class RankTeam {
 public:
  explicit RankTeam(Ranks* ranks) : ranks_(ranks) {}
  bool alone() const { return ranks_ == nullptr || ranks_->size() == 1; }
  bool leads() const { return ranks_ == nullptr || ranks_->rank() == 0; }
  Ranks* ranks() const { return alone() ? nullptr : ranks_; }

  // Once, by all: what the leader trains and where it stands. `identity` must be the same everywhere (ConfigError). False
  // when the leader did not come so far.
  bool start(const std::string& identity, std::int64_t& step, const std::vector<std::span<float>>& arrays);

  // Adds this rank's shards, in order, to the total that came from the ranks before; at the end `total` and `order` hold the
  // same on all of them. False, and nothing changed, when the leader has ended.
  bool reduce(StepOrder& order, const ShardSums& own, std::span<float> total);

  // By the leader, however training ended; a second call does nothing.
  void end();

 private:
  bool pass_order(StepOrder& order, std::span<const double> losses, std::int64_t correct);
  Ranks* ranks_;
  bool started_ = false;
  bool ended_ = false;
};

}  // namespace locus
