// Tiled attention against the oracle in double, at lengths beyond one tile, full and causal, for all and for some queries.
#include "kernels/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "core/rng.h"

namespace locus::kernels {
namespace {

struct Case {
  std::int64_t length, width;
  bool causal;
  std::int64_t every;  // 1: all queries; k: every k-th
};

struct Double {
  std::vector<double> out, dq, dk, dv;
};

// The oracle: one head in plain loops.
Double plain(const Case& c, const std::vector<std::int32_t>& at, double scale, const std::vector<std::vector<float>>& in) {
  const auto d = static_cast<std::size_t>(c.width);
  const std::vector<float>&q = in[0], &k = in[1], &v = in[2], &dout = in[3];
  Double r{std::vector<double>(q.size()), std::vector<double>(q.size()), std::vector<double>(k.size()),
           std::vector<double>(k.size())};
  for (std::size_t i = 0; i < at.size(); ++i) {
    const std::size_t seen = c.causal ? static_cast<std::size_t>(at[i]) + 1 : static_cast<std::size_t>(c.length);
    std::vector<double> p(seen), dp(seen);
    double top = -1e300, z = 0, inner = 0;
    for (std::size_t j = 0; j < seen; ++j) {
      for (std::size_t x = 0; x < d; ++x) p[j] += scale * q[i * d + x] * k[j * d + x];
      top = std::max(top, p[j]);
    }
    for (double& s : p) z += s = std::exp(s - top);
    for (std::size_t j = 0; j < seen; ++j) {
      p[j] /= z;
      for (std::size_t x = 0; x < d; ++x) {
        r.out[i * d + x] += p[j] * v[j * d + x];
        dp[j] += static_cast<double>(dout[i * d + x]) * v[j * d + x];
        r.dv[j * d + x] += p[j] * dout[i * d + x];
      }
      inner += p[j] * dp[j];
    }
    for (std::size_t j = 0; j < seen; ++j) {
      const double ds = p[j] * (dp[j] - inner) * scale;
      for (std::size_t x = 0; x < d; ++x) {
        r.dq[i * d + x] += ds * k[j * d + x];
        r.dk[j * d + x] += ds * q[i * d + x];
      }
    }
  }
  return r;
}

double relative(const std::vector<float>& got, const std::vector<double>& want) {
  double worst = 0, largest = 1e-2;  // a single key has no gradient
  for (std::size_t i = 0; i < want.size(); ++i) {
    worst = std::max(worst, std::abs(got[i] - want[i]));
    largest = std::max(largest, std::abs(want[i]));
  }
  return worst / largest;
}

class AttentionTest : public testing::TestWithParam<Case> {};

TEST_P(AttentionTest, forward_and_backward_agree_with_double) {
  const Case c = GetParam();
  Rng rng(static_cast<std::uint64_t>(c.length), "attention");
  std::vector<std::int32_t> at;
  for (std::int64_t t = c.every - 1; t < c.length; t += c.every) at.push_back(static_cast<std::int32_t>(t));
  const auto queries = static_cast<std::int64_t>(at.size());
  std::vector<std::vector<float>> in(4);
  for (std::size_t i = 0; i < 4; ++i) {
    in[i].resize(static_cast<std::size_t>((i == 0 || i == 3 ? queries : c.length) * c.width));
    for (float& x : in[i]) x = static_cast<float>(1.5 * rng.normal());
  }
  AttentionShape shape;
  shape.queries = queries;
  shape.keys = c.length;
  shape.head_width = c.width;
  shape.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(c.width)));
  shape.causal = c.causal;
  shape.query_pos = at.data();
  AlignedBuffer<float> scratch(static_cast<std::size_t>(attention_scratch(queries, c.length, c.width)));
  std::vector<float> out(in[0].size()), lse(at.size()), dq(in[0].size()), dk(in[1].size()), dv(in[1].size());
  const ConstMat q(in[0].data(), queries, c.width), k(in[1].data(), c.length, c.width), v(in[2].data(), c.length, c.width);
  AttentionForward forward;
  forward.q = q;
  forward.k = k;
  forward.v = v;
  forward.out = Mat(out.data(), queries, c.width);
  forward.lse = lse.data();
  attention_forward(shape, forward, scratch.data());
  AttentionBackward backward;
  backward.q = q;
  backward.k = k;
  backward.v = v;
  backward.out = forward.out;
  backward.dout = ConstMat(in[3].data(), queries, c.width);
  backward.lse = lse.data();
  backward.dq = Mat(dq.data(), queries, c.width);
  backward.dk = Mat(dk.data(), c.length, c.width);
  backward.dv = Mat(dv.data(), c.length, c.width);
  attention_backward(shape, backward, scratch.data());
  const Double want = plain(c, at, static_cast<double>(shape.scale), in);
  EXPECT_LT(relative(out, want.out), 5e-6);
  EXPECT_LT(relative(dq, want.dq), 1e-5);
  EXPECT_LT(relative(dk, want.dk), 1e-5);
  EXPECT_LT(relative(dv, want.dv), 1e-5);
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return "T" + std::to_string(c.length) + "_D" + std::to_string(c.width) + (c.causal ? "_causal" : "_full") + "_every" +
         std::to_string(c.every);
}

INSTANTIATE_TEST_SUITE_P(Lengths, AttentionTest,
                         testing::Values(Case{1, 4, false, 1}, Case{1, 4, true, 1}, Case{17, 5, false, 1},
                                         Case{95, 16, true, 1}, Case{97, 16, false, 1}, Case{192, 8, true, 1},
                                         Case{193, 20, false, 1}, Case{200, 32, false, 1}, Case{200, 32, true, 1},
                                         Case{200, 32, true, 7}, Case{700, 16, false, 1}, Case{700, 16, true, 1},
                                         Case{700, 16, false, 699}, Case{700, 33, true, 350}),
                         case_name);

// dL/dx by differences agrees with backward when dropout is on: only then do both use the same mask.
TEST(AttentionDropoutTest, backward_uses_the_mask_of_forward) {
  const std::int64_t length = 21, width = 4;
  Rng rng(5, "attention");
  std::vector<std::int32_t> at(static_cast<std::size_t>(length));
  std::iota(at.begin(), at.end(), 0);
  std::vector<float> q(static_cast<std::size_t>(length * width)), k(q.size()), v(q.size()), dout(q.size());
  for (auto* m : {&q, &k, &v, &dout}) {
    for (float& x : *m) x = static_cast<float>(rng.normal());
  }
  AttentionShape shape;
  shape.queries = shape.keys = length;
  shape.head_width = width;
  shape.scale = 0.5f;
  shape.query_pos = at.data();
  shape.dropout = 0.4f;
  shape.dropout_seed = 99;
  AlignedBuffer<float> scratch(static_cast<std::size_t>(attention_scratch(length, length, width)));
  std::vector<float> out(q.size()), lse(at.size()), dq(q.size()), dk(q.size()), dv(q.size());
  const auto run = [&] {
    AttentionForward f;
    f.q = ConstMat(q.data(), length, width);
    f.k = ConstMat(k.data(), length, width);
    f.v = ConstMat(v.data(), length, width);
    f.out = Mat(out.data(), length, width);
    f.lse = lse.data();
    attention_forward(shape, f, scratch.data());
    return std::inner_product(out.begin(), out.end(), dout.begin(), 0.0);
  };
  run();
  AttentionBackward b;
  b.q = ConstMat(q.data(), length, width);
  b.k = ConstMat(k.data(), length, width);
  b.v = ConstMat(v.data(), length, width);
  b.out = ConstMat(out.data(), length, width);
  b.dout = ConstMat(dout.data(), length, width);
  b.lse = lse.data();
  b.dq = Mat(dq.data(), length, width);
  b.dk = Mat(dk.data(), length, width);
  b.dv = Mat(dv.data(), length, width);
  attention_backward(shape, b, scratch.data());
  struct Pair {
    std::vector<float>* value;
    const std::vector<float>* gradient;
  };
  for (const Pair& p : {Pair{&q, &dq}, Pair{&k, &dk}, Pair{&v, &dv}}) {
    for (const std::size_t i : {std::size_t{0}, std::size_t{13}, std::size_t{50}, p.value->size() - 1}) {
      const float before = (*p.value)[i];
      const float h = 1e-2f;
      (*p.value)[i] = before + h;
      const double up = run();
      (*p.value)[i] = before - h;
      const double down = run();
      (*p.value)[i] = before;
      EXPECT_NEAR((up - down) / (2.0 * static_cast<double>(h)), (*p.gradient)[i], 2e-3);
    }
  }
}

}  // namespace
}  // namespace locus::kernels
