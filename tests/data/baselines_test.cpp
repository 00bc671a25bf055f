#include "data/baselines.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "data/masking.h"
#include "data/nmar.h"
#include "data/ridge.h"

namespace locus {
namespace {

RunConfig small_run(std::int64_t window = 1) {
  RunConfig config;
  config.study = "masked";
  config.nmar.sizes = {5, 5};
  config.nmar.train_samples = 600;
  config.nmar.validation_samples = 0;
  config.nmar.test_samples = 40;
  config.series.window = window;
  return config;
}

// Ridge by augmented least squares for each hidden variable, with no covariance in between.
double brute_force_error(const Dataset& d, std::int64_t sample, double penalty) {
  const Examples& train = d.split("train");
  const Examples& test = d.split("test");
  const std::int64_t vars = d.tokens * d.features;
  Eigen::MatrixXd x(train.count, vars);
  for (std::int64_t i = 0; i < train.count; ++i) {
    for (std::int64_t v = 0; v < vars; ++v) x(i, v) = train.values[static_cast<std::size_t>(i * vars + v)];
  }
  const Eigen::RowVectorXd mean = x.colwise().mean();
  x.rowwise() -= mean;
  std::vector<Eigen::Index> visible, hidden;
  for (std::int64_t v = 0; v < vars; ++v) {
    (test.masks[static_cast<std::size_t>(sample * d.tokens + v / d.features)] ? hidden : visible).push_back(v);
  }
  const auto nv = static_cast<Eigen::Index>(visible.size());
  Eigen::MatrixXd a(train.count + nv, nv);
  a.topRows(train.count) = x(Eigen::all, visible);
  a.bottomRows(nv) = std::sqrt(penalty * static_cast<double>(train.count)) * Eigen::MatrixXd::Identity(nv, nv);
  double sum = 0;
  for (const Eigen::Index h : hidden) {
    Eigen::VectorXd y = Eigen::VectorXd::Zero(train.count + nv);
    y.head(train.count) = x.col(h);
    const Eigen::VectorXd beta = a.colPivHouseholderQr().solve(y);
    double prediction = mean(h);
    for (Eigen::Index k = 0; k < nv; ++k) {
      const Eigen::Index v = visible[static_cast<std::size_t>(k)];
      prediction += beta(k) * (test.values[static_cast<std::size_t>(sample * vars + v)] - mean(v));
    }
    sum += std::pow(prediction - test.values[static_cast<std::size_t>(sample * vars + h)], 2);
  }
  return sum / static_cast<double>(hidden.size());
}

TEST(BaselinesTest, ridge_agrees_with_brute_force_least_squares) {
  for (const std::int64_t window : {1, 2}) {
    const Dataset d = make_nmar_dataset(small_run(window));
    const Examples& train = d.split("train");
    const RidgeModel model = ridge_from(variable_moments(train, 0, train.count, d.tokens * window), 0.03);
    ThreadPool pool(1);
    const std::vector<std::int64_t> samples = {0, 3, 39};
    const auto errors = ridge_errors(model, d.split("test"), d.tokens, samples, pool);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      EXPECT_NEAR(errors[i], brute_force_error(d, samples[i], model.penalty), 1e-6);
    }
  }
}

TEST(BaselinesTest, samples_that_share_a_mask_get_the_same_errors_as_alone) {
  RunConfig config = small_run();
  config.mask.kind = MaskKind::kNetwork;
  const Dataset d = make_nmar_dataset(config);
  const RidgeModel model = ridge_from(variable_moments(d.split("train"), 0, 600, d.tokens), 0.03);
  ThreadPool pool(2);
  std::vector<std::int64_t> all(40);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  const auto together = ridge_errors(model, d.split("test"), d.tokens, all, pool);
  for (const std::int64_t i : all) {
    const std::vector<std::int64_t> one = {i};
    EXPECT_NEAR(together[static_cast<std::size_t>(i)], ridge_errors(model, d.split("test"), d.tokens, one, pool)[0], 1e-12);
  }
}

TEST(BaselinesTest, simple_predictors_agree_with_their_definition) {
  Dataset d = make_nmar_dataset(small_run());
  d.tokens_info.coordinates = MatrixD(10, 1);
  for (std::ptrdiff_t t = 0; t < 10; ++t) d.tokens_info.coordinates(t, 0) = static_cast<double>(t * t);
  ThreadPool pool(1);
  BaselineOptions options;
  options.neighbours = {2};
  const Baselines b = compute_baselines(d, options, pool);
  const Examples& e = d.split("test");
  double zero = 0, mean = 0, nearest = 0;
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < e.count; ++i) {
    const auto value = [&](std::int64_t t) { return static_cast<double>(e.values[static_cast<std::size_t>(i * 10 + t)]); };
    const auto hidden = [&](std::int64_t t) { return e.masks[static_cast<std::size_t>(i * 10 + t)] != 0; };
    double sum = 0, count = 0;
    for (std::int64_t t = 0; t < 10; ++t) {
      if (!hidden(t)) sum += value(t), ++count;
    }
    for (std::int64_t t = 0; t < 10; ++t) {
      if (!hidden(t)) continue;
      std::vector<std::pair<double, std::int64_t>> by_distance;
      for (std::int64_t u = 0; u < 10; ++u) {
        if (!hidden(u)) by_distance.emplace_back(std::abs(static_cast<double>(t * t - u * u)), u);
      }
      std::sort(by_distance.begin(), by_distance.end());
      zero += value(t) * value(t);
      mean += std::pow(value(t) - sum / count, 2);
      nearest += std::pow(value(t) - (value(by_distance[0].second) + value(by_distance[1].second)) / 2, 2);
      ++n;
    }
  }
  EXPECT_NEAR(b.find("test", "zero")->error, zero / static_cast<double>(n), 1e-9);
  EXPECT_NEAR(b.find("test", "mean_visible")->error, mean / static_cast<double>(n), 1e-9);
  EXPECT_NEAR(b.find("test", "nearest")->error, nearest / static_cast<double>(n), 1e-9);
  EXPECT_EQ(b.find("test", "ridge")->sample_errors.size(), 40u);
  EXPECT_LT(b.find("test", "ridge")->error, b.find("test", "zero")->error);
}

TEST(BaselinesTest, a_subset_uses_the_same_masks_and_is_named) {
  const Dataset d = make_nmar_dataset(small_run());
  ThreadPool pool(1);
  BaselineOptions few;
  few.max_samples = 10;
  const Baselines some = compute_baselines(d, few, pool);
  const Baselines all = compute_baselines(d, {}, pool);
  const BaselineResult& s = *some.find("test", "ridge");
  ASSERT_EQ(s.samples.size(), 10u);
  EXPECT_EQ(some.notes.size(), 1u);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_DOUBLE_EQ(s.sample_errors[i], all.find("test", "ridge")->sample_errors[static_cast<std::size_t>(s.samples[i])]);
  }
}

TEST(BaselinesTest, the_default_network_has_the_known_ridge_error) {
  RunConfig config;
  config.study = "masked";
  config.nmar.validation_samples = 0;
  Dataset d = make_nmar_dataset(config);
  ThreadPool pool(2);
  const Baselines b = compute_baselines(d, {}, pool);
  record_baselines(d, b);
  EXPECT_NEAR(d.baselines.at("test").at("zero"), 1.0, 0.02);
  EXPECT_NEAR(d.baselines.at("test").at("ridge"), 0.715, 0.03);
  EXPECT_LT(d.baselines.at("test").at("ridge"), d.baselines.at("test").at("mean_visible"));
  RecordProperty("ridge", std::to_string(b.find("test", "ridge")->error));
}

}  // namespace
}  // namespace locus
