// Calibration: under the null each permutation test rejects at 5 % in 5 +- 2 % of 1,000 repeats.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "stats/graph.h"
#include "stats/linalg.h"
#include "stats/matrix_correlation.h"
#include "stats/permutation.h"
#include "stats/readout.h"
#include "stats/space_null.h"
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

// Four networks of several patches each; the code is smooth and knows nothing of them.
double patch_test(double length, std::ptrdiff_t columns, Field field, std::uint64_t seed) {
  SmoothCode smooth = smooth_code(40, columns, length, seed, field);
  for (std::ptrdiff_t i = 0; i < 40; ++i) {
    const int column = static_cast<int>(6 * smooth.place(i, 0)), row = static_cast<int>(6 * smooth.place(i, 1));
    smooth.labels[static_cast<std::size_t>(i)] = (column + row) % 4;
  }
  return space_network_test(SpaceBasis(smooth.place.view()), smooth.code.view(), smooth.labels, {.count = 39, .seed = seed})
      .p;
}

TEST(NullTest, networks_of_several_patches_against_codes_that_know_space_alone) {
  EXPECT_LE(rejection_rate([](std::uint64_t s) { return patch_test(0.3, 8, Field::kSmooth, s); }), 0.069);
  EXPECT_LE(rejection_rate([](std::uint64_t s) { return patch_test(0.1, 8, Field::kRough, s); }), 0.069);
}

TEST(NullTest, with_few_columns_the_fit_of_space_is_coarse_and_the_test_at_most_mildly_liberal) {
  EXPECT_LE(rejection_rate([](std::uint64_t s) { return patch_test(0.2, 3, Field::kSmooth, s); }), 0.10);
}

}  // namespace
}  // namespace locus::stats
