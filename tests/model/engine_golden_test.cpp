// The float engine against golden files computed by the PyTorch reference in double precision.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/engine_case.h"

namespace locus {
namespace {

// Largest difference relative to the largest expected entry.
double relative_error(const std::vector<float>& got, const std::vector<double>& expected) {
  double worst = 0;
  double largest = 1e-30;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(got.at(i)) - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return worst / largest;
}

double largest_entry(const std::map<std::string, std::vector<double>>& gradients) {
  double largest = 0;
  for (const auto& [name, values] : gradients) {
    for (const double v : values) largest = std::max(largest, std::abs(v));
  }
  return largest;
}

class EngineGoldenTest : public ::testing::TestWithParam<std::string> {};

void expect_agreement(const golden::File& file, const golden::EngineResult& result) {
  EXPECT_NEAR(result.loss, file.values<double>("expect.loss").at(0), 1e-5 * std::max(1.0, std::abs(result.loss)));
  EXPECT_LT(relative_error(result.outputs, file.values<double>("expect.output")), 1e-5);
  const auto gradients = file.group<double>("grad.");
  EXPECT_EQ(result.gradients.size(), gradients.size());
  const double largest = largest_entry(gradients);
  for (const auto& [name, expected] : gradients) {
    ASSERT_TRUE(result.gradients.contains(name)) << name;
    // Relative to the tensor's largest entry; a tensor whose gradient vanishes is judged against the largest of all.
    double own = 0;
    for (const double v : expected) own = std::max(own, std::abs(v));
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(result.gradients.at(name).at(i)) - expected[i]));
    }
    EXPECT_LT(worst, 2e-5 * std::max(own, 1e-2 * largest)) << name;
  }
}

TEST_P(EngineGoldenTest, plain_path_agrees_in_loss_outputs_and_all_gradients) {
  const golden::File file = golden::read_file(GetParam());
  const golden::EngineCase engine(file);
  const Savings plain = no_savings();
  expect_agreement(file, engine.run(&plain));
}

TEST_P(EngineGoldenTest, exact_savings_agree_in_loss_outputs_and_all_gradients) {
  const golden::File file = golden::read_file(GetParam());
  const golden::EngineCase engine(file);
  expect_agreement(file, engine.run());
}

TEST_P(EngineGoldenTest, micro_batches_of_one_sequence_agree) {
  const golden::File file = golden::read_file(GetParam());
  const golden::EngineCase engine(file);
  expect_agreement(file, engine.run(nullptr, 1));
}

INSTANTIATE_TEST_SUITE_P(All, EngineGoldenTest, ::testing::ValuesIn(golden::files()),
                         [](const auto& golden_file) { return std::filesystem::path(golden_file.param).stem().string(); });

}  // namespace
}  // namespace locus
