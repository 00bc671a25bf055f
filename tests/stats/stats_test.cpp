// What no oracle can say: preconditions, determinism, known answers, planted structure.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"
#include "stats/bootstrap.h"
#include "stats/correlation.h"
#include "stats/descriptive.h"
#include "stats/effect_size.h"
#include "stats/linalg.h"
#include "stats/matrix_correlation.h"
#include "stats/permutation.h"
#include "stats/readout.h"
#include "stats/small_samples.h"
#include "stats/tests.h"
#include "tests/stats/planted.h"

namespace locus::stats {
namespace {

TEST(StatsTest, nan_and_unlike_lengths_are_data_errors) {
  const std::vector<double> x{1, 2, std::nan(""), 4}, y{1, 2, 3, 5}, shorter{1, 2, 3};
  EXPECT_THROW(mean(x), DataError);
  EXPECT_THROW(spearman(x, y), DataError);
  EXPECT_THROW(kendall(y, x), DataError);
  EXPECT_THROW(wilcoxon_signed_rank(x), DataError);
  EXPECT_THROW(mann_whitney_u(x, y), DataError);
  EXPECT_THROW(sign_flip_test(x), DataError);
  EXPECT_THROW(pearson(y, shorter), DataError);
  EXPECT_THROW(paired_t(y, shorter), DataError);
  EXPECT_THROW(mean({}), DataError);
  EXPECT_THROW(holm(std::vector<double>{0.1, 1.5}), DataError);
  EXPECT_THROW(mean_interval(y, 1.5), ConfigError);
}

TEST(StatsTest, degenerate_inputs_have_defined_answers) {
  const std::vector<double> flat{2, 2, 2}, x{1, 2, 4};
  EXPECT_TRUE(std::isnan(pearson(flat, x).r));
  EXPECT_TRUE(std::isnan(spearman(x, flat).p));
  EXPECT_TRUE(std::isinf(one_sample_t(flat).statistic));
  EXPECT_EQ(one_sample_t(flat).p, 0);
  EXPECT_EQ(wilcoxon_signed_rank(std::vector<double>{0, 0, 0}).p, 1);
  EXPECT_EQ(spearman(x, x).r, 1);
  EXPECT_EQ(fisher_interval(spearman(x, x)).lo, -1);  // three points say nothing
}

// Enumerated by hand over all signs, and over all choices, of small numbers with ties.
TEST(StatsTest, few_values_are_tested_by_all_arrangements) {
  const std::vector<double> x{3, 5, 5, 9}, y{1, 4, 4, 8}, high{7, 7, 8}, low{1, 2, 2};
  const LocationTest pairs = paired_location_test(x, y);  // differences 2 1 1 1: only all plus or all minus are as far
  EXPECT_TRUE(pairs.exact);
  EXPECT_DOUBLE_EQ(pairs.p, 2.0 / 16);
  EXPECT_DOUBLE_EQ(pairs.p_rank, 2.0 / 16);
  const LocationTest groups = two_sample_location_test(high, low);
  EXPECT_TRUE(groups.exact);
  EXPECT_DOUBLE_EQ(groups.p, 2.0 / 20);
  EXPECT_DOUBLE_EQ(groups.p_rank, 2.0 / 20);
  // A zero difference has no sign: 2 of 8 arrangements of the other three, where a normal approximation gives less.
  EXPECT_DOUBLE_EQ(paired_location_test(std::vector<double>{1, 1, 1, 0}, std::vector<double>(4, 0.0)).p_rank, 0.25);
}

TEST(StatsTest, effect_sizes_without_spread_are_finite_or_nan_never_an_exception) {
  for (const double noise : {1e-3, 1e-8, 1e-12, 1e-15, 0.0}) {
    std::vector<double> d{0.3, 0.3, 0.3 + noise, 0.3, 0.3 - noise};
    const EffectSize e = cohen_dz(d);
    if (!std::isfinite(e.value)) continue;
    EXPECT_LT(e.interval.lo, e.value) << noise;
    EXPECT_GT(e.interval.hi, e.value) << noise;
  }
  // The two ways of computing meet at the bound between them.
  const Interval below = noncentrality_interval(9999, 4, 0.95), above = noncentrality_interval(10001, 4, 0.95);
  EXPECT_NEAR(above.lo / below.lo, 10001.0 / 9999, 1e-6);
  EXPECT_NEAR(above.hi / below.hi, 10001.0 / 9999, 1e-6);
}

TEST(StatsTest, kendall_merge_sort_agrees_with_counting_pairs) {
  Rng rng(3, "kendall");
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<double> x(90), y(90);
    for (double& v : x) v = rng.below(8);
    for (double& v : y) v = rng.below(11);
    double excess = 0, x_free = 0, y_free = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double a = x[i] - x[j], b = y[i] - y[j];
        excess += a * b > 0 ? 1 : a * b < 0 ? -1 : 0;
        x_free += a != 0;
        y_free += b != 0;
      }
    }
    EXPECT_NEAR(kendall(x, y).r, excess / std::sqrt(x_free * y_free), 1e-12);
  }
}

TEST(PermutationTest, few_values_are_enumerated_and_p_has_its_smallest_value) {
  const std::vector<double> d{1, 2, 3, 4, 5};
  const PermutationResult r = sign_flip_test(d, {.permutations = 100, .alternative = Alternative::kGreater});
  EXPECT_TRUE(r.exact);
  EXPECT_EQ(r.permutations, 31);
  EXPECT_DOUBLE_EQ(r.p, 1.0 / 32);
  EXPECT_FALSE(sign_flip_test(d, {.permutations = 30}).exact);
  const PermutationResult two = two_sample_permutation_test(d, std::vector<double>{-1, -2, -3}, {.permutations = 55});
  EXPECT_TRUE(two.exact);
  EXPECT_DOUBLE_EQ(two.p, 1.0 / 56);
  const std::vector<double> null{1, 2, 3};
  EXPECT_DOUBLE_EQ(permutation_result(2.5, null, Alternative::kGreater).p, 2.0 / 4);
}

TEST(PermutationTest, drawn_p_is_near_the_exact_one_and_repeats_with_the_seed) {
  Rng rng(5, "x");
  std::vector<double> d(14);
  for (double& v : d) v = rng.normal() + 0.4;
  const double exact = sign_flip_test(d, {.permutations = 20000}).p;
  const PermutationResult a = sign_flip_test(d, {.permutations = 9999, .seed = 1});
  EXPECT_FALSE(a.exact);
  EXPECT_NEAR(a.p, exact, 0.02);
  EXPECT_EQ(a.p, sign_flip_test(d, {.permutations = 9999, .seed = 1}).p);
  EXPECT_NE(a.null_mean, sign_flip_test(d, {.permutations = 9999, .seed = 2}).null_mean);
}

TEST(MantelTest, finds_a_shared_arrangement_and_matches_the_matrix_correlation) {
  const MatrixD grid = planted_grid(4), distance = pairwise_distance(grid.view());
  MatrixD noisy = distance;
  Rng rng(1, "noise");
  for (std::ptrdiff_t i = 0; i < 16; ++i) {
    for (std::ptrdiff_t j = 0; j < i; ++j) noisy(i, j) = noisy(j, i) = distance(i, j) + 0.5 * rng.normal();
  }
  for (const CorrelationKind kind : {CorrelationKind::kPearson, CorrelationKind::kSpearman}) {
    const PermutationResult r = mantel(distance.view(), noisy.view(), kind, {.permutations = 499});
    EXPECT_NEAR(r.observed, matrix_correlation(distance.view(), noisy.view(), kind).r, 1e-12);
    EXPECT_DOUBLE_EQ(r.p, 1.0 / 500);
  }
  noisy(0, 1) += 1;  // no longer symmetric: all off-diagonal entries count
  EXPECT_NEAR(mantel(distance.view(), noisy.view(), CorrelationKind::kPearson, {.permutations = 9}).observed,
              pearson(off_diagonal(distance.view()), off_diagonal(noisy.view())).r, 1e-12);
}

TEST(BootstrapTest, intervals_cover_the_true_mean_about_as_often_as_they_say) {
  Rng rng(2, "cover");
  int percentile = 0, bca = 0;
  for (int repeat = 0; repeat < 300; ++repeat) {
    std::vector<double> x(30);
    for (double& v : x) v = -std::log(1 - rng.uniform());  // exponential, mean 1
    BootstrapOptions options{.resamples = 299, .confidence = 0.9, .seed = static_cast<std::uint64_t>(repeat)};
    const Interval b = bootstrap(x, mean, options).interval;
    options.kind = BootstrapKind::kPercentile;
    const Interval p = bootstrap(x, mean, options).interval;
    bca += b.lo <= 1 && 1 <= b.hi;
    percentile += p.lo <= 1 && 1 <= p.hi;
  }
  EXPECT_NEAR(bca / 300.0, 0.9, 0.05);
  EXPECT_NEAR(percentile / 300.0, 0.9, 0.06);
}

TEST(BootstrapTest, clusters_widen_the_interval_of_dependent_rows) {
  Rng rng(4, "clusters");
  std::vector<double> x;
  std::vector<int> cluster;
  for (int c = 0; c < 36; ++c) {
    const double level = rng.normal();
    for (int i = 0; i < 20; ++i) {
      x.push_back(level + 0.1 * rng.normal());
      cluster.push_back(c);
    }
  }
  const auto of_rows = [&](std::span<const std::size_t> rows) {
    double sum = 0;
    for (std::size_t r : rows) sum += x[r];
    return sum / static_cast<double>(rows.size());
  };
  const BootstrapResult plain = bootstrap(x, mean), clustered = bootstrap_clusters(cluster, of_rows);
  EXPECT_NEAR(plain.estimate, clustered.estimate, 1e-12);
  EXPECT_NEAR(clustered.standard_error, 1.0 / 6, 0.05);
  EXPECT_LT(plain.standard_error * 3, clustered.standard_error);
  EXPECT_EQ(clustered.distribution, bootstrap_clusters(cluster, of_rows).distribution);
}

TEST(BootstrapTest, resamples_without_an_answer_are_counted) {
  const std::vector<double> x{1, 2, 3, 5}, y{2, 1, 4, 6};
  const BootstrapResult r = bootstrap_rows(4, [&](std::span<const std::size_t> rows) {
    std::vector<double> a, b;
    for (std::size_t i : rows) a.push_back(x[i]), b.push_back(y[i]);
    return pearson(a, b).r;
  });
  EXPECT_GT(r.undefined, 0);  // 4 of 256 resamples repeat one row
  EXPECT_LT(r.undefined, 100);
  EXPECT_THROW(bootstrap_rows(4, [](std::span<const std::size_t>) { return std::nan(""); }), DataError);
}

TEST(EffectSizeTest, intervals_of_few_seeds_cover_the_true_effect) {
  Rng rng(6, "effect");
  int covered_d = 0, covered_z = 0, covered_cliff = 0;
  constexpr int kRepeats = 2000;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    std::vector<double> x(6), y(6);
    for (double& v : x) v = rng.normal() + 1;
    for (double& v : y) v = rng.normal();
    const Interval d = cohen_d(x, y).interval, z = cohen_dz(x).interval, c = cliffs_delta(x, y).interval;
    covered_d += d.lo <= 1 && 1 <= d.hi;
    covered_z += z.lo <= 1 && 1 <= z.hi;
    const double truth = std::erf(0.5);  // P(x > y) - P(x < y) for a shift of one sd
    covered_cliff += c.lo <= truth && truth <= c.hi;
  }
  EXPECT_NEAR(covered_d / double{kRepeats}, 0.95, 0.02);
  EXPECT_NEAR(covered_z / double{kRepeats}, 0.95, 0.02);
  EXPECT_NEAR(covered_cliff / double{kRepeats}, 0.95, 0.05);
}

TEST(LinalgTest, svd_of_a_large_matrix_rebuilds_it) {
  const MatrixD a = planted_noise(70, 40, 9);
  const Svd svd = thin_svd(a.view());
  double worst = 0;
  for (std::ptrdiff_t i = 0; i < 70; ++i) {
    for (std::ptrdiff_t j = 0; j < 40; ++j) {
      double sum = 0;
      for (std::ptrdiff_t k = 0; k < 40; ++k) sum += svd.u(i, k) * svd.s[static_cast<std::size_t>(k)] * svd.v(j, k);
      worst = std::max(worst, std::abs(sum - a(i, j)));
    }
  }
  EXPECT_LT(worst, 1e-12);
}

TEST(LinalgTest, mds_and_procrustes_recover_a_planted_grid) {
  const MatrixD grid = planted_grid(5), distance = pairwise_distance(grid.view());
  const Mds map = classical_mds(distance.view(), 2);
  EXPECT_NEAR(map.eigenvalues[2], 0, 1e-10);
  const ProcrustesOptions centred{.centre = true};
  const Procrustes fit = procrustes(grid.view(), map.coordinates.view(), centred);
  EXPECT_NEAR(fit.distance, 0, 1e-10);
  EXPECT_NEAR(fit.aligned(7, 1), grid(7, 1), 1e-10);
  const PermutationResult test = procrustes_test(grid.view(), map.coordinates.view(), centred, {.permutations = 199});
  EXPECT_DOUBLE_EQ(test.p, 1.0 / 200);
  EXPECT_NEAR(test.observed, fit.matched_distance, 1e-6);
}

TEST(LinalgTest, procrustes_test_of_wide_codes_equals_the_direct_distance) {
  const MatrixD a = planted_noise(9, 30, 1), b = planted_noise(9, 30, 2);
  const ProcrustesOptions plain;
  EXPECT_NEAR(procrustes_test(a.view(), b.view(), plain, {.permutations = 5}).observed,
              procrustes(a.view(), b.view()).matched_distance, 1e-10);
}

// a = u diag(s) v^T with orthonormal columns, s descending and not negative, and the same s without vectors.
void expect_svd(const MatrixD& a, double scale) {
  const Svd svd = thin_svd(a.view());
  const auto k = static_cast<std::ptrdiff_t>(svd.s.size());
  ASSERT_EQ(k, std::min(a.rows(), a.cols()));
  const auto product = [k](const MatrixD& x, const MatrixD& y, std::ptrdiff_t i, std::ptrdiff_t j, const auto& weight) {
    double sum = 0;
    for (std::ptrdiff_t c = 0; c < k; ++c) sum += x(i, c) * weight(c) * y(j, c);
    return sum;
  };
  for (std::ptrdiff_t i = 0; i < a.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < a.cols(); ++j) {
      const double got =
          product(svd.u, svd.v, i, j, [&](std::ptrdiff_t c) { return svd.s[static_cast<std::size_t>(c)] / scale; });
      EXPECT_NEAR(got, a(i, j) / scale, 1e-12);
    }
  }
  for (const MatrixD* side : {&svd.u, &svd.v}) {
    for (std::ptrdiff_t c = 0; c < k * k; ++c) {
      double sum = 0;
      for (std::ptrdiff_t i = 0; i < side->rows(); ++i) sum += (*side)(i, c / k) * (*side)(i, c % k);
      EXPECT_NEAR(sum, c / k == c % k ? 1 : 0, 1e-13);
    }
  }
  EXPECT_TRUE(std::is_sorted(svd.s.rbegin(), svd.s.rend()));
  EXPECT_GE(svd.s.back(), 0);
  const std::vector<double> alone = singular_values(a.view());
  for (std::size_t c = 0; c < alone.size(); ++c) EXPECT_NEAR(alone[c] / scale, svd.s[c] / scale, 1e-12);
}

TEST(LinalgTest, singular_vectors_are_orthonormal_and_give_the_matrix_back_whatever_its_shape_rank_and_scale) {
  for (const double scale : {1.0, 1e-200, 1e150}) {
    for (const auto& [rows, cols, rank] : {std::array{1, 1, 1},
                                           {1, 7, 1},
                                           {7, 1, 1},
                                           {5, 5, 0},
                                           {9, 4, 4},
                                           {4, 9, 2},
                                           {40, 40, 40},
                                           {40, 17, 3},
                                           {17, 40, 16}}) {
      const MatrixD left = planted_noise(rows, rank, 1), right = planted_noise(cols, rank, 2);
      MatrixD a(rows, cols);
      for (std::ptrdiff_t i = 0; i < rows; ++i) {
        for (std::ptrdiff_t j = 0; j < cols; ++j) {
          for (std::ptrdiff_t r = 0; r < rank; ++r) a(i, j) += scale * left(i, r) * right(j, r);
        }
      }
      SCOPED_TRACE(testing::Message() << rows << " x " << cols << " of rank " << rank << ", scale " << scale);
      expect_svd(a, scale);
    }
  }
}

TEST(LinalgTest, effective_dimension_counts_equal_directions) {
  MatrixD x(8, 20);
  for (std::ptrdiff_t i = 0; i < 8; ++i) x(i, i / 2) = i % 2 == 0 ? 1 : -1;
  EXPECT_NEAR(effective_dimension(x.view()), 4, 1e-12);
  EXPECT_NEAR(participation_ratio(std::vector<double>{1, 1, 1, 0}), 3, 1e-12);
  EXPECT_TRUE(std::isnan(participation_ratio(std::vector<double>{0, 0})));
}

// Weights of the columns of x and the intercept, which is not penalised, for one column of y: the normal equations by
// elimination.
std::vector<double> ridge_fit(const MatrixD& x, const MatrixD& y, std::ptrdiff_t target, double penalty) {
  const std::ptrdiff_t p = x.cols() + 1;
  const auto design = [&](std::ptrdiff_t i, std::ptrdiff_t j) { return j + 1 < p ? x(i, j) : 1.0; };
  MatrixD system(p, p + 1);
  for (std::ptrdiff_t i = 0; i < x.rows(); ++i) {
    for (std::ptrdiff_t a = 0; a < p; ++a) {
      for (std::ptrdiff_t b = 0; b < p; ++b) system(a, b) += design(i, a) * design(i, b);
      system(a, p) += design(i, a) * y(i, target);
    }
  }
  for (std::ptrdiff_t a = 0; a + 1 < p; ++a) system(a, a) += penalty;
  for (std::ptrdiff_t k = 0; k < p; ++k) {
    for (std::ptrdiff_t a = 0; a < p; ++a) {
      if (a == k) continue;
      const double factor = system(a, k) / system(k, k);
      for (std::ptrdiff_t b = k; b <= p; ++b) system(a, b) -= factor * system(k, b);
    }
  }
  std::vector<double> out;
  for (std::ptrdiff_t k = 0; k < p; ++k) out.push_back(system(k, p) / system(k, k));
  return out;
}

TEST(ReadoutTest, folds_equal_refitting_without_each_fold) {
  const MatrixD x = planted_noise(17, 5, 3), y = planted_noise(17, 2, 4);
  const RidgeReadout got = ridge_readout(x.view(), y.view(), {.lambda = 0.2, .folds = 4, .seed = 11});
  std::vector<std::ptrdiff_t> order(17);
  std::iota(order.begin(), order.end(), 0);
  Rng(11, "stats/folds").shuffle(std::span<std::ptrdiff_t>(order));
  const MatrixD c = centre_rows(x.view());
  double scatter = 0;
  for (double v : c.values()) scatter += v * v;
  for (std::size_t fold = 0; fold < 4; ++fold) {
    std::vector<std::ptrdiff_t> train, test;
    for (std::size_t i = 0; i < 17; ++i) (i % 4 == fold ? test : train).push_back(order[i]);
    MatrixD tx(static_cast<std::ptrdiff_t>(train.size()), 5), ty(static_cast<std::ptrdiff_t>(train.size()), 2);
    for (std::ptrdiff_t i = 0; i < tx.rows(); ++i) {
      for (std::ptrdiff_t j = 0; j < 5; ++j) tx(i, j) = x(train[static_cast<std::size_t>(i)], j);
      for (std::ptrdiff_t j = 0; j < 2; ++j) ty(i, j) = y(train[static_cast<std::size_t>(i)], j);
    }
    const std::vector<double> fit = ridge_fit(tx, ty, 1, 0.2 * scatter / 5);
    for (std::ptrdiff_t i : test) {
      double sum = fit[5];
      for (std::ptrdiff_t j = 0; j < 5; ++j) sum += x(i, j) * fit[static_cast<std::size_t>(j)];
      EXPECT_NEAR(got.prediction(i, 1), sum, 1e-10);
    }
  }
}

TEST(ReadoutTest, planted_grid_is_read_out_and_noise_is_not) {
  const MatrixD grid = planted_grid(6), code = planted_code(grid, 20, 0.05, 1);
  const RidgeReadout linear = ridge_readout(code.view(), grid.view(), {.permutations = 199});
  EXPECT_GT(linear.r2, 0.95);
  EXPECT_DOUBLE_EQ(linear.test.p, 1.0 / 200);
  EXPECT_LT(linear.test.null_mean, 0.1);
  const NeighbourCoordinates near = neighbour_coordinates(code.view(), grid.view(), {.k = 3, .permutations = 199});
  EXPECT_GT(near.r2, 0.5);
  EXPECT_DOUBLE_EQ(near.test.p, 1.0 / 200);
  const MatrixD noise = planted_noise(36, 20, 8);
  EXPECT_LT(ridge_readout(noise.view(), grid.view()).r2, 0.2);
  std::vector<int> half(36);
  for (std::size_t i = 0; i < 36; ++i) half[i] = i < 18 ? 0 : 1;
  const NeighbourLabels labels = neighbour_labels(code.view(), half, {.k = 3, .permutations = 199});
  EXPECT_GT(labels.accuracy, 0.85);
  EXPECT_LT(labels.test.p, 0.01);
}

TEST(ReadoutTest, impossible_requests_say_so) {
  const MatrixD x = planted_noise(6, 2, 1), flat(6, 2);
  EXPECT_THROW(ridge_readout(flat.view(), x.view()), DataError);
  EXPECT_THROW(ridge_readout(x.view(), flat.view()), DataError);
  EXPECT_THROW(ridge_readout(x.view(), x.view(), {.folds = 7}), ConfigError);
  EXPECT_THROW(neighbour_coordinates(x.view(), x.view(), {.k = 6}), ConfigError);
}

}  // namespace
}  // namespace locus::stats
