// A copy task small enough to learn in a moment, and runs of it in temporary folders.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/rng.h"
#include "io/safetensors.h"
#include "train/trainer.h"

namespace locus {

namespace fs = std::filesystem;

// Five tokens of four kinds; the last asks which of the first four tokens to name: no order, no answer.
inline Dataset copy_task(std::int64_t train = 256, std::int64_t test = 64) {
  Dataset d;
  d.name = "copy";
  d.tokens = 5;
  d.features = 8;
  d.outputs = 4;
  d.conditions = {"left", "right"};
  Rng rng(1, "copy task");
  for (const auto& [name, count] : {std::pair{"train", train}, {"test", test}}) {
    Examples e;
    e.count = count;
    for (std::int64_t i = 0; i < count; ++i) {
      std::int16_t cells[4];
      for (std::int16_t& c : cells) e.ids.push_back(c = static_cast<std::int16_t>(rng.below(4)));
      const auto asked = static_cast<std::int32_t>(rng.below(4));
      e.ids.push_back(static_cast<std::int16_t>(4 + asked));
      e.labels.push_back(cells[asked]);
      e.condition.push_back(asked / 2);
      e.cluster.push_back(static_cast<std::int32_t>(i));
      e.read_token.push_back(4);
    }
    d.splits.emplace_back(name, std::move(e));
  }
  d.tokens_info.coordinates = MatrixD(5, 1);
  for (std::int64_t t = 0; t < 5; ++t) d.tokens_info.coordinates(t, 0) = static_cast<double>(t);
  d.hash = "copy" + std::to_string(train);
  return d;
}

// Eight tokens whose values repeat with period four; half of them are hidden.
inline Dataset repeat_task(std::int64_t train = 200) {
  Dataset d;
  d.name = "repeat";
  d.task = "masked";
  d.tokens = 8;
  d.features = d.outputs = 1;
  Rng rng(2, "repeat task");
  for (const auto& [name, count] : {std::pair{"train", train}, {"test", std::int64_t{40}}}) {
    Examples e;
    e.count = count;
    for (std::int64_t i = 0; i < count; ++i) {
      float base[4];
      for (float& b : base) b = static_cast<float>(rng.normal());
      for (std::int64_t t = 0; t < 8; ++t) {
        e.values.push_back(base[t % 4]);
        e.masks.push_back(t == static_cast<std::int64_t>(i % 4) || t == 5 ? 1 : 0);
      }
    }
    d.splits.emplace_back(name, std::move(e));
  }
  d.hash = "repeat";
  return d;
}

inline RunConfig tiny_config() {
  RunConfig c;
  c.seed = 5;
  c.model.layers = 2;
  c.model.width = 16;
  c.model.heads = 2;
  c.optim.lr = 3e-3;
  c.train.batch = 48;
  c.train.shards = 4;
  c.stop.epochs = 6;
  c.watch.checkpoint_every = 2;
  c.watch.checkpoint_seconds = 0;
  return c;
}

class TrainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("locus-train-" + std::to_string(::getpid()) + "-" +
                                         ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override {
    std::error_code code;
    fs::remove_all(root_, code);
  }

  TrainOutcome run(const std::string& name, const RunConfig& config, const Dataset& data, int threads = 1) {
    TrainSetup setup;
    setup.config = config;
    setup.dataset = &data;
    setup.out = (root_ / name).string();
    setup.command = "test";
    setup.threads = threads;
    TrainHooks hooks;
    hooks.message = [this](const std::string& text) { messages_.push_back(text); };
    hooks.stop_signal = &stop_;
    hooks.progress = progress_;
    return train(setup, hooks);
  }

  static std::string bytes(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // Every file of the last checkpoint, of init and final, and the metrics, by relative name (checkpoint by its step).
  std::map<std::string, std::string> result_bytes(const std::string& name) const {
    std::map<std::string, std::string> out;
    std::vector<fs::path> steps;
    for (const auto& e : fs::directory_iterator(root_ / name / "checkpoints")) steps.push_back(e.path());
    std::vector<fs::path> folders = {*std::max_element(steps.begin(), steps.end()), root_ / name / "init"};
    if (fs::exists(root_ / name / "final")) folders.push_back(root_ / name / "final");
    for (const fs::path& folder : folders) {
      for (const auto& e : fs::directory_iterator(folder))
        out[fs::relative(e.path(), root_ / name).string()] = bytes(e.path());
    }
    for (const char* file : {"metrics.csv", "predictions.csv"}) {
      if (fs::exists(root_ / name / file)) out[file] = bytes(root_ / name / file);
    }
    return out;
  }

  void expect_same_result(const std::string& a, const std::string& b) const {
    const auto one = result_bytes(a), two = result_bytes(b);
    ASSERT_GE(one.size(), 6u);
    for (const auto& [file, content] : one) {
      ASSERT_TRUE(two.contains(file)) << file;
      if (file.ends_with("config.json")) continue;  // names the stop rules, which may differ
      EXPECT_EQ(content == two.at(file), true) << file << " of " << a << " and " << b;
    }
    EXPECT_EQ(one.size(), two.size());
  }

  TensorFile model(const std::string& name, const std::string& which) const {
    return read_safetensors(root_ / name / which / "model.safetensors");
  }

  fs::path root_;
  std::vector<std::string> messages_;
  std::atomic<int> stop_{0};
  std::function<void(const Progress&)> progress_;
};

}  // namespace locus
