// Calibration: under the null each permutation test rejects at 5 % in 5 +- 2 % of 1,000 repeats.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "stats/graph.h"
#include "stats/linalg.h"
#include "stats/matrix_correlation.h"
#include "stats/permutation.h"
#include "stats/readout.h"
#include "stats/surrogates.h"
#include "stats/tests.h"
#include "tests/stats/planted.h"

namespace locus::stats {
namespace {

constexpr int kRepeats = 1000;
constexpr int kPermutations = 99;

double rejection_rate(const std::function<double(std::uint64_t seed)>& p_value) {
  int rejected = 0;
  for (std::uint64_t seed = 0; seed < kRepeats; ++seed) rejected += p_value(seed) <= 0.05 ? 1 : 0;
  testing::Test::RecordProperty("rejected_of_1000", rejected);
  return static_cast<double>(rejected) / kRepeats;
}

void expect_calibrated(const std::function<double(std::uint64_t seed)>& p_value) {
  EXPECT_NEAR(rejection_rate(p_value), 0.05, 0.02);
}

std::vector<double> noise(std::size_t n, std::uint64_t seed) {
  return planted_noise(static_cast<std::ptrdiff_t>(n), 1, seed).values();
}

MatrixD symmetric_noise(std::ptrdiff_t n, std::uint64_t seed) {
  return planted_modules(1, static_cast<int>(n), 0, 0, 1, seed).weights;
}

PermutationOptions options(std::uint64_t seed, Alternative alternative = Alternative::kTwoSided) {
  return {.permutations = kPermutations, .seed = seed, .alternative = alternative};
}

TEST(NullTest, sign_flip) {
  expect_calibrated([](std::uint64_t s) { return sign_flip_test(noise(12, s), options(s)).p; });
}

TEST(NullTest, two_samples) {
  expect_calibrated(
      [](std::uint64_t s) { return two_sample_permutation_test(noise(9, s), noise(11, s + 5000), options(s)).p; });
}

TEST(NullTest, any_order_statistic) {
  expect_calibrated([](std::uint64_t s) {
    const std::vector<double> x = noise(10, s), y = noise(10, s + 5000);
    const auto dot = [&](std::span<const std::size_t> order) {
      double sum = 0;
      for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[order[i]];
      return sum;
    };
    return order_permutation_test(10, dot, options(s)).p;
  });
}

TEST(NullTest, mantel) {
  for (const CorrelationKind kind : {CorrelationKind::kPearson, CorrelationKind::kSpearman}) {
    expect_calibrated([&](std::uint64_t s) {
      // Distances share rows, so their entries are dependent: the case the test exists for.
      const MatrixD a = pairwise_distance(planted_noise(9, 2, s).view());
      const MatrixD b = pairwise_distance(planted_noise(9, 2, s + 5000).view());
      return mantel(a.view(), b.view(), kind, options(s)).p;
    });
  }
}

TEST(NullTest, procrustes) {
  expect_calibrated([](std::uint64_t s) {
    const MatrixD a = planted_noise(8, 2, s), b = planted_noise(8, 2, s + 5000);
    return procrustes_test(a.view(), b.view(), {.centre = true}, options(s)).p;
  });
}

TEST(NullTest, ridge_readout) {
  expect_calibrated([](std::uint64_t s) {
    const MatrixD x = planted_noise(12, 4, s), y = planted_noise(12, 2, s + 5000);
    return ridge_readout(x.view(), y.view(), {.folds = s % 2 == 0 ? 0 : 4, .seed = s, .permutations = kPermutations}).test.p;
  });
}

TEST(NullTest, neighbour_readouts) {
  expect_calibrated([](std::uint64_t s) {
    const MatrixD x = planted_noise(12, 4, s), y = planted_noise(12, 2, s + 5000);
    return neighbour_coordinates(x.view(), y.view(), {.k = 2, .seed = s, .permutations = kPermutations}).test.p;
  });
  // Accuracy takes few values, so ties make the test conservative: it may reject less, never more.
  EXPECT_LE(rejection_rate([](std::uint64_t s) {
              const MatrixD x = planted_noise(16, 4, s);
              std::vector<int> labels;
              for (double v : noise(16, s + 5000)) labels.push_back(v > 0 ? 1 : 0);
              return neighbour_labels(x.view(), labels, {.k = 1, .seed = s, .permutations = kPermutations}).test.p;
            }),
            0.07);
}

TEST(NullTest, shuffled_labels) {
  const std::vector<int> labels{0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2};
  expect_calibrated([&](std::uint64_t s) {
    const MatrixD w = symmetric_noise(12, s);
    const auto difference = [&](std::span<const int> l) { return within_between(w.view(), l).difference(); };
    return label_permutation_test(labels, difference, options(s)).p;
  });
  expect_calibrated([&](std::uint64_t s) {
    const MatrixD w = symmetric_noise(12, s);
    const auto q = [&](std::span<const int> l) { return modularity(w.view(), l, Weights::kSigned); };
    return label_permutation_test(labels, q, options(s, Alternative::kGreater)).p;
  });
}

TEST(NullTest, rank_and_t_tests) {
  expect_calibrated([](std::uint64_t s) { return wilcoxon_signed_rank(noise(14, s)).p; });
  expect_calibrated([](std::uint64_t s) { return mann_whitney_u(noise(9, s), noise(12, s + 5000)).p; });
  expect_calibrated([](std::uint64_t s) { return welch_t(noise(9, s), noise(12, s + 5000)).p; });
}

SurrogateOptions quick_surrogates(std::uint64_t seed) {
  return {.neighbourhoods = {0.05, 0.1, 0.2, 0.5}, .near = 0.25, .lags = 12, .seed = seed};
}

TEST(NullTest, surrogates_of_one_smooth_map_against_another) {
  int naive = 0;
  expect_calibrated([&](std::uint64_t s) {
    const SmoothCode smooth = smooth_code(30, 2, 0.1, s);
    MatrixD map(30, 1);
    std::vector<double> other;
    for (std::ptrdiff_t i = 0; i < 30; ++i) {
      map(i, 0) = smooth.code(i, 0);
      other.push_back(smooth.code(i, 1));
    }
    const auto r = [&](ConstMatD m) { return pearson({m.data, 30}, other).r; };
    naive += pearson(map.values(), other).p <= 0.05;
    const SpatialSurrogates surrogates(smooth.distance.view(), map.view(), quick_surrogates(s));
    return surrogate_test(surrogates, r(map.view()), r, {.permutations = 39}).p;
  });
  EXPECT_GT(naive, 80);  // the plain p-value is fooled by smoothness
}

// Four networks of several patches each; the code is smooth and knows nothing of them.
double patch_test(double length, Field field, std::uint64_t seed) {
  SmoothCode smooth = smooth_code(40, 3, length, seed, field);
  for (std::ptrdiff_t i = 0; i < 40; ++i) {
    const int column = static_cast<int>(6 * smooth.place(i, 0)), row = static_cast<int>(6 * smooth.place(i, 1));
    smooth.labels[static_cast<std::size_t>(i)] = (column + row) % 4;
  }
  return surrogate_network_test(smooth.distance.view(), smooth.code.view(), smooth.labels, {39, quick_surrogates(seed)}).p;
}

TEST(NullTest, surrogates_for_networks_of_several_patches) {
  expect_calibrated([](std::uint64_t s) { return patch_test(0.2, Field::kSmooth, s); });
  expect_calibrated([](std::uint64_t s) { return patch_test(0.1, Field::kRough, s); });
}

TEST(NullTest, surrogates_for_fields_finer_than_the_regions_are_at_most_mildly_liberal) {
  // 40 points lie 0.16 apart: a smooth field of length 0.1 is not resolved, and 6 to 7 % are rejected.
  EXPECT_LE(rejection_rate([](std::uint64_t s) { return patch_test(0.1, Field::kSmooth, s); }), 0.10);
}

}  // namespace
}  // namespace locus::stats
