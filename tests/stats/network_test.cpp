// Modularity, communities and what space alone explains: known graphs and planted structure.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/parallel.h"
#include "stats/community.h"
#include "stats/descriptive.h"
#include "stats/graph.h"
#include "stats/matrix_correlation.h"
#include "stats/space_null.h"
#include "tests/stats/planted.h"

namespace locus::stats {
namespace {

// Zachary's karate club (1977): 34 members, 78 ties, numbered from 1.
constexpr int kTies[78][2] = {
    {1, 2},   {1, 3},   {1, 4},   {1, 5},   {1, 6},   {1, 7},   {1, 8},   {1, 9},   {1, 11},  {1, 12},  {1, 13},  {1, 14},
    {1, 18},  {1, 20},  {1, 22},  {1, 32},  {2, 3},   {2, 4},   {2, 8},   {2, 14},  {2, 18},  {2, 20},  {2, 22},  {2, 31},
    {3, 4},   {3, 8},   {3, 9},   {3, 10},  {3, 14},  {3, 28},  {3, 29},  {3, 33},  {4, 8},   {4, 13},  {4, 14},  {5, 7},
    {5, 11},  {6, 7},   {6, 11},  {6, 17},  {7, 17},  {9, 31},  {9, 33},  {9, 34},  {10, 34}, {14, 34}, {15, 33}, {15, 34},
    {16, 33}, {16, 34}, {19, 33}, {19, 34}, {20, 34}, {21, 33}, {21, 34}, {23, 33}, {23, 34}, {24, 26}, {24, 28}, {24, 30},
    {24, 33}, {24, 34}, {25, 26}, {25, 28}, {25, 32}, {26, 32}, {27, 30}, {27, 34}, {28, 34}, {29, 32}, {29, 34}, {30, 33},
    {30, 34}, {31, 33}, {31, 34}, {32, 33}, {32, 34}, {33, 34}};

MatrixD karate_club() {
  MatrixD w(34, 34);
  for (const auto& [a, b] : kTies) w(a - 1, b - 1) = w(b - 1, a - 1) = 1;
  return w;
}

std::vector<int> labels_from(std::initializer_list<std::initializer_list<int>> groups) {
  std::vector<int> labels(34, 0);
  int name = 1;
  for (const auto& group : groups) {
    for (int member : group) labels[static_cast<std::size_t>(member - 1)] = name;
    ++name;
  }
  return labels;
}

const std::vector<int> kFactions = labels_from({{9, 10, 15, 16, 19, 21, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34}});
const std::vector<int> kOptimum =
    labels_from({{5, 6, 7, 11, 17}, {9, 10, 15, 16, 19, 21, 23, 27, 30, 31, 33, 34}, {24, 25, 26, 28, 29, 32}});

TEST(ModularityTest, karate_club_has_the_published_values) {
  const MatrixD w = karate_club();
  EXPECT_NEAR(modularity(w.view(), kFactions), 0.3715, 5e-5);
  EXPECT_NEAR(modularity(w.view(), kOptimum), 0.4198, 5e-5);
  EXPECT_NEAR(modularity(w.view(), std::vector<int>(34, 1)), 0, 1e-12);
}

TEST(ModularityTest, without_negative_weights_both_forms_agree) {
  const MatrixD w = karate_club();
  EXPECT_NEAR(modularity(w.view(), kFactions, Weights::kSigned), modularity(w.view(), kFactions), 1e-12);
  EXPECT_EQ(modularity(MatrixD(4, 4).view(), std::vector<int>{0, 0, 1, 1}), 0);
}

TEST(ModularityTest, segregation_is_undefined_below_a_within_mean_of_5_percent) {
  const PlantedModules weak = planted_modules(2, 5, 0.04, 0.01, 0), strong = planted_modules(2, 5, 0.4, 0.1, 0);
  EXPECT_FALSE(segregation(weak.weights.view(), weak.labels).has_value());
  EXPECT_NEAR(within_between(weak.weights.view(), weak.labels).difference(), 0.03, 1e-12);
  EXPECT_NEAR(segregation(strong.weights.view(), strong.labels).value_or(0), 0.75, 1e-12);
}

TEST(ModularityTest, asymmetric_or_nan_weights_are_data_errors) {
  MatrixD w = karate_club();
  w(0, 1) = 3;
  EXPECT_THROW(modularity(w.view(), kFactions), DataError);
  w(0, 1) = w(1, 0) = std::nan("");
  EXPECT_THROW(modularity(w.view(), kFactions), DataError);
  EXPECT_THROW(modularity(karate_club().view(), std::vector<int>(3, 0)), DataError);
}

TEST(LouvainTest, finds_the_optimum_of_the_karate_club) {
  const MatrixD w = karate_club();
  const Communities found = louvain(w.view(), {.starts = 50});
  EXPECT_NEAR(found.q, 0.4197896, 1e-6);
  EXPECT_EQ(found.count, 4);
  EXPECT_DOUBLE_EQ(adjusted_rand(found.labels, kOptimum), 1);
  EXPECT_NEAR(found.q, modularity(w.view(), found.labels), 1e-12);
}

TEST(LouvainTest, best_of_all_partitions_of_small_signed_graphs) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    MatrixD w = planted_modules(1, 7, 0, 0, 1, seed).weights;
    double best = -1;
    std::vector<int> labels(7, 0);
    for (int code = 0; code < 823543; ++code) {  // 7^7 labelings; restricted growth strings only
      int rest = code, top = -1;
      bool valid = true;
      for (int& label : labels) {
        label = rest % 7;
        rest /= 7;
        valid = valid && label <= top + 1;
        top = std::max(top, label);
      }
      if (valid) best = std::max(best, modularity(w.view(), labels, Weights::kSigned));
    }
    EXPECT_NEAR(louvain(w.view(), {.starts = 30, .seed = seed}).q, best, 1e-12) << seed;
  }
}

TEST(LouvainTest, consensus_recovers_planted_signed_modules_with_noise) {
  const PlantedModules planted = planted_modules(5, 12, 0.4, -0.1, 0.3);
  const Communities found = consensus_communities(planted.weights.view(), {.starts = 50});
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.count, 5);
  EXPECT_DOUBLE_EQ(adjusted_rand(found.labels, planted.labels), 1);
  EXPECT_DOUBLE_EQ(normalised_mutual_information(found.labels, planted.labels), 1);
  EXPECT_EQ(found.labels, consensus_communities(planted.weights.view(), {.starts = 50}).labels);
}

TEST(LouvainTest, threads_change_nothing) {
  const PlantedModules planted = planted_modules(4, 10, 0.2, 0, 0.3);
  const std::vector<double> gammas{1, 1.5, 2};
  ThreadPool pool(3);
  const Communities alone = persistent_communities(planted.weights.view(), gammas, {.starts = 20});
  const Communities together = persistent_communities(planted.weights.view(), gammas, {.starts = 20, .pool = &pool});
  EXPECT_EQ(alone.labels, together.labels);
  EXPECT_EQ(alone.q, together.q);
  EXPECT_EQ(alone.gamma, together.gamma);
}

TEST(LouvainTest, larger_gamma_finds_more_modules) {
  const MatrixD w = karate_club();
  EXPECT_GT(louvain(w.view(), {.gamma = 3, .starts = 20}).count, louvain(w.view(), {.gamma = 0.3, .starts = 20}).count);
}

// Fortunato and Barthelemy (2007): plain modularity joins neighbouring cliques of a long ring.
TEST(LouvainTest, cliques_merged_by_the_resolution_limit_persist_at_others) {
  constexpr int kCliques = 30, kSize = 5;
  MatrixD w(kCliques * kSize, kCliques * kSize);
  std::vector<int> cliques;
  for (std::ptrdiff_t i = 0; i < w.rows(); ++i) {
    cliques.push_back(static_cast<int>(i / kSize));
    for (std::ptrdiff_t j = 0; j < w.rows(); ++j) {
      const bool linked =
          (i % kSize == kSize - 1 && j == (i + 1) % w.rows()) || (j % kSize == kSize - 1 && i == (j + 1) % w.rows());
      w(i, j) = i != j && (i / kSize == j / kSize || linked) ? 1 : 0;
    }
  }
  const CommunityOptions options{.weights = Weights::kPositive, .starts = 10};
  EXPECT_LT(consensus_communities(w.view(), options).count, kCliques);
  const std::vector<double> gammas{1, 1.5, 2, 2.5, 3};
  const Communities found = persistent_communities(w.view(), gammas, options);
  EXPECT_EQ(found.count, kCliques);
  EXPECT_DOUBLE_EQ(adjusted_rand(found.labels, cliques), 1);
  EXPECT_GT(found.gamma, 1);
}

TEST(PartitionTest, equal_trivial_and_unrelated_labelings) {
  const std::vector<int> a{0, 0, 1, 1, 2, 2}, renamed{5, 5, 3, 3, 9, 9}, one(6, 0), single{0, 1, 2, 3, 4, 5};
  EXPECT_DOUBLE_EQ(adjusted_rand(a, renamed), 1);
  EXPECT_DOUBLE_EQ(adjusted_mutual_information(a, renamed), 1);
  EXPECT_DOUBLE_EQ(normalised_mutual_information(one, one), 1);
  EXPECT_DOUBLE_EQ(adjusted_rand(one, one), 1);
  EXPECT_DOUBLE_EQ(adjusted_mutual_information(single, single), 1);
  EXPECT_NEAR(adjusted_rand(a, one), 0, 1e-12);
}

TEST(LabelTest, shuffling_keeps_module_sizes) {
  const std::vector<int> labels{0, 0, 0, 1, 1, 2};
  const PermutationResult r = label_permutation_test(labels, [](std::span<const int> l) {
    EXPECT_EQ(std::count(l.begin(), l.end(), 0), 3);
    EXPECT_EQ(std::count(l.begin(), l.end(), 1), 2);
    return static_cast<double>(l[0]);
  });
  EXPECT_GT(r.p, 0.05);
}

TEST(LabelTest, sum_within_labels_is_that_of_all_pairs) {
  const PlantedModules planted = planted_modules(3, 5, 0.4, -0.1, 0.3);
  WithinSum sum(planted.weights.view());
  for (const std::vector<int>& labels : {planted.labels, std::vector<int>(15, 2), planted.labels}) {
    double all = 0;
    for (std::ptrdiff_t i = 0; i < 15; ++i) {
      for (std::ptrdiff_t j = 0; j < i; ++j)
        all += labels[static_cast<std::size_t>(i)] == labels[static_cast<std::size_t>(j)] ? planted.weights(i, j) : 0;
    }
    EXPECT_NEAR(sum(labels), all, 1e-12);
  }
}

TEST(SpaceNullTest, functions_of_space_are_fitted_and_nothing_else) {
  const SmoothCode smooth = smooth_code(40, 4, 0.3, 2);
  const SpaceBasis space(smooth.place.view());
  MatrixD relation(40, 40), network(40, 40);
  for (std::ptrdiff_t i = 0; i < 40; ++i) {
    for (std::ptrdiff_t j = 0; j < 40; ++j) {
      relation(i, j) = 3 - 2 * smooth.distance(i, j) + std::abs(smooth.place(i, 0) - smooth.place(j, 0));
      network(i, j) = i % 4 == j % 4 ? 1 : 0;
    }
  }
  const MatrixD fit = space.fitted(relation.view()), other = space.fitted(network.view());
  double left = 0, all = 0;
  for (std::ptrdiff_t i = 0; i < 40; ++i) {
    for (std::ptrdiff_t j = 0; j < 40; ++j) {
      EXPECT_NEAR(fit(i, j), relation(i, j), 1e-8);
      left += (network(i, j) - other(i, j)) * (network(i, j) - other(i, j));
      all += network(i, j) * network(i, j);
    }
  }
  EXPECT_GT(left, 0.5 * all);
}

TEST(SpaceNullTest, a_code_of_the_labels_alone_has_coefficient_1) {
  const SmoothCode smooth = smooth_code(30, 4, 0.3, 2);
  MatrixD code(30, 4);
  std::vector<int> labels;
  for (std::ptrdiff_t i = 0; i < 30; ++i) {
    labels.push_back(static_cast<int>(i % 4));
    code(i, i % 4) = 1 + static_cast<double>(i);  // lengths do not count
  }
  EXPECT_NEAR(space_network_test(SpaceBasis(smooth.place.view()), code.view(), labels, {.count = 19}).observed, 1, 1e-9);
}

TEST(SpaceNullTest, contiguous_networks_on_a_smooth_code_fool_shuffled_labels_but_not_this_test) {
  constexpr int kRepeats = 100;
  int by_labels = 0, by_space = 0;
  for (std::uint64_t repeat = 0; repeat < kRepeats; ++repeat) {
    const SmoothCode smooth = smooth_code(40, 16, 0.3, 100 + repeat);
    const MatrixD similarity = cosine_similarity(smooth.code.view());
    const auto difference = [&](std::span<const int> l) { return within_between(similarity.view(), l).difference(); };
    const PermutationOptions options{.permutations = 39, .seed = repeat, .alternative = Alternative::kGreater};
    by_labels += label_permutation_test(smooth.labels, difference, options).p <= 0.05;
    const SpaceBasis space(smooth.place.view());
    by_space += space_network_test(space, smooth.code.view(), smooth.labels, {.count = 39, .seed = repeat}).p <= 0.05;
  }
  RecordProperty("rejected_by_labels", by_labels);
  RecordProperty("rejected_by_space", by_space);
  EXPECT_GT(by_labels, 60);
  EXPECT_LE(by_space, 10) << "labels " << by_labels;
}

TEST(SpaceNullTest, networks_beyond_distance_are_found_and_threads_change_nothing) {
  SmoothCode smooth = smooth_code(60, 4, 0.2, 1);
  for (std::ptrdiff_t i = 0; i < 60; ++i) {
    smooth.labels[static_cast<std::size_t>(i)] = static_cast<int>(i % 4);  // scattered over the square
    smooth.code(i, i % 4) += 6;
  }
  ThreadPool pool(2);
  SpaceTestOptions options;
  options.count = 99;
  const SpaceBasis space(smooth.place.view());
  const PermutationResult alone = space_network_test(space, smooth.code.view(), smooth.labels, options);
  options.pool = &pool;
  const PermutationResult together = space_network_test(space, smooth.code.view(), smooth.labels, options);
  EXPECT_DOUBLE_EQ(alone.p, 0.01);
  EXPECT_EQ(alone.null_mean, together.null_mean);
  EXPECT_EQ(alone.null_sd, together.null_sd);
}

// Regions in mirrored pairs with a code that is alike on both sides and knows nothing of networks, which hold both of a
// pair.
TEST(SpaceNullTest, alike_sides_are_no_networks_where_the_null_knows_of_them) {
  int plain = 0, mirrored = 0;
  for (std::uint64_t repeat = 0; repeat < 60; ++repeat) {
    const SmoothCode half = smooth_code(25, 16, 0.15, 300 + repeat);
    MatrixD places(50, 2), code(50, 16);
    std::vector<int> labels;
    for (std::ptrdiff_t i = 0; i < 50; ++i) {
      places(i, 0) = (i < 25 ? -1 : 1) * (0.2 + half.place(i % 25, 0));
      places(i, 1) = half.place(i % 25, 1);
      for (std::ptrdiff_t k = 0; k < 16; ++k) code(i, k) = half.code(i % 25, k);
      labels.push_back(static_cast<int>(i % 5));
    }
    const SpaceTestOptions options{.count = 39, .seed = repeat};
    plain += space_network_test(SpaceBasis(places.view()), code.view(), labels, options).p <= 0.05;
    mirrored += space_network_test(SpaceBasis(places.view(), true), code.view(), labels, options).p <= 0.05;
  }
  EXPECT_GT(plain, 30);
  EXPECT_LE(mirrored, 7);
}

TEST(SpaceNullTest, impossible_inputs_say_so) {
  const MatrixD places = planted_noise(12, 2, 1), code = planted_noise(12, 3, 2), flat(12, 2);
  EXPECT_THROW(SpaceBasis(flat.view()), DataError);
  EXPECT_THROW(SpaceBasis(planted_noise(9, 2, 1).view()), DataError);
  EXPECT_THROW(SpaceBasis(planted_noise(12, 4, 1).view()), DataError);
  const SpaceBasis space(places.view());
  const std::vector<int> labels{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, one(12, 0);
  EXPECT_THROW(space_network_test(space, flat.view(), labels), DataError);
  EXPECT_THROW(space_network_test(space, code.view(), one), DataError);
  EXPECT_THROW(space_network_test(space, planted_noise(11, 2, 1).view(), labels), DataError);
}

}  // namespace
}  // namespace locus::stats
