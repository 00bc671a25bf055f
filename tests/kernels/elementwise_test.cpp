// Own exp by distance in units of the last place, GELU and row-wise operations against double loops.
#include "kernels/elementwise.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/rng.h"

namespace locus::kernels {
namespace {

// How many steps of its own size `got` is from the exact value.
double ulps(float got, double exact) {
  const auto nearest = static_cast<float>(exact);
  if (got == nearest) return std::abs(static_cast<double>(got) - exact) > 0 ? 0.5 : 0.0;
  const double step = static_cast<double>(std::nextafter(std::abs(nearest), INFINITY)) - std::abs(nearest);
  return std::abs(static_cast<double>(got) - exact) / step;
}

using Function = void (*)(const float*, float*, std::int64_t);

// Every `stride`-th float of both signs from `low` to `high`.
double worst_ulps(float low, float high, std::uint32_t stride, Function f, double (*exact)(double)) {
  constexpr std::uint32_t kAtOnce = 64;
  double worst = 0;
  for (const float sign : {1.0f, -1.0f}) {
    for (std::uint32_t bits = std::bit_cast<std::uint32_t>(low); bits <= std::bit_cast<std::uint32_t>(high);
         bits += kAtOnce * stride) {
      float x[kAtOnce], y[kAtOnce];
      for (std::uint32_t i = 0; i < kAtOnce; ++i) x[i] = sign * std::min(high, std::bit_cast<float>(bits + i * stride));
      f(x, y, kAtOnce);
      for (std::uint32_t i = 0; i < kAtOnce; ++i) worst = std::max(worst, ulps(y[i], exact(static_cast<double>(x[i]))));
    }
  }
  return worst;
}

std::vector<float> values_of(Function f, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  f(x.data(), y.data(), static_cast<std::int64_t>(x.size()));
  return y;
}

constexpr std::uint32_t kStride = 61;  // prime, so that every last digit occurs

TEST(SimdTest, exp_is_within_two_ulp_of_normal_results) {
  EXPECT_LE(worst_ulps(0x1p-30f, 87.0f, kStride, exp_values, std::exp), 2.0);
}

TEST(SimdTest, exp_keeps_the_ends) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> y = values_of(exp_values, {0.0f, -inf, -1000.0f, -103.0f, 88.0f, 1000.0f, NAN, -0.0f});
  EXPECT_EQ(y[0], 1.0f);
  EXPECT_EQ(y[1], 0.0f);
  EXPECT_EQ(y[2], 0.0f);
  EXPECT_EQ(y[3], 0.0f);
  EXPECT_LE(ulps(y[4], std::exp(88.0)), 2.0);
  EXPECT_EQ(y[5], y[4]);
  EXPECT_TRUE(std::isnan(y[6]));
  EXPECT_EQ(y[7], 1.0f);
}

std::vector<float> normals(Rng& rng, std::int64_t n, double scale = 1) {
  std::vector<float> out(static_cast<std::size_t>(n));
  for (float& v : out) v = static_cast<float>(scale * rng.normal());
  return out;
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double gelu_slope(double x) {
  return 0.5 * (1 + std::erf(x / std::sqrt(2.0))) + x * std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI);
}

TEST(GeluTest, forward_and_slope_agree_with_double_from_minus_ten_to_ten) {
  std::vector<float> x;
  for (int i = -10000; i <= 10000; ++i) x.push_back(static_cast<float>(i) * 1e-3f);
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<float> y(x.size()), slope(x.size()), again(x.size());
  gelu_forward(ConstMat(x.data(), 1, n), Mat(y.data(), 1, n));
  gelu_with_slope(ConstMat(x.data(), 1, n), Mat(again.data(), 1, n), Mat(slope.data(), 1, n));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i];
    ASSERT_NEAR(y[i], gelu(v), 2e-7 * std::max(1.0, std::abs(v))) << v;
    ASSERT_NEAR(slope[i], gelu_slope(v), 4e-7) << v;
    ASSERT_EQ(again[i], y[i]);
  }
}

// There 1 + erf would have no digit left.
TEST(GeluTest, keeps_its_digits_in_the_lower_tail) {
  std::vector<float> x;
  for (int i = -5000; i <= -1000; ++i) x.push_back(static_cast<float>(i) * 1e-3f);
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<float> y(x.size());
  gelu_forward(ConstMat(x.data(), 1, n), Mat(y.data(), 1, n));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i];
    ASSERT_NEAR(y[i] / (0.5 * v * std::erfc(-v / std::sqrt(2.0))), 1, 3e-4) << v;
  }
}

TEST(GeluTest, passes_nan_on_and_bounds_huge_values) {
  const std::vector<float> x = {NAN, 1e30f, -1e30f, 20.0f, -20.0f};
  std::vector<float> y(x.size()), slope(x.size());
  const auto n = static_cast<std::int64_t>(x.size());
  gelu_with_slope(ConstMat(x.data(), 1, n), Mat(y.data(), 1, n), Mat(slope.data(), 1, n));
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(slope[0]));
  EXPECT_EQ(y[1], 1e30f);
  EXPECT_EQ(y[2], 0.0f);
  EXPECT_EQ(y[3], 20.0f);
  EXPECT_NEAR(y[4], 0, 1e-30);
  EXPECT_NEAR(slope[1], 1, 1e-6);
  EXPECT_NEAR(slope[2], 0, 1e-6);
  EXPECT_EQ(slope[3], 1.0f);
  EXPECT_NEAR(slope[4], 0, 1e-30);
}

TEST(LayerNormTest, agrees_with_double_forward_and_backward_for_every_width) {
  Rng rng(1, "norm");
  for (const std::int64_t c : {1, 3, 7, 8, 9, 16, 31, 160}) {
    const std::int64_t n = 5;
    const auto size = static_cast<std::size_t>(n * c);
    const std::vector<float> a = normals(rng, n * c, 3), b = normals(rng, n * c), w = normals(rng, c),
                             bias = normals(rng, c);
    const std::vector<float> dy = normals(rng, n * c);
    std::vector<float> hat(size), rstd(n), out(size), dx(size);
    std::vector<float> dw(static_cast<std::size_t>(c), 2.0f), db(static_cast<std::size_t>(c), -1.0f);
    const LayerNormSaved saved{Mat(hat.data(), n, c), rstd.data()};
    layer_norm_forward(ConstMat(a.data(), n, c), ConstMat(b.data(), n, c), {w.data(), bias.data()}, saved,
                       Mat(out.data(), n, c));
    layer_norm_backward(ConstMat(dy.data(), n, c), w.data(), saved, Mat(dx.data(), n, c), dw.data(), db.data());
    std::vector<double> want_dw(static_cast<std::size_t>(c), 2.0), want_db(static_cast<std::size_t>(c), -1.0);
    for (std::int64_t r = 0; r < n; ++r) {
      std::vector<double> x(static_cast<std::size_t>(c)), h(x.size()), g(x.size());
      double mean = 0, variance = 0, mean_g = 0, mean_gh = 0;
      for (std::int64_t i = 0; i < c; ++i) {
        x[static_cast<std::size_t>(i)] =
            static_cast<double>(a[static_cast<std::size_t>(r * c + i)]) + b[static_cast<std::size_t>(r * c + i)];
        mean += x[static_cast<std::size_t>(i)] / static_cast<double>(c);
      }
      for (const double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(c);
      const double inverse = 1 / std::sqrt(variance + 1e-5);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t at = static_cast<std::size_t>(r * c) + i;
        h[i] = (x[i] - mean) * inverse;
        g[i] = static_cast<double>(dy[at]) * w[i];
        mean_g += g[i] / static_cast<double>(c);
        mean_gh += g[i] * h[i] / static_cast<double>(c);
        want_dw[i] += dy[at] * h[i];
        want_db[i] += dy[at];
        EXPECT_NEAR(out[at], h[i] * w[i] + bias[i], 2e-5) << c;
      }
      // A single channel normalises to zero: its gradient is only rounding, blown up by 1 / sqrt(eps).
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_NEAR(dx[static_cast<std::size_t>(r * c) + i], inverse * (g[i] - mean_g - h[i] * mean_gh),
                    2e-6 * std::max(1.0, inverse))
            << c;
      }
    }
    for (std::size_t i = 0; i < want_dw.size(); ++i) {
      EXPECT_NEAR(dw[i], want_dw[i], 2e-5);
      EXPECT_NEAR(db[i], want_db[i], 2e-5);
    }
  }
}

TEST(SoftmaxTest, rows_agree_with_double_sum_to_one_and_clear_the_padding) {
  Rng rng(2, "softmax");
  for (const std::int64_t n : {1, 7, 8, 9, 16, 100, 360}) {
    const std::int64_t padded = (n + 15) / 16 * 16;
    std::vector<float> s = normals(rng, 3 * padded, 20);
    const std::vector<float> before = s;
    std::vector<float> lse(3);
    softmax_rows(Mat(s.data(), 3, n, padded), padded, lse.data());
    std::vector<float> again = before;
    exp_minus_rows(Mat(again.data(), 3, n, padded), padded, lse.data());
    for (std::int64_t r = 0; r < 3; ++r) {
      const auto row = static_cast<std::size_t>(r * padded);
      double top = -1e300, z = 0, sum = 0;
      for (std::int64_t i = 0; i < n; ++i) top = std::max<double>(top, before[row + static_cast<std::size_t>(i)]);
      for (std::int64_t i = 0; i < n; ++i) z += std::exp(before[row + static_cast<std::size_t>(i)] - top);
      EXPECT_NEAR(lse[static_cast<std::size_t>(r)], top + std::log(z), 1e-5);
      for (std::int64_t i = 0; i < padded; ++i) {
        const std::size_t at = row + static_cast<std::size_t>(i);
        const double want = i < n ? std::exp(before[at] - top) / z : 0.0;
        sum += s[at];
        ASSERT_NEAR(s[at], want, 1e-5 * want + 1e-30) << n;
        ASSERT_NEAR(again[at], want, 1e-5 * want + 1e-30) << n;
      }
      EXPECT_NEAR(sum, 1.0, 1e-5);
    }
  }
}

TEST(SoftmaxTest, huge_scores_and_hidden_ones_do_no_harm) {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> s = {3e38f, 3e38f, -inf, -3e38f};
  float lse = 0;
  softmax_rows(Mat(s.data(), 1, 4), 4, &lse);
  EXPECT_EQ(s, (std::vector<float>{0.5f, 0.5f, 0.0f, 0.0f}));
}

TEST(DropoutTest, a_mask_is_a_function_of_seed_and_place_alone_and_keeps_the_mean) {
  const std::int64_t n = 1 << 20;
  std::vector<float> ones(static_cast<std::size_t>(n), 1.0f);
  dropout_apply(Mat(ones.data(), 1, n), 0.3f, 42, 1000);
  double total = 0, dropped = 0;
  for (const float v : ones) {
    ASSERT_TRUE(v == 0.0f || v == 1.0f / (1.0f - 0.3f));
    total += v;
    dropped += v == 0.0f ? 1 : 0;
  }
  // Four standard deviations of a mean of n draws.
  EXPECT_NEAR(total / static_cast<double>(n), 1.0, 4 * std::sqrt(0.3 / 0.7 / static_cast<double>(n)));
  EXPECT_NEAR(dropped / static_cast<double>(n), 0.3, 4 * std::sqrt(0.21 / static_cast<double>(n)));
  // The same entries in pieces and in another order, as backward meets them.
  for (const std::int64_t first : {7, 500, 4093}) {
    std::vector<float> piece(33, 1.0f);
    dropout_apply(Mat(piece.data(), 3, 11), 0.3f, 42, static_cast<std::uint64_t>(1000 + first));
    for (std::size_t i = 0; i < piece.size(); ++i) ASSERT_EQ(piece[i], ones[static_cast<std::size_t>(first) + i]);
  }
  std::vector<float> other(1000, 1.0f);
  dropout_apply(Mat(other.data(), 1, 1000), 0.3f, 43, 1000);
  EXPECT_FALSE(std::equal(other.begin(), other.end(), ones.begin()));
}

TEST(ElementwiseTest, sums_agree_with_double_for_every_length) {
  Rng rng(3, "sums");
  for (std::int64_t n = 1; n <= 40; ++n) {
    const std::vector<float> a = normals(rng, n), b = normals(rng, n);
    std::vector<float> y = b, sums = b, scaled = a;
    axpy(0.25f, a.data(), y.data(), n);
    scale_rows(Mat(scaled.data(), 1, n), -3.0f);
    add_column_sums(ConstMat(a.data(), 1, n), sums.data());
    double total = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      total += static_cast<double>(a[i]) * b[i];
      ASSERT_NEAR(y[i], b[i] + 0.25 * a[i], 1e-6);
      ASSERT_EQ(sums[i], a[i] + b[i]);
      ASSERT_EQ(scaled[i], -3.0f * a[i]);
    }
    ASSERT_NEAR(dot(a.data(), b.data(), n), total, 1e-5);
  }
}

}  // namespace
}  // namespace locus::kernels
