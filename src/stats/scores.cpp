#include "stats/scores.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/nan.h"

namespace locus::stats {
namespace {

// A probability of 0 for what happened would make one sample count for all; scikit-learn clips so too.
constexpr double kLeast = std::numeric_limits<double>::epsilon();

double ratio(std::int64_t a, std::int64_t b) { return b > 0 ? static_cast<double>(a) / static_cast<double>(b) : kNan; }

double minus_log(const ClassPredictions& p, std::size_t i) {
  const double probability = p.probabilities(static_cast<std::ptrdiff_t>(i), p.labels[i]);
  return -std::log(std::clamp(probability, kLeast, 1 - kLeast));
}

using Rows = std::span<const std::size_t>;

ClassScores scores_of(const ClassPredictions& p, Rows rows) {
  ClassScores out;
  out.samples = static_cast<std::int64_t>(rows.size());
  out.classes.resize(static_cast<std::size_t>(p.classes));
  out.confusion = Matrix<double>(p.classes, p.classes);
  double right = 0, loss = 0;
  for (const std::size_t i : rows) {
    const std::int32_t truth = p.labels[i], said = p.predicted[i];
    out.confusion(truth, said) += 1;
    ++out.classes[static_cast<std::size_t>(truth)].samples;
    ++out.classes[static_cast<std::size_t>(said)].predicted;
    if (truth == said) ++out.classes[static_cast<std::size_t>(truth)].right;
    right += truth == said ? 1 : 0;
    if (p.probabilities.rows > 0) loss += minus_log(p, i);
  }
  const double n = static_cast<double>(rows.size());
  out.accuracy = right / n;
  out.log_loss = p.probabilities.rows > 0 ? loss / n : kNan;
  double recalls = 0, present = 0;
  for (const ClassScore& c : out.classes) {
    if (c.samples == 0) continue;
    recalls += c.recall();
    present += 1;
  }
  out.balanced_accuracy = recalls / present;
  return out;
}

NumberScore score_of(ConstMatD truth, ConstMatD predicted, std::ptrdiff_t column, Rows rows) {
  double mean = 0, errors = 0, squares = 0;
  for (const std::size_t i : rows) mean += truth(static_cast<std::ptrdiff_t>(i), column);
  mean /= static_cast<double>(rows.size());
  for (const std::size_t i : rows) {
    const double t = truth(static_cast<std::ptrdiff_t>(i), column);
    const double e = t - predicted(static_cast<std::ptrdiff_t>(i), column);
    errors += e * e;
    squares += (t - mean) * (t - mean);
  }
  return {errors / static_cast<double>(rows.size()), squares > 0 ? 1 - errors / squares : kNan};
}

std::vector<std::size_t> all_rows(std::size_t n) {
  std::vector<std::size_t> rows(n);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

ScoreInterval interval_of(std::string name, std::size_t n, std::span<const int> clusters, const IndexStatistic& statistic,
                          const BootstrapOptions& options) {
  const BootstrapResult r =
      clusters.empty() ? bootstrap_rows(n, statistic, options) : bootstrap_clusters(clusters, statistic, options);
  return {std::move(name), r.estimate, r.interval};
}

void check(const ClassPredictions& p) {
  LOCUS_CHECK(!p.labels.empty() && p.labels.size() == p.predicted.size(), "a prediction of every sample");
  LOCUS_CHECK(p.probabilities.rows == 0 || p.probabilities.rows == static_cast<std::ptrdiff_t>(p.labels.size()),
              "probabilities");
}

}  // namespace

double ClassScore::recall() const { return ratio(right, samples); }
double ClassScore::precision() const { return ratio(right, predicted); }
double ClassScore::f1() const { return ratio(2 * right, samples + predicted); }

ClassScores class_scores(const ClassPredictions& p) {
  check(p);
  return scores_of(p, all_rows(p.labels.size()));
}

std::vector<std::int32_t> most_likely(ConstMatD probabilities) {
  std::vector<std::int32_t> out;
  for (std::ptrdiff_t i = 0; i < probabilities.rows; ++i) {
    const double* row = probabilities.row(i);
    out.push_back(static_cast<std::int32_t>(std::max_element(row, row + probabilities.cols) - row));
  }
  return out;
}

std::vector<NumberScore> number_scores(ConstMatD truth, ConstMatD predicted) {
  LOCUS_CHECK(truth.rows == predicted.rows && truth.cols == predicted.cols && truth.rows > 0,
              "a prediction of every number");
  std::vector<NumberScore> out;
  const auto rows = all_rows(static_cast<std::size_t>(truth.rows));
  for (std::ptrdiff_t c = 0; c < truth.cols; ++c) out.push_back(score_of(truth, predicted, c, rows));
  return out;
}

std::vector<ScoreInterval> class_score_intervals(const ClassPredictions& p, std::span<const int> clusters,
                                                 const BootstrapOptions& options) {
  check(p);
  const std::size_t n = p.labels.size();
  const auto add = [&](std::string name, double ClassScores::*score) {
    return interval_of(
        std::move(name), n, clusters, [&p, score](Rows rows) { return scores_of(p, rows).*score; }, options);
  };
  std::vector<ScoreInterval> out = {add("accuracy", &ClassScores::accuracy),
                                    add("balanced_accuracy", &ClassScores::balanced_accuracy)};
  if (p.probabilities.rows > 0) out.push_back(add("log_loss", &ClassScores::log_loss));
  return out;
}

std::vector<ScoreInterval> number_score_intervals(ConstMatD truth, ConstMatD predicted, std::span<const int> clusters,
                                                  const BootstrapOptions& options) {
  const auto mean = [&](double NumberScore::*score) {
    return [&truth, &predicted, score](Rows rows) {
      double sum = 0;
      for (std::ptrdiff_t c = 0; c < truth.cols; ++c) sum += score_of(truth, predicted, c, rows).*score;
      return sum / static_cast<double>(truth.cols);
    };
  };
  const auto n = static_cast<std::size_t>(truth.rows);
  return {interval_of("mse", n, clusters, mean(&NumberScore::mse), options),
          interval_of("r2", n, clusters, mean(&NumberScore::r2), options)};
}

}  // namespace locus::stats
