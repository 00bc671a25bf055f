// Modularity, communities and surrogates: known graphs and planted structure.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/parallel.h"
#include "stats/community.h"
#include "stats/descriptive.h"
#include "stats/graph.h"
#include "stats/matrix_correlation.h"
#include "stats/surrogates.h"
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

TEST(SurrogateTest, keep_the_variogram_and_lose_the_arrangement) {
  const SmoothCode smooth = smooth_code(80, 3, 0.3, 1);
  const SpatialSurrogates surrogates(smooth.distance.view(), smooth.code.view());
  std::vector<double> sum(surrogates.target().size(), 0);
  double alike = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const MatrixD drawn = surrogates.draw(i);
    const std::vector<double> v = surrogates.variogram(drawn.view());
    for (std::size_t h = 0; h < v.size(); ++h) sum[h] += v[h] / 50;
    alike += pearson(centre_rows(drawn.view()).values(), centre_rows(smooth.code.view()).values()).r / 50;
  }
  for (std::size_t h = 0; h < sum.size(); ++h) {
    EXPECT_NEAR(sum[h], surrogates.target()[h], 0.15 * surrogates.target().back()) << "lag " << h;
  }
  EXPECT_NEAR(alike, 0, 0.1);
  EXPECT_EQ(surrogates.draw(3), surrogates.draw(3));
  EXPECT_FALSE(surrogates.draw(3) == surrogates.draw(4));
}

TEST(SurrogateTest, contiguous_networks_on_a_smooth_code_fool_shuffled_labels_but_not_surrogates) {
  constexpr int kRepeats = 100;
  int by_labels = 0, by_surrogates = 0;
  for (std::uint64_t repeat = 0; repeat < kRepeats; ++repeat) {
    const SmoothCode smooth = smooth_code(40, 3, 0.3, 100 + repeat);
    const MatrixD similarity = cosine_similarity(smooth.code.view());
    const auto difference = [&](std::span<const int> l) { return within_between(similarity.view(), l).difference(); };
    const PermutationOptions options{.permutations = 39, .seed = repeat, .alternative = Alternative::kGreater};
    by_labels += label_permutation_test(smooth.labels, difference, options).p <= 0.05;
    by_surrogates +=
        surrogate_network_test(smooth.distance.view(), smooth.code.view(), smooth.labels, {39, {.seed = repeat}}).p <= 0.05;
  }
  RecordProperty("rejected_by_labels", by_labels);
  RecordProperty("rejected_by_surrogates", by_surrogates);
  EXPECT_GT(by_labels, 60);
  EXPECT_LE(by_surrogates, 10) << "labels " << by_labels;
}

TEST(SurrogateTest, networks_beyond_distance_are_found_and_threads_change_nothing) {
  SmoothCode smooth = smooth_code(60, 4, 0.2, 1);
  for (std::ptrdiff_t i = 0; i < 60; ++i) {
    smooth.labels[static_cast<std::size_t>(i)] = static_cast<int>(i % 4);  // scattered over the square
    smooth.code(i, i % 4) += 6;
  }
  ThreadPool pool(2);
  NetworkTestOptions options;
  options.count = 99;
  const PermutationResult alone = surrogate_network_test(smooth.distance.view(), smooth.code.view(), smooth.labels, options);
  options.pool = &pool;
  const PermutationResult together =
      surrogate_network_test(smooth.distance.view(), smooth.code.view(), smooth.labels, options);
  EXPECT_DOUBLE_EQ(alone.p, 0.01);
  EXPECT_EQ(alone.null_mean, together.null_mean);
  EXPECT_EQ(alone.null_sd, together.null_sd);
}

TEST(SurrogateTest, impossible_inputs_say_so) {
  const MatrixD code = planted_noise(12, 2, 1), flat(12, 2), negative(12, 12);
  EXPECT_THROW(SpatialSurrogates(negative.view(), code.view()), DataError);
  EXPECT_THROW(SpatialSurrogates(pairwise_distance(code.view()).view(), flat.view()), DataError);
  EXPECT_THROW(SpatialSurrogates(pairwise_distance(planted_noise(11, 2, 1).view()).view(), code.view()), DataError);
}

}  // namespace
}  // namespace locus::stats
