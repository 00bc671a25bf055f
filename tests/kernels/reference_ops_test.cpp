// Each op of the oracle by itself: backward against complex step, and known values and properties.
#include "kernels/reference/ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "kernels/reference/encoding.h"
#include "tests/support/reference_cases.h"

namespace locus::reference {
namespace {

using Complex = std::complex<double>;
using Values = std::vector<double>;
constexpr double kStep = 1e-50;

std::vector<Complex> lifted(const Values& x) { return {x.begin(), x.end()}; }

Complex weighted(const std::vector<Complex>& y, const Values& weights) {
  Complex sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += weights[i] * y[i];
  return sum;
}

// `gradient` against the derivative of f at x, entry by entry.
void expect_gradient(const std::function<Complex(const std::vector<Complex>&)>& f, const Values& x, const Values& gradient) {
  ASSERT_EQ(x.size(), gradient.size());
  double largest = 0;
  for (const double g : gradient) largest = std::max(largest, std::abs(g));
  ASSERT_GT(largest, 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    auto moved = lifted(x);
    moved[i] += Complex(0, kStep);
    EXPECT_NEAR(gradient[i], f(moved).imag() / kStep, 1e-12 * largest) << i;
  }
}

TEST(ReferenceScalarTest, functions_carry_the_derivative) {
  for (const double x : {-2.5, -0.3, 0.0, 0.7, 3.0}) {
    const Complex z(x, kStep);
    EXPECT_DOUBLE_EQ(erf_of(z).imag() / kStep, 2 / std::sqrt(std::numbers::pi) * std::exp(-x * x));
    EXPECT_DOUBLE_EQ(exp_of(z).imag() / kStep, std::exp(x));
    EXPECT_DOUBLE_EQ(erf_of(z).real(), std::erf(x));
  }
  EXPECT_DOUBLE_EQ(sqrt_of(Complex(4, kStep)).imag() / kStep, 0.25);
  EXPECT_DOUBLE_EQ(log_of(Complex(4, kStep)).imag() / kStep, 0.25);
}

TEST(ReferenceOpsTest, linear_backward_is_the_derivative) {
  Rng rng(1, "ops");
  const int n = 3, in = 4, out = 5;
  const Values x = random_values(rng, n * in, 1), w = random_values(rng, out * in, 1), b = random_values(rng, out, 1),
               dy = random_values(rng, n * out, 1);
  Values dw(w.size()), db(b.size());
  const Values dx = linear_backward<double>(x, w, dy, in, {&dw, &db});
  const auto cx = lifted(x), cw = lifted(w), cb = lifted(b);
  expect_gradient([&](const auto& v) { return weighted(linear_forward(v, cw, &cb, in), dy); }, x, dx);
  expect_gradient([&](const auto& v) { return weighted(linear_forward(cx, v, &cb, in), dy); }, w, dw);
  expect_gradient([&](const auto& v) { return weighted(linear_forward(cx, cw, &v, in), dy); }, b, db);
}

TEST(ReferenceOpsTest, layer_norm_backward_is_the_derivative_and_rows_are_normal) {
  Rng rng(2, "ops");
  const int n = 3, width = 7;
  const Values x = random_values(rng, n * width, 2, 0.5), w = random_values(rng, width, 1), b = random_values(rng, width, 1),
               dy = random_values(rng, n * width, 1);
  Values dw(width), db(width);
  const Values dx = layer_norm_backward<double>(x, w, dy, {&dw, &db});
  const auto cx = lifted(x), cw = lifted(w), cb = lifted(b);
  expect_gradient([&](const auto& v) { return weighted(layer_norm_forward(v, cw, cb), dy); }, x, dx);
  expect_gradient([&](const auto& v) { return weighted(layer_norm_forward(cx, v, cb), dy); }, w, dw);
  expect_gradient([&](const auto& v) { return weighted(layer_norm_forward(cx, cw, v), dy); }, b, db);
  const Values y = layer_norm_forward<double>(x, Values(width, 1.0), Values(width, 0.0));
  for (int r = 0; r < n; ++r) {
    double sum = 0, squares = 0;
    for (int c = 0; c < width; ++c) {
      sum += y[r * width + c];
      squares += y[r * width + c] * y[r * width + c];
    }
    EXPECT_NEAR(sum, 0, 1e-12);
    EXPECT_NEAR(squares / width, 1, 1e-4);
  }
}

TEST(ReferenceOpsTest, gelu_backward_is_the_derivative_and_values_are_known) {
  Rng rng(3, "ops");
  const Values x = random_values(rng, 20, 2), dy = random_values(rng, 20, 1);
  expect_gradient([&](const auto& v) { return weighted(gelu_forward(v), dy); }, x, gelu_backward(x, dy));
  EXPECT_NEAR(gelu_forward(Values{1.0})[0], 0.8413447460685429, 1e-15);
  EXPECT_NEAR(gelu_forward(Values{-1.0})[0], -0.15865525393145707, 1e-15);
}

TEST(ReferenceOpsTest, softmax_backward_is_the_derivative_and_hidden_entries_stay_zero) {
  Rng rng(4, "ops");
  const Values x = random_values(rng, 6, 3);
  Values weights = random_values(rng, 6, 1), row = x;
  softmax_forward(std::span<double>(row), 4);
  EXPECT_EQ(row[4], 0.0);
  EXPECT_EQ(row[5], 0.0);
  EXPECT_NEAR(row[0] + row[1] + row[2] + row[3], 1.0, 1e-15);
  Values d = weights;
  softmax_backward(std::span<const double>(row), std::span<double>(d));
  const auto f = [&](std::vector<Complex> v) {
    softmax_forward(std::span<Complex>(v), 4);
    return weighted(v, weights);
  };
  expect_gradient(f, x, d);
}

TEST(ReferenceOpsTest, losses_have_their_gradients_and_known_values) {
  Rng rng(5, "ops");
  const Values x = random_values(rng, 6, 2), targets = random_values(rng, 6, 2);
  const std::vector<std::int64_t> labels = {2, 0};
  expect_gradient([&](const auto& v) { return cross_entropy(v, labels).value; }, x, cross_entropy(x, labels).gradient);
  expect_gradient([&](const auto& v) { return mean_square(v, targets).value; }, x, mean_square(x, targets).gradient);
  EXPECT_NEAR(cross_entropy(Values(6, 0.3), labels).value, std::log(3.0), 1e-15);
  EXPECT_NEAR(mean_square(Values{1, 3}, {0, 1}).value, 2.5, 1e-15);
}

TEST(ReferenceEncodingTest, t5_buckets_are_exact_near_and_logarithmic_far) {
  for (int n = 0; n < 8; ++n) {
    EXPECT_EQ(t5_bucket(-n, 32, 0), n);
    if (n > 0) {
      EXPECT_EQ(t5_bucket(n, 32, 0), 16 + n);
    }
  }
  EXPECT_EQ(t5_bucket(-12, 32, 0), 9);
  EXPECT_EQ(t5_bucket(-127, 32, 128), 15);
  EXPECT_EQ(t5_bucket(-100000, 32, 128), 15);
  EXPECT_EQ(t5_bucket(100000, 32, 128), 31);
}

TEST(ReferenceEncodingTest, rotary_scores_depend_only_on_the_offset) {
  Spec spec;
  spec.tokens = 9;
  spec.width = 7;  // the last channel has no partner
  spec.pe = PeKind::kRotary;
  const Geometry geometry(spec);
  const Params<double> none;
  const Encoding<double> pe(spec, geometry, 0, none, nullptr);
  Rng rng(6, "ops");
  const Values q = random_values(rng, 7, 1), k = random_values(rng, 7, 1);
  const auto score = [&](int i, int j) {
    Values a = q, b = k;
    rotate(pe, i, 1, a.data());
    rotate(pe, j, 1, b.data());
    double sum = 0;
    for (int d = 0; d < 7; ++d) sum += a[d] * b[d];
    return sum;
  };
  EXPECT_NEAR(score(1, 4), score(5, 8), 1e-14);
  EXPECT_GT(std::abs(score(1, 4) - score(4, 1)), 1e-3);
  Values back = q;
  rotate(pe, 5, 1, back.data());
  rotate(pe, 5, -1, back.data());
  for (int d = 0; d < 7; ++d) EXPECT_NEAR(back[d], q[d], 1e-15);
}

TEST(ReferenceEncodingTest, a_cls_token_stands_at_the_mean_of_the_others) {
  Spec spec;
  spec.tokens = 3;
  spec.readout = Readout::kCls;
  spec.coord_scale = 2;
  spec.coordinates = {{0, 0}, {0, 3}, {6, 0}};
  EXPECT_EQ(Geometry(spec).positions.back(), (Values{4, 2}));
  spec.coordinates.clear();
  EXPECT_EQ(Geometry(spec).positions.back(), Values{6});
}

}  // namespace
}  // namespace locus::reference
