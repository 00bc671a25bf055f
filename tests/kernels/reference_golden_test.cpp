// The oracle in double against the PyTorch reference's golden files: loss, outputs and gradients of every case, and 20
// optimiser steps written out as in docs/model.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/reference/encoder.h"
#include "tests/support/golden.h"

namespace locus {
namespace {

using reference::Params;

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= most)) most = std::abs(a[i] - b[i]);
  }
  return most;
}

class ReferenceGoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceGoldenTest, loss_outputs_and_gradients_agree) {
  const golden::File file = golden::read_file(GetParam());
  const auto spec = golden::spec_of(file.config());
  const auto got = reference::loss_and_gradients(spec, file.group<double>("param."), golden::batch_of(file));
  const double loss = file.values<double>("expect.loss")[0];
  EXPECT_NEAR(got.loss, loss, 1e-12 * std::abs(loss));
  EXPECT_LE(largest_difference(got.output, file.values<double>("expect.output")), 1e-11);
  const auto gradients = file.group<double>("grad.");
  ASSERT_FALSE(gradients.empty());
  double scale = 0;
  for (const auto& [name, expected] : gradients) scale = std::max(scale, largest(expected));
  for (const auto& [name, expected] : gradients) {
    // A key bias has no true gradient: both sides hold rounding noise, judged by the largest gradient of all.
    EXPECT_LE(largest_difference(got.gradients.at(name), expected), 1e-10 * largest(expected) + 1e-14 * scale) << name;
  }
}

std::string case_name(const testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem().string();
}

INSTANTIATE_TEST_SUITE_P(Cases, ReferenceGoldenTest, testing::ValuesIn(golden::files()), case_name);

TEST(ReferenceGoldenCoverageTest, every_encoding_has_one_and_four_heads_both_masks_and_odd_lengths) {
  std::set<std::string> seen;
  for (const std::string& path : golden::files()) {
    const auto spec = golden::spec_of(golden::read_file(path).config());
    const std::string kind = std::to_string(static_cast<int>(spec.pe));
    if (spec.tokens % 2 == 1 && spec.heads == 1 && !spec.causal) seen.insert(kind + " one head, full");
    if (spec.tokens % 2 == 1 && spec.heads == 4 && spec.causal) seen.insert(kind + " four heads, causal");
  }
  for (int kind = 0; kind < static_cast<int>(kPeKindNames.size()); ++kind) {
    EXPECT_EQ(seen.count(std::to_string(kind) + " one head, full"), 1u) << kind;
    EXPECT_EQ(seen.count(std::to_string(kind) + " four heads, causal"), 1u) << kind;
  }
}

struct Moments {
  std::vector<double> first, second;
};

// One step of docs/model.md's optimisers on one tensor.
void update(const Json& o, int step, const std::vector<double>& gradient, std::vector<double>& p, Moments& m) {
  const auto number = [&](const char* key) { return o[key].get<double>(); };
  const double lr = number("lr"), decay = number("weight_decay"), beta1 = number("beta1"), beta2 = number("beta2");
  const double momentum = number("momentum"), eps = number("eps");
  m.first.resize(p.size());
  m.second.resize(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    double g = gradient[i];
    if (o["kind"] == "adamw") {
      p[i] -= lr * decay * p[i];
    } else {
      g += decay * p[i];
    }
    if (o["kind"] == "sgd") {
      m.first[i] = momentum * m.first[i] + g;
      p[i] -= lr * m.first[i];
      continue;
    }
    m.first[i] = beta1 * m.first[i] + (1 - beta1) * g;
    m.second[i] = beta2 * m.second[i] + (1 - beta2) * g * g;
    const double corrected = m.first[i] / (1 - std::pow(beta1, step));
    p[i] -= lr * corrected / (std::sqrt(m.second[i] / (1 - std::pow(beta2, step))) + eps);
  }
}

// PyTorch's clip_grad_norm_ adds 1e-6 to the norm.
void clip(double bound, Params<double>& gradients) {
  double sum = 0;
  for (const auto& [name, g] : gradients) {
    for (const double v : g) sum += v * v;
  }
  const double factor = bound > 0 ? std::min(1.0, bound / (std::sqrt(sum) + 1e-6)) : 1.0;
  for (auto& [name, g] : gradients) {
    for (double& v : g) v *= factor;
  }
}

class ReferenceOptimizerTest : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceOptimizerTest, twenty_steps_agree) {
  const golden::File file = golden::read_file(GetParam());
  const Json options = Json::parse(file.metadata.at("optimizer"));
  const auto spec = golden::spec_of(file.config());
  auto params = file.group<double>("param.");
  const auto losses = file.values<double>("expect.losses");
  ASSERT_EQ(losses.size(), 20u);
  std::map<std::string, Moments> moments;
  const int batches = static_cast<int>(file.at("input.labels").shape[0]);
  for (int step = 0; step < 20; ++step) {
    auto got = reference::loss_and_gradients(spec, params, golden::batch_of(file, step % batches));
    ASSERT_NEAR(got.loss, losses[step], 1e-9 * std::abs(losses[step])) << step;
    clip(options["clip_norm"].get<double>(), got.gradients);
    for (auto& [name, p] : params) update(options, step + 1, got.gradients.at(name), p, moments[name]);
  }
  EXPECT_LT(losses.back(), losses.front());
  for (const auto& [name, expected] : file.group<double>("final.")) {
    EXPECT_LE(largest_difference(params.at(name), expected), 1e-7 * largest(expected)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ReferenceOptimizerTest, testing::ValuesIn(golden::files(true)), case_name);

}  // namespace
}  // namespace locus
