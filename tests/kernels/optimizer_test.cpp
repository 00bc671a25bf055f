// Updates on flat arrays against double loops over many steps.
#include "kernels/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/rng.h"

namespace locus::kernels {
namespace {

constexpr std::size_t kCount = 37;

std::vector<float> draw(Rng& rng, double scale) {
  std::vector<float> out(kCount);
  for (float& v : out) v = static_cast<float>(scale * rng.normal());
  return out;
}

class AdamTest : public testing::TestWithParam<bool> {};

TEST_P(AdamTest, fifty_steps_agree_with_double) {
  const bool decoupled = GetParam();
  Rng rng(1, "adam");
  std::vector<float> p = draw(rng, 1), m(kCount), v(kCount);
  std::vector<double> dp(p.begin(), p.end()), dm(kCount), dv(kCount);
  const double lr = 1e-2, b1 = 0.9, b2 = 0.99, eps = 1e-8, decay = 0.1, scale = 0.5;
  for (int t = 1; t <= 50; ++t) {
    const std::vector<float> g = draw(rng, 0.3);
    AdamUpdate u;
    u.lr = static_cast<float>(lr);
    u.beta1 = static_cast<float>(b1);
    u.beta2 = static_cast<float>(b2);
    u.weight_decay = static_cast<float>(decay);
    u.decoupled = decoupled;
    u.correction1 = 1 - std::pow(b1, t);
    u.correction2 = 1 - std::pow(b2, t);
    u.gradient_scale = static_cast<float>(scale);
    adam_update(u, {p.data(), g.data(), m.data(), v.data()}, kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      double x = scale * static_cast<double>(g[i]);
      if (decoupled) {
        dp[i] -= lr * decay * dp[i];
      } else {
        x += decay * dp[i];
      }
      dm[i] = b1 * dm[i] + (1 - b1) * x;
      dv[i] = b2 * dv[i] + (1 - b2) * x * x;
      dp[i] -= lr * (dm[i] / u.correction1) / (std::sqrt(dv[i] / u.correction2) + eps);
    }
  }
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_NEAR(p[i], dp[i], 5e-6) << i;
}

INSTANTIATE_TEST_SUITE_P(Decay, AdamTest, testing::Bool(),
                         [](const auto& given) { return given.param ? "decoupled" : "in_the_gradient"; });

class SgdTest : public testing::TestWithParam<double> {};

TEST_P(SgdTest, fifty_steps_agree_with_double) {
  const double momentum = GetParam();
  Rng rng(2, "sgd");
  std::vector<float> p = draw(rng, 1), v(kCount, 123.0f);  // the first step must not use what is there
  std::vector<double> dp(p.begin(), p.end()), dv(kCount);
  const double lr = 1e-2, decay = 0.05;
  for (int t = 0; t < 50; ++t) {
    const std::vector<float> g = draw(rng, 0.3);
    const SgdUpdate u{static_cast<float>(lr), static_cast<float>(momentum), static_cast<float>(decay), 2.0f, t == 0};
    sgd_update(u, p.data(), g.data(), momentum > 0 ? v.data() : nullptr, kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      const double x = 2 * static_cast<double>(g[i]) + decay * dp[i];
      dv[i] = t == 0 ? x : momentum * dv[i] + x;
      dp[i] -= lr * dv[i];
    }
  }
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_NEAR(p[i], dp[i], 5e-6) << i;
}

INSTANTIATE_TEST_SUITE_P(Momentum, SgdTest, testing::Values(0.0, 0.9),
                         [](const auto& given) { return given.param > 0 ? "with" : "without"; });

TEST(SumOfSquaresTest, agrees_with_double_and_sees_nan_and_infinity) {
  Rng rng(3, "squares");
  std::vector<float> x = draw(rng, 2);
  double total = 0;
  for (const float v : x) total += static_cast<double>(v) * v;
  EXPECT_NEAR(sum_of_squares(x.data(), kCount), total, 1e-12 * total);
  x[36] = NAN;
  EXPECT_TRUE(std::isnan(sum_of_squares(x.data(), kCount)));
  x[36] = INFINITY;
  EXPECT_TRUE(std::isinf(sum_of_squares(x.data(), kCount)));
}

}  // namespace
}  // namespace locus::kernels
