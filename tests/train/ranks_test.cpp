// Several ranks train one run: the same bytes for any number of them. Here they are threads of one process.
#include "train/ranks.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "tests/train/train_testing.h"

namespace locus {
namespace {

// Messages between threads.
class Exchange {
 public:
  explicit Exchange(int size) : size_(size) {}
  int size() const { return size_; }
  void put(int from, int to, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    boxes_[{from, to}].emplace_back(bytes.begin(), bytes.end());
    news_.notify_all();
  }
  void get(int from, int to, std::span<std::byte> bytes) {
    std::unique_lock lock(mutex_);
    auto& box = boxes_[{from, to}];
    news_.wait(lock, [&] { return broken_ || !box.empty(); });
    if (box.empty()) throw RankError({.what = "the other rank is gone"});
    ASSERT_EQ(box.front().size(), bytes.size()) << "a message of another size: the ranks do not follow the same protocol";
    std::memcpy(bytes.data(), box.front().data(), bytes.size());
    box.pop_front();
  }
  void break_off() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    news_.notify_all();
  }
  bool empty() const {
    return std::all_of(boxes_.begin(), boxes_.end(), [](const auto& box) { return box.second.empty(); });
  }

 private:
  int size_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> boxes_;
  bool broken_ = false;
};

class ThreadRanks : public Ranks {
 public:
  ThreadRanks(Exchange& exchange, int rank) : exchange_(exchange), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return exchange_.size(); }
  void send(int to, std::span<const std::byte> bytes) override { exchange_.put(rank_, to, bytes); }
  void receive(int from, std::span<std::byte> bytes) override { exchange_.get(from, rank_, bytes); }
  void broadcast(int root, std::span<std::byte> bytes) override {
    if (rank_ != root) return exchange_.get(root, rank_, bytes);
    for (int r = 0; r < size(); ++r) {
      if (r != root) exchange_.put(root, r, bytes);
    }
  }

 private:
  Exchange& exchange_;
  int rank_;
};

class RanksTest : public TrainTest {
 protected:
  // Trains in `size` ranks; what each threw, by its rank.
  std::vector<std::string> run_ranks(const std::string& name, const std::vector<RunConfig>& configs, const Dataset& data,
                                     int threads, int lost_rank = -1, std::int64_t lost_step = 0) {
    const int size = static_cast<int>(configs.size());
    Exchange exchange(size);
    std::vector<std::string> errors(configs.size());
    std::vector<std::thread> all;
    for (int rank = 0; rank < size; ++rank) {
      all.emplace_back([&, rank] {
        ThreadRanks ranks(exchange, rank);
        TrainSetup setup;
        setup.config = configs[static_cast<std::size_t>(rank)];
        setup.dataset = &data;
        setup.out = (root_ / name).string();
        setup.threads = threads;
        setup.ranks = &ranks;
        TrainHooks hooks;
        hooks.stop_signal = &stop_;
        hooks.progress = progress_;
        try {
          if (rank == lost_rank) {
            follow_until(setup, ranks, lost_step);
            exchange.break_off();
          } else {
            train(setup, hooks);
          }
        } catch (const std::exception& e) {
          errors[static_cast<std::size_t>(rank)] = e.what();
          if (rank != 0) exchange.break_off();  // as mpirun ends all when one ends badly
        }
      });
    }
    for (std::thread& t : all) t.join();
    messages_left_ = !exchange.empty();
    return errors;
  }

  // A rank that dies after some steps.
  static void follow_until(const TrainSetup& setup, Ranks& ranks, std::int64_t steps) {
    struct Dead {};
    class Dying : public Ranks {
     public:
      Dying(Ranks& to, std::int64_t left) : to_(to), left_(left) {}
      int rank() const override { return to_.rank(); }
      int size() const override { return to_.size(); }
      void send(int to, std::span<const std::byte> b) override { to_.send(to, b); }
      void receive(int from, std::span<std::byte> b) override {
        if (b.size() == sizeof(StepOrder) && left_-- == 0) throw Dead();
        to_.receive(from, b);
      }
      void broadcast(int root, std::span<std::byte> b) override { to_.broadcast(root, b); }

     private:
      Ranks& to_;
      std::int64_t left_;
    } dying(ranks, steps);
    TrainSetup mine = setup;
    mine.ranks = &dying;
    try {
      train(mine, {});
    } catch (const Dead&) {
    }
  }

  bool messages_left_ = false;
};

TEST_F(RanksTest, the_same_bytes_for_any_number_of_ranks_and_threads) {
  const Dataset copy = copy_task();
  const Dataset repeat = repeat_task();
  for (const Dataset* data : {&copy, &repeat}) {
    RunConfig c = tiny_config();
    c.model.residual_dropout = 0.1;
    c.optim.clip_norm = 0.5;
    c.train.freeze_pe_after = 3;
    c.train.shards = 7;
    if (data == &repeat) c.model.readout = Readout::kMasked;
    run("alone" + data->name, c, *data);
    for (const int size : {2, 3, 4, 7}) {
      for (const int threads : {1, 2}) {
        const std::string name = data->name + std::to_string(size) + std::to_string(threads);
        for (const std::string& e :
             run_ranks(name, std::vector<RunConfig>(static_cast<std::size_t>(size), c), *data, threads))
          EXPECT_EQ(e, "");
        expect_same_result("alone" + data->name, name);
        EXPECT_FALSE(messages_left_);
      }
    }
  }
}

TEST_F(RanksTest, a_run_goes_on_with_another_number_of_ranks) {
  const Dataset data = copy_task();
  RunConfig c = tiny_config();
  run("alone", c, data);
  std::vector<int> sizes = {4, 1, 2, 3};
  for (const int size : sizes) {
    progress_ = [&](const Progress& p) {
      if (p.metrics != nullptr && p.epoch % 2 == 1) stop_ = 15;
    };
    for (const std::string& e : run_ranks("torn", std::vector<RunConfig>(static_cast<std::size_t>(size), c), data, 1))
      EXPECT_EQ(e, "");
    stop_ = 0;
  }
  progress_ = {};
  run_ranks("torn", std::vector<RunConfig>(2, c), data, 1);
  expect_same_result("alone", "torn");
}

TEST_F(RanksTest, a_rank_that_dies_leaves_a_checkpoint_of_the_last_whole_step) {
  const Dataset data = copy_task();
  RunConfig c = tiny_config();
  c.watch.checkpoint_every = 1000;
  run("alone", c, data);
  const std::vector<std::string> errors = run_ranks("torn", std::vector<RunConfig>(3, c), data, 1, 1, 8);
  EXPECT_NE(errors[0].find("the other rank is gone"), std::string::npos) << errors[0];
  EXPECT_TRUE(fs::exists(root_ / "torn/checkpoints/0000000008"));
  run("torn", c, data);
  EXPECT_EQ(bytes(root_ / "torn/final/model.safetensors"), bytes(root_ / "alone/final/model.safetensors"));
}

TEST_F(RanksTest, what_ends_the_first_rank_ends_all) {
  const Dataset data = copy_task();
  RunConfig c = tiny_config();
  c.optim.lr = 1e30;  // diverges
  c.stop.epochs = 50;
  const std::vector<std::string> errors = run_ranks("diverged", std::vector<RunConfig>(3, c), data, 1);
  EXPECT_NE(errors[0].find("diverged"), std::string::npos) << errors[0];
  EXPECT_EQ(errors[1] + errors[2], "");
  // Before it began: its folder cannot be used.
  std::ofstream(root_ / "file") << "x";
  const std::vector<std::string> refused = run_ranks("file", std::vector<RunConfig>(2, tiny_config()), data, 1);
  EXPECT_NE(refused[0].find("not a folder"), std::string::npos) << refused[0];
  EXPECT_EQ(refused[1], "");
}

TEST_F(RanksTest, ranks_that_would_train_something_else_are_refused) {
  const Dataset data = copy_task();
  RunConfig other = tiny_config();
  other.optim.lr = 1e-5;
  const std::vector<std::string> errors = run_ranks("mixed", {tiny_config(), other}, data, 1);
  EXPECT_NE(errors[1].find("rank 1 would train something else"), std::string::npos) << errors[1];
}

TEST_F(RanksTest, more_ranks_than_shards_are_refused) {
  Exchange exchange(5);
  const ThreadRanks ranks(exchange, 0);
  EXPECT_THROW(shards_of(&ranks, 4), ConfigError);
  std::int64_t covered = 0;
  for (int r = 0; r < 5; ++r) {
    const ThreadRanks one(exchange, r);
    const ShardRange range = shards_of(&one, 8);
    EXPECT_EQ(range.first, covered);
    EXPECT_GE(range.count(), 1);
    covered = range.last;
  }
  EXPECT_EQ(covered, 8);
}

}  // namespace
}  // namespace locus
