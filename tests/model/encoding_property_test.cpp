// What each encoding promises, seen on the encoding itself or on a whole model. One suite an encoding, named
// <Kind>PropertyTest: completeness_test.cpp looks for them.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "core/error.h"
#include "model/pe/laplacian.h"
#include "model/pe/t5.h"
#include "tests/model/random_engine.h"

namespace locus {
namespace {

using reference::Spec;
using testing_support::RandomEngine;

MatrixD line(std::int64_t tokens, double start = 0, double step = 1) {
  MatrixD m(tokens, 1);
  for (std::int64_t t = 0; t < tokens; ++t) m(t, 0) = start + step * static_cast<double>(t);
  return m;
}

PeContext context(std::int64_t tokens, std::int64_t width, std::int64_t heads, MatrixD coordinates) {
  PeContext c;
  c.tokens = tokens;
  c.width = width;
  c.heads = heads;
  c.coordinates = std::move(coordinates);
  return c;
}

struct Bound {
  std::unique_ptr<Encoding> encoding;
  std::vector<std::vector<float>> values;
  std::vector<const float*> params;
};

Bound make(const PeConfig& config, const PeContext& where) {
  Bound b{make_encoding(config, where), {}, {}};
  for (const PeTensor& t : b.encoding->tensors()) {
    b.values.emplace_back(std::accumulate(t.shape.begin(), t.shape.end(), std::size_t{1},
                                          [](std::size_t n, std::int64_t d) { return n * static_cast<std::size_t>(d); }));
  }
  std::vector<float*> places;
  for (auto& v : b.values) places.push_back(v.data());
  Rng rng(3, "pe");
  b.encoding->initialize(rng, places);
  for (const auto& v : b.values) b.params.push_back(v.data());
  return b;
}

// What an encoding adds to the scores of head `head`, for a query vector that is the same at every token.
MatrixD score_bias(const Bound& b, std::int64_t tokens, std::int64_t head, std::int64_t head_width) {
  const auto terms = b.encoding->terms(b.params, {});
  std::vector<std::int32_t> at(static_cast<std::size_t>(tokens));
  std::iota(at.begin(), at.end(), 0);
  std::vector<float> q(static_cast<std::size_t>(tokens * head_width));
  for (std::size_t i = 0; i < q.size(); ++i)
    q[i] = 0.3f + 0.1f * static_cast<float>(i % static_cast<std::size_t>(head_width));
  std::vector<float> scores(static_cast<std::size_t>(tokens * tokens));
  terms->score_bias({at.data(), tokens, 0, tokens, head}, ConstMat(q.data(), tokens, head_width),
                    Mat(scores.data(), tokens, tokens));
  MatrixD out(tokens, tokens);
  std::copy(scores.begin(), scores.end(), out.values().begin());
  return out;
}

MatrixD table_of(const Bound& b, std::int64_t tokens, std::int64_t width, const PeStep& step = {}) {
  std::vector<float> out(static_cast<std::size_t>(tokens * width));
  b.encoding->table(b.params, step, Mat(out.data(), tokens, width));
  MatrixD m(tokens, width);
  std::copy(out.begin(), out.end(), m.values().begin());
  return m;
}

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Outputs of a random model at every token, and of the same model with tokens in another order.
struct Orders {
  std::vector<float> before, after;  // (T, O)
};
Orders outputs_in_two_orders(reference::PeKind kind, const std::vector<int>& order) {
  Spec s;
  s.tokens = static_cast<int>(order.size());
  s.features = 4;
  s.outputs = 3;
  s.width = 16;
  s.layers = 3;
  s.heads = 2;
  s.mlp_width = 32;
  s.pe = kind;
  s.buckets = 8;
  s.readout = reference::Readout::kEvery;
  s.task = reference::Task::kRegression;
  RandomEngine engine(s, 5, 1);
  Orders out;
  out.before = engine.run(nullptr).outputs;
  const std::vector<double> features = engine.batch.features;
  for (std::size_t t = 0; t < order.size(); ++t)
    std::copy_n(features.begin() + order[t] * s.features, s.features,
                engine.batch.features.begin() + static_cast<int>(t) * s.features);
  out.after = engine.run(nullptr).outputs;
  return out;
}

double permutation_error(reference::PeKind kind) {
  const std::vector<int> order = {3, 0, 6, 2, 5, 1, 4};
  const Orders o = outputs_in_two_orders(kind, order);
  double worst = 0;
  for (std::size_t t = 0; t < order.size(); ++t) {
    for (std::size_t c = 0; c < 3; ++c)
      worst = std::max<double>(worst, std::abs(o.after[t * 3 + c] - o.before[static_cast<std::size_t>(order[t]) * 3 + c]));
  }
  return worst;
}

TEST(NonePropertyTest, outputs_follow_a_permutation_of_the_tokens) {
  EXPECT_LT(permutation_error(reference::PeKind::kNone), 1e-5);
  for (const EncodingRow& row : encoding_rows()) {
    if (row.kind == PeKind::kNone) continue;
    EXPECT_GT(permutation_error(row.kind), 1e-3) << row.name() << " must see positions";
  }
}

TEST(LearnedPropertyTest, initial_values_have_the_standard_deviation_asked_for) {
  for (const PeInit init : {PeInit::kNormal, PeInit::kUniform}) {
    for (const double sigma : {0.01, 0.2, 2.0}) {
      PeConfig c;
      c.kind = PeKind::kLearned;
      c.init = init;
      c.sigma = sigma;
      const Bound b = make(c, context(100, 160, 1, line(100)));
      double sum = 0, squares = 0, largest = 0;
      for (const float v : b.values[0]) {
        sum += v;
        squares += static_cast<double>(v) * v;
        largest = std::max(largest, std::abs(static_cast<double>(v)));
      }
      const double n = 16000;
      EXPECT_NEAR(sum / n, 0, 4 * sigma / std::sqrt(n));
      EXPECT_NEAR(std::sqrt(squares / n) / sigma, 1, 0.03);
      EXPECT_EQ(largest <= sigma * std::sqrt(3.0) + 1e-9, init == PeInit::kUniform);
    }
  }
}

TEST(LearnedPropertyTest, frozen_zero_sinusoid_and_given_starts_are_what_they_say) {
  PeConfig c;
  c.kind = PeKind::kLearned;
  c.trainable = Trainable::kNo;
  EXPECT_FALSE(make(c, context(5, 8, 1, line(5))).encoding->tensors()[0].trained);
  c.trainable = Trainable::kAuto;
  EXPECT_TRUE(make(c, context(5, 8, 1, line(5))).encoding->tensors()[0].trained);
  c.init = PeInit::kZero;
  EXPECT_EQ(make(c, context(5, 8, 1, line(5))).values[0], std::vector<float>(40, 0.0f));
  c.init = PeInit::kSinusoid;
  EXPECT_EQ(make(c, context(5, 8, 1, line(5))).values[0], sinusoid_table(c, context(5, 8, 1, line(5))));
  c.init = PeInit::kFile;
  PeContext given = context(5, 8, 1, line(5));
  for (int i = 0; i < 40; ++i) given.given.push_back(static_cast<float>(i));
  EXPECT_EQ(make(c, given).values[0], given.given);
  given.given.pop_back();
  EXPECT_THROW(make(c, given), DataError);
}

TEST(SinusoidalPropertyTest, similarity_depends_on_the_distance_only_and_falls_nearby) {
  PeConfig c;
  c.kind = PeKind::kSinusoidal;
  const std::int64_t tokens = 40, width = 64;
  const MatrixD t = table_of(make(c, context(tokens, width, 1, line(tokens))), tokens, width);
  for (std::int64_t d = 0; d < 12; ++d) {
    const double want = dot(t.row(0), t.row(d));
    for (std::int64_t i = 0; i + d < tokens; ++i) ASSERT_NEAR(dot(t.row(i), t.row(i + d)), want, 1e-4) << d;
  }
  for (std::int64_t i = 0; i < tokens; ++i) EXPECT_NEAR(dot(t.row(i), t.row(i)), width / 2.0, 1e-4);
  EXPECT_GT(dot(t.row(0), t.row(1)), dot(t.row(0), t.row(2)));
  EXPECT_GT(dot(t.row(0), t.row(2)), dot(t.row(0), t.row(3)));
}

TEST(SinusoidalPropertyTest, axes_have_channels_of_their_own_and_narrow_models_are_refused) {
  PeConfig c;
  c.kind = PeKind::kSinusoidal;
  MatrixD grid(6, 3);
  for (std::int64_t t = 0; t < 6; ++t) grid(t, 1) = static_cast<double>(t);
  const MatrixD t = table_of(make(c, context(6, 20, 1, grid)), 6, 20);
  for (std::int64_t ch = 0; ch < 20; ++ch) {
    const bool second_axis = ch >= 6 && ch < 12;
    EXPECT_EQ(t(0, ch) != t(5, ch), second_axis) << ch;
    EXPECT_TRUE(ch < 18 || t(3, ch) == 0.0) << ch;
  }
  EXPECT_THROW(make(c, context(6, 5, 1, grid)), ConfigError);
}

MatrixD ring(std::int64_t n) {
  MatrixD g(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    g(i, (i + 1) % n) += 1;
    g((i + 1) % n, i) += 1;
    g(i, (i + 2) % n) += 0.1 * static_cast<double>(i + 1);
    g((i + 2) % n, i) += 0.1 * static_cast<double>(i + 1);
  }
  return g;
}

TEST(LaplacianPropertyTest, columns_are_eigenvectors_by_rising_eigenvalue) {
  const MatrixD g = ring(9);
  const MatrixD v = laplacian_eigenvectors(g, 5);
  std::vector<double> degree(9), values;
  for (std::int64_t i = 0; i < 9; ++i)
    degree[static_cast<std::size_t>(i)] = std::accumulate(g.row(i).begin(), g.row(i).end(), 0.0);
  for (std::int64_t k = 0; k < 5; ++k) {
    double norm = 0, product = 0, residual = 0;
    std::vector<double> lv(9);
    for (std::int64_t i = 0; i < 9; ++i) {
      lv[static_cast<std::size_t>(i)] = v(i, k);
      for (std::int64_t j = 0; j < 9; ++j)
        lv[static_cast<std::size_t>(i)] -=
            g(i, j) * v(j, k) / std::sqrt(degree[static_cast<std::size_t>(i)] * degree[static_cast<std::size_t>(j)]);
      norm += v(i, k) * v(i, k);
      product += v(i, k) * lv[static_cast<std::size_t>(i)];
    }
    for (std::int64_t i = 0; i < 9; ++i)
      residual = std::max(residual, std::abs(lv[static_cast<std::size_t>(i)] - product / norm * v(i, k)));
    EXPECT_NEAR(norm, 9, 1e-9);
    EXPECT_LT(residual, 1e-9);
    values.push_back(product / norm);
  }
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  EXPECT_GT(values.front(), 1e-6) << "the constant one is left out";
}

TEST(LaplacianPropertyTest, equal_eigenvalues_give_the_same_vectors_whatever_the_rounding) {
  const std::int64_t side = 4, n = side * side;
  Rng rng(3, "rounding");
  MatrixD exact(n, n), rounded(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      const bool joined = i / side == j / side || i % side == j % side;  // a square's symmetries make eigenvalues equal
      exact(i, j) = exact(j, i) = joined ? 1 : 0;
      rounded(i, j) = rounded(j, i) = exact(i, j) * (1 + 1e-14 * rng.normal());
    }
  }
  const MatrixD one = laplacian_eigenvectors(exact, 8), other = laplacian_eigenvectors(rounded, 8);
  for (std::int64_t k = 0; k < 8; ++k) {
    double norm = 0;
    for (std::int64_t t = 0; t < n; ++t) {
      ASSERT_NEAR(one(t, k), other(t, k), 1e-9) << t << " " << k;
      norm += one(t, k) * one(t, k);
    }
    EXPECT_NEAR(norm, n, 1e-9);
    for (std::int64_t other_k = 0; other_k < k; ++other_k) {
      double product = 0;
      for (std::int64_t t = 0; t < n; ++t) product += one(t, k) * one(t, other_k);
      EXPECT_NEAR(product, 0, 1e-9) << k << " " << other_k;
    }
  }
}

TEST(LaplacianPropertyTest, signs_flip_in_training_only_and_evaluation_takes_them_as_they_are) {
  PeConfig c;
  c.kind = PeKind::kLaplacian;
  PeContext where = context(9, 12, 1, line(9));
  where.eigenvectors = laplacian_eigenvectors(ring(9), 4);
  const Bound b = make(c, where);
  const MatrixD plain = table_of(b, 9, 12);
  EXPECT_EQ(plain, table_of(b, 9, 12, {false, 12345})) << "evaluation does not depend on the step";
  std::set<std::vector<double>> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) seen.insert(table_of(b, 9, 12, {true, seed}).values());
  EXPECT_EQ(seen.size(), 16u) << "all signs of four columns occur";
  // Training with flipped signs equals evaluation with flipped eigenvectors: nothing else changes.
  Bound flipped = make(c, where);
  for (std::size_t i = 0; i < flipped.values[0].size(); ++i)
    if (i % 4 == 2) flipped.values[0][i] *= -1;
  EXPECT_TRUE(seen.contains(table_of(flipped, 9, 12).values()));
}

TEST(LaplacianPropertyTest, graphs_without_an_answer_are_refused) {
  EXPECT_THROW(laplacian_eigenvectors(ring(5), 5), ConfigError);
  MatrixD lonely = ring(5);
  for (std::int64_t j = 0; j < 5; ++j) lonely(2, j) = lonely(j, 2) = 0;
  EXPECT_THROW(laplacian_eigenvectors(lonely, 2), DataError);
}

// Score of a query at token i and a key at token j, both the same vectors everywhere.
MatrixD rotary_scores(const PeConfig& c, const PeContext& where) {
  const std::int64_t d = where.head_width(), tokens = where.tokens;
  const auto encoding = make_encoding(c, where);
  std::vector<std::int32_t> at(static_cast<std::size_t>(tokens));
  std::iota(at.begin(), at.end(), 0);
  std::vector<float> q(static_cast<std::size_t>(tokens * d)), k(q.size());
  for (std::size_t i = 0; i < q.size(); ++i) {
    q[i] = std::sin(static_cast<float>(1 + i % static_cast<std::size_t>(d)));
    k[i] = std::cos(static_cast<float>(2 + i % static_cast<std::size_t>(d)));
  }
  encoding->rotate(Mat(q.data(), tokens, d), at.data(), false);
  encoding->rotate(Mat(k.data(), tokens, d), at.data(), false);
  MatrixD s(tokens, tokens);
  for (std::int64_t i = 0; i < tokens; ++i) {
    for (std::int64_t j = 0; j < tokens; ++j) {
      for (std::int64_t x = 0; x < d; ++x)
        s(i, j) += static_cast<double>(q[static_cast<std::size_t>(i * d + x)]) * k[static_cast<std::size_t>(j * d + x)];
    }
  }
  return s;
}

TEST(RotaryPropertyTest, scores_depend_only_on_offset) {
  PeConfig c;
  c.kind = PeKind::kRotary;
  for (const double fraction : {1.0, 0.5}) {
    c.rotary_fraction = fraction;
    const MatrixD s = rotary_scores(c, context(20, 16, 1, line(20)));
    const MatrixD moved = rotary_scores(c, context(20, 16, 1, line(20, 7)));
    for (std::int64_t i = 0; i < 20; ++i) {
      for (std::int64_t j = 0; j < 20; ++j) {
        ASSERT_NEAR(s(i, j), moved(i, j), 1e-4);
        if (i > 0 && j > 0) {
          ASSERT_NEAR(s(i, j), s(i - 1, j - 1), 1e-4);
        }
      }
    }
    EXPECT_GT(std::abs(s(0, 3) - s(0, 5)), 1e-3);
  }
  c.rotary_fraction = 0;
  const MatrixD still = rotary_scores(c, context(20, 16, 1, line(20)));
  EXPECT_EQ(still(0, 0), still(3, 17));
}

TEST(RotaryPropertyTest, axial_scores_depend_only_on_the_offset_along_each_axis) {
  PeConfig c;
  c.kind = PeKind::kRotary;
  MatrixD grid(16, 2);
  for (std::int64_t t = 0; t < 16; ++t) {
    grid(t, 0) = static_cast<double>(t / 4);
    grid(t, 1) = static_cast<double>(t % 4);
  }
  const MatrixD s = rotary_scores(c, context(16, 16, 1, grid));
  EXPECT_NEAR(s(0, 5), s(5, 10), 1e-4);
  EXPECT_NEAR(s(1, 4), s(6, 9), 1e-4);
  EXPECT_GT(std::abs(s(0, 1) - s(0, 4)), 1e-3) << "axes differ";
  EXPECT_THROW(make_encoding(c, context(16, 4, 2, grid)), ConfigError) << "too few channels a head";
}

TEST(RotaryPropertyTest, lengths_are_kept_and_the_inverse_undoes_it) {
  PeConfig c;
  c.kind = PeKind::kRotary;
  const auto encoding = make_encoding(c, context(9, 10, 1, line(9)));
  std::vector<std::int32_t> at = {8, 3, 0};
  std::vector<float> x(30), y;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  y = x;
  encoding->rotate(Mat(y.data(), 3, 10), at.data(), false);
  for (int r = 0; r < 3; ++r) {
    double a = 0, b = 0;
    for (int i = 0; i < 10; ++i) {
      a += static_cast<double>(x[static_cast<std::size_t>(r * 10 + i)]) * x[static_cast<std::size_t>(r * 10 + i)];
      b += static_cast<double>(y[static_cast<std::size_t>(r * 10 + i)]) * y[static_cast<std::size_t>(r * 10 + i)];
    }
    EXPECT_NEAR(a, b, 1e-5);
  }
  encoding->rotate(Mat(y.data(), 3, 10), at.data(), true);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-6);
}

TEST(RelativePropertyTest, scores_depend_on_clipped_offsets_only) {
  PeConfig c;
  c.kind = PeKind::kRelative;
  c.max_distance = 3;
  const MatrixD s = score_bias(make(c, context(12, 8, 1, line(12))), 12, 0, 8);
  for (std::int64_t i = 1; i < 12; ++i) {
    for (std::int64_t j = 1; j < 12; ++j) EXPECT_NEAR(s(i, j), s(i - 1, j - 1), 1e-6);
  }
  for (std::int64_t j = 3; j < 12; ++j) EXPECT_EQ(s(0, j), s(0, 3)) << "beyond the clip all offsets are one";
  std::set<double> near;
  for (std::int64_t j = 2; j <= 8; ++j) near.insert(s(5, j));
  EXPECT_EQ(near.size(), 7u) << "-3 .. 3 differ, and sides differ";
  c.max_distance = 0;
  const Bound whole = make(c, context(12, 8, 1, line(12)));
  EXPECT_EQ(whole.encoding->tensors()[0].shape, (std::vector<std::int64_t>{23, 8})) << "0 means the largest offset";
}

TEST(T5PropertyTest, buckets_are_exact_nearby_grow_with_distance_and_tell_sides_apart) {
  const std::int64_t buckets = 32, far = 128;
  for (std::int64_t n = 0; n < 8; ++n) {
    EXPECT_EQ(t5_bucket(-n, buckets, far), n);
    EXPECT_EQ(t5_bucket(n, buckets, far), n > 0 ? 16 + n : 0);
  }
  std::set<std::int64_t> seen;
  for (std::int64_t n = 0; n < 1000; ++n) {
    EXPECT_LE(t5_bucket(-n, buckets, far), t5_bucket(-n - 1, buckets, far));
    for (const std::int64_t offset : {n, -n}) {
      ASSERT_GE(t5_bucket(offset, buckets, far), 0);
      ASSERT_LT(t5_bucket(offset, buckets, far), buckets);
      seen.insert(t5_bucket(offset, buckets, far));
    }
  }
  EXPECT_EQ(seen.size(), 31u) << "all but one: offset 0 has no right side";
  EXPECT_EQ(t5_bucket(-128, buckets, far), 15);
  EXPECT_EQ(t5_bucket(-100000, buckets, far), 15);
}

TEST(T5PropertyTest, the_bias_is_constant_along_diagonals_and_own_for_each_head) {
  PeConfig c;
  c.kind = PeKind::kT5;
  c.buckets = 8;
  const Bound b = make(c, context(10, 8, 2, line(10)));
  const MatrixD one = score_bias(b, 10, 0, 4), two = score_bias(b, 10, 1, 4);
  for (std::int64_t i = 1; i < 10; ++i) {
    for (std::int64_t j = 1; j < 10; ++j) EXPECT_EQ(one(i, j), one(i - 1, j - 1));
  }
  EXPECT_NE(one(0, 1), two(0, 1));
  EXPECT_NE(one(0, 1), one(1, 0));
}

TEST(T5PropertyTest, distances_that_buckets_cannot_split_are_refused) {
  PeConfig c;
  c.kind = PeKind::kT5;
  c.max_distance = 8;
  EXPECT_THROW(make_encoding(c, context(10, 8, 2, line(10))), ConfigError);
  c.max_distance = 9;
  EXPECT_NO_THROW(make_encoding(c, context(10, 8, 2, line(10))));
}

TEST(AlibiPropertyTest, the_bias_falls_with_distance_and_slopes_halve_from_head_to_head) {
  PeConfig c;
  c.kind = PeKind::kAlibi;
  const Bound b = make(c, context(9, 16, 8, line(9)));
  for (std::size_t h = 0; h < 8; ++h) EXPECT_FLOAT_EQ(b.values[0][h], std::pow(2.0f, -static_cast<float>(h + 1)));
  for (std::int64_t h = 0; h < 8; ++h) {
    const MatrixD s = score_bias(b, 9, h, 2);
    for (std::int64_t i = 0; i < 9; ++i) {
      EXPECT_EQ(s(i, i), 0.0);
      for (std::int64_t j = i + 1; j < 9; ++j) {
        EXPECT_LT(s(i, j), s(i, j - 1));
        EXPECT_EQ(s(i, j), s(j, i));
      }
    }
  }
}

TEST(AlibiPropertyTest, in_space_it_uses_euclidean_distance) {
  PeConfig c;
  c.kind = PeKind::kAlibi;
  MatrixD corners(3, 2);
  corners(1, 0) = 3;
  corners(2, 0) = 3;
  corners(2, 1) = 4;
  const MatrixD s = score_bias(make(c, context(3, 4, 1, corners)), 3, 0, 4);
  const double slope = std::pow(2.0, -8.0);
  EXPECT_NEAR(s(0, 1), -3 * slope, 1e-7);
  EXPECT_NEAR(s(0, 2), -5 * slope, 1e-7);
  EXPECT_NEAR(s(1, 2), -4 * slope, 1e-7);
}

}  // namespace
}  // namespace locus
