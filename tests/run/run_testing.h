// Shared by the tests of `run`: a temporary folder, a small identity, a small checkpoint, damage to files.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "config/load.h"
#include "core/error.h"
#include "run/run_directory.h"

namespace locus {

namespace fs = std::filesystem;

class RunFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / ("locus-run-" + std::to_string(::getpid()) + "-" + info->name());
    fs::remove_all(root_);
    fs::create_directories(root_);
    out_ = root_ / "out";
  }
  void TearDown() override {
    std::error_code code;
    fs::remove_all(root_, code);
  }
  RunDirectory open(const RunIdentity& identity) const { return RunDirectory::open_for_training(out_, identity); }

  fs::path root_;
  fs::path out_;
};

inline RunIdentity small_identity(const std::vector<std::string>& overrides = {}, const std::string& data_hash = "d0") {
  RunIdentity identity;
  for (const std::string& o : overrides) apply_override(identity.config, o);
  identity.data_hash = data_hash;
  identity.hashes = config_identity(identity.config, data_hash);
  identity.signature = {"s0", ""};
  identity.command = "locus train a.toml";
  identity.threads = 2;
  identity.data = {{"puzzles", "12"}};
  identity.parameters = {{"head.weight", {2, 3}, true, 1e-4, 0}};
  return identity;
}

// Owns the numbers of a checkpoint whose content depends on the step.
struct SmallCheckpoint {
  explicit SmallCheckpoint(std::int64_t step)
      : weights{1.0F * static_cast<float>(step), 2, 3, 4, 5, 6}, moments{0.5, -0.25}, order{3, 1, 2} {
    checkpoint.step = step;
    checkpoint.model = model();
    checkpoint.state = {tensor_view<double>("moments", {2}, moments), tensor_view<std::int64_t>("order", {3}, order)};
    checkpoint.metadata = {{"epoch", std::to_string(step / 10)}, {"rng", "1:2:3"}};
  }
  SmallCheckpoint(const SmallCheckpoint&) = delete;
  SmallCheckpoint& operator=(const SmallCheckpoint&) = delete;
  ModelFiles model() const { return {{tensor_view<float>("head.weight", {2, 3}, weights)}, R"({"shape":{"tokens":4}})"}; }

  std::vector<float> weights;
  std::vector<double> moments;
  std::vector<std::int64_t> order;
  Checkpoint checkpoint;
};

inline void save(RunDirectory& run, std::int64_t step) {
  const SmallCheckpoint small(step);
  run.save_checkpoint(small.checkpoint);
}

inline std::string bytes_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void put_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

template <class E>
std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "no error";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& t : texts) all += t + "\n";
  return all;
}

inline std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace locus
