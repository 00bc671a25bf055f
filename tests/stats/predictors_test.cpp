// Predictors, scores and assignment against scikit-learn and SciPy: a committed golden file always, and fresh cases where
// a Python with scikit-learn is at hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "stats/assignment.h"
#include "stats/linalg.h"
#include "stats/logistic.h"
#include "stats/mlp.h"
#include "stats/neighbours.h"
#include "stats/scores.h"
#include "tests/support/paths.h"

namespace locus::stats {
namespace {

using nlohmann::json;

MatrixD matrix(const json& rows) {
  MatrixD out(static_cast<std::ptrdiff_t>(rows.size()), static_cast<std::ptrdiff_t>(rows.at(0).size()));
  for (std::ptrdiff_t r = 0; r < out.rows(); ++r) {
    for (std::ptrdiff_t c = 0; c < out.cols(); ++c)
      out(r, c) = rows.at(static_cast<std::size_t>(r)).at(static_cast<std::size_t>(c));
  }
  return out;
}

double largest_difference(const MatrixD& a, const MatrixD& b) {
  EXPECT_EQ(a.rows(), b.rows());
  EXPECT_EQ(a.cols(), b.cols());
  double out = 0;
  for (std::size_t i = 0; i < std::min(a.values().size(), b.values().size()); ++i)
    out = std::max(out, std::abs(a.values()[i] - b.values()[i]));
  return out;
}

void logistic(const json& in, const json& out) {
  const MatrixD x = matrix(in["x"]);
  const std::vector<std::int32_t> labels = in["labels"];
  const std::int64_t classes = *std::max_element(labels.begin(), labels.end()) + 1;
  const LinearClassifier fit =
      fit_logistic(x.view(), labels, classes, {.penalty = in["penalty"], .max_iterations = 5000, .tolerance = 1e-9});
  EXPECT_TRUE(fit.converged);
  EXPECT_LT(largest_difference(fit.weights, matrix(out["weights"])), 1e-4);
  EXPECT_LT(largest_difference(fit.probabilities(x.view()), matrix(out["probabilities"])), 1e-4);
}

void ridge_case(const json& in, const json& out) {
  const MatrixD x = matrix(in["x"]), y = matrix(in["y"]), expected = matrix(out["predicted"]);
  const LinearFit fit = ridge(x.view(), y.view(), in["penalty"]);
  for (std::ptrdiff_t i = 0; i < x.rows(); ++i) {
    for (std::ptrdiff_t o = 0; o < y.cols(); ++o) {
      double value = fit.intercept[static_cast<std::size_t>(o)];
      for (std::ptrdiff_t j = 0; j < x.cols(); ++j) value += x(i, j) * fit.weights(j, o);
      EXPECT_NEAR(value, expected(i, o), 1e-9);
    }
  }
}

void neighbours(const json& in, const json& out) {
  EXPECT_EQ(nearest_rows(matrix(in["x"]).view(), matrix(in["of"]).view(), in["k"]),
            out["nearest"].get<std::vector<std::vector<std::int64_t>>>());
}

void mlp(const json& in, const json& out) {
  const MatrixD x = matrix(in["x"]), y = matrix(in["y"]);
  const json& s = in["start"];
  const MlpWeights start{matrix(s["first"]), s["first_bias"], matrix(s["second"]), s["second_bias"]};
  const MlpLoss loss = in["classes"].get<bool>() ? MlpLoss::kClasses : MlpLoss::kNumbers;
  MlpOptions options;
  options.hidden = in["hidden"];
  options.batch = in["batch"];
  options.epochs = in["epochs"];
  options.penalty = 0.05;
  options.rate = 0.01;
  options.shuffle = false;
  options.keep_last = true;
  const MlpWeights end = train_mlp(start, {x.view(), y.view()}, {}, loss, options);
  EXPECT_LT(largest_difference(end.first, matrix(out["first"])), 1e-9);
  EXPECT_LT(largest_difference(end.second, matrix(out["second"])), 1e-9);
  EXPECT_LT(largest_difference(mlp_outputs(end, x.view(), loss), matrix(out["outputs"])), 1e-9);
}

void scores(const json& in, const json& out) {
  const std::vector<std::int32_t> labels = in["labels"];
  const MatrixD p = matrix(in["probabilities"]);
  const std::vector<std::int32_t> said = most_likely(p.view());
  const ClassScores got = class_scores({labels, said, p.view(), p.cols()});
  const std::vector<double> expected = out["scores"];
  EXPECT_NEAR(got.accuracy, expected[0], 1e-12);
  EXPECT_NEAR(got.balanced_accuracy, expected[1], 1e-12);
  EXPECT_NEAR(got.log_loss, expected[2], 1e-12);
  EXPECT_EQ(largest_difference(got.confusion, matrix(out["confusion"])), 0);
}

void numbers(const json& in, const json& out) {
  const MatrixD truth = matrix(in["truth"]), predicted = matrix(in["predicted"]);
  const std::vector<NumberScore> got = number_scores(truth.view(), predicted.view());
  for (std::size_t o = 0; o < got.size(); ++o) {
    EXPECT_NEAR(got[o].r2, out["r2"][o].get<double>(), 1e-12);
    EXPECT_NEAR(got[o].mse, out["mse"][o].get<double>(), 1e-12);
  }
}

void assignment(const json& in, const json& out) {
  const MatrixD cost = matrix(in["cost"]);
  const Assignment got = least_cost_assignment(cost.view());
  EXPECT_NEAR(got.cost, out["total"].get<double>(), 1e-9);
  std::vector<std::int64_t> columns = got.column;
  std::sort(columns.begin(), columns.end());
  EXPECT_EQ(std::adjacent_find(columns.begin(), columns.end()), columns.end());
}

int check_file(const std::string& path) {
  static const std::map<std::string, void (*)(const json&, const json&)> kCases = {
      {"logistic", logistic}, {"ridge", ridge_case}, {"neighbours", neighbours}, {"mlp", mlp},
      {"scores", scores},     {"numbers", numbers},  {"assignment", assignment}};
  std::ifstream file(path);
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    const json item = json::parse(line);
    SCOPED_TRACE(item["f"].get<std::string>() + " case " + std::to_string(count));
    kCases.at(item["f"])(item["in"], item["out"]);
  }
  return count;
}

TEST(PredictorsTest, agree_with_scikit_learn_on_kept_cases) {
  EXPECT_EQ(check_file(locus::test::source_dir() + "/tests/stats/predictors_golden.jsonl"), 7 * 2);
}

TEST(PredictorsTest, agree_with_scikit_learn_on_fresh_cases) {
  if (std::system("/usr/bin/python3 -c 'import sklearn' 2>/dev/null") != 0) GTEST_SKIP() << "no scikit-learn";
  const std::string path = testing::TempDir() + "locus_predictors.jsonl";
  const std::string script = locus::test::source_dir() + "/tests/stats/predictors_oracle.py";
  ASSERT_EQ(std::system(("/usr/bin/python3 '" + script + "' 7 15 > '" + path + "'").c_str()), 0);
  EXPECT_EQ(check_file(path), 7 * 15);
  std::remove(path.c_str());
}

TEST(ScoresTest, intervals_hold_the_value_and_shrink_with_samples) {
  std::vector<std::int32_t> labels, said;
  for (int i = 0; i < 400; ++i) {
    labels.push_back(i % 2);
    said.push_back(i % 5 == 0 ? 1 - i % 2 : i % 2);
  }
  const auto width = [&](std::size_t n) {
    const std::span<const std::int32_t> l(labels.data(), n), p(said.data(), n);
    const auto intervals = class_score_intervals({l, p, {}, 2});
    EXPECT_EQ(intervals.size(), 2u);
    EXPECT_NEAR(intervals[0].value, 0.8, 1e-12);
    EXPECT_LT(intervals[0].interval.lo, 0.8);
    EXPECT_GT(intervals[0].interval.hi, 0.8);
    return intervals[0].interval.hi - intervals[0].interval.lo;
  };
  // The standard error of a share of 0.8: 0.04 for 100, 0.02 for 400.
  EXPECT_NEAR(width(100), 2 * 1.96 * 0.04, 0.03);
  EXPECT_NEAR(width(400), 2 * 1.96 * 0.02, 0.012);
}

TEST(ScoresTest, a_class_never_predicted_has_no_precision_and_lowers_the_balance) {
  const std::vector<std::int32_t> labels = {0, 0, 0, 1}, said = {0, 0, 0, 0};
  const ClassScores s = class_scores({labels, said, {}, 2});
  EXPECT_EQ(s.accuracy, 0.75);
  EXPECT_EQ(s.balanced_accuracy, 0.5);
  EXPECT_TRUE(std::isnan(s.classes[1].precision()));
  EXPECT_EQ(s.classes[1].recall(), 0);
  EXPECT_TRUE(std::isnan(s.log_loss));
}

TEST(MlpTest, learns_what_a_line_cannot) {
  // The parity of two signs.
  MatrixD x(200, 2), y(200, 2);
  std::vector<std::int32_t> labels;
  for (std::ptrdiff_t i = 0; i < 200; ++i) {
    x(i, 0) = (i % 2 == 0 ? 1 : -1) * (0.5 + 0.005 * static_cast<double>(i));
    x(i, 1) = (i / 2 % 2 == 0 ? 1 : -1) * (1.5 - 0.005 * static_cast<double>(i));
    labels.push_back(x(i, 0) * x(i, 1) > 0 ? 1 : 0);
    y(i, labels.back()) = 1;
  }
  MlpOptions options;
  options.rate = 0.01;
  const MlpWeights w = train_mlp(initial_mlp(2, 2, options), {x.view(), y.view()}, {}, MlpLoss::kClasses, options);
  EXPECT_EQ(most_likely(mlp_outputs(w, x.view(), MlpLoss::kClasses).view()), labels);
  const LinearClassifier line = fit_logistic(x.view(), labels, 2);
  EXPECT_LT(class_scores({labels, most_likely(line.probabilities(x.view()).view()), {}, 2}).accuracy, 0.7);
}

}  // namespace
}  // namespace locus::stats
