#include "data/table/baselines.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "stats/linalg.h"
#include "stats/logistic.h"
#include "stats/mlp.h"
#include "stats/neighbours.h"
#include "stats/scores.h"

namespace locus {
namespace {

constexpr double kPenalties[] = {0.01, 0.1, 1, 10, 100, 1000, 10000};
constexpr std::int64_t kNeighbours[] = {1, 3, 5, 10, 20, 50};
constexpr double kMlpPenalties[] = {1e-4, 1e-2, 1};
constexpr double kCheckPart = 0.2;  // of training, where there is no validation

bool is_classes(const PlainData& d) { return d.classes > 0; }

MatrixD answers(const PlainData& d, const PlainSplit& s) {
  if (!is_classes(d)) return s.y;
  MatrixD out(s.x.rows(), d.classes);
  for (std::ptrdiff_t i = 0; i < out.rows(); ++i) out(i, s.labels[static_cast<std::size_t>(i)]) = 1;
  return out;
}

PlainSplit part(const PlainSplit& s, std::span<const std::int64_t> rows) {
  PlainSplit out;
  out.name = s.name;
  const auto take = [&](const MatrixD& from, MatrixD& to) {
    to = MatrixD(static_cast<std::ptrdiff_t>(rows.size()), from.cols());
    for (std::size_t r = 0; r < rows.size(); ++r)
      std::copy(from.row(rows[r]).begin(), from.row(rows[r]).end(), to.row(static_cast<std::ptrdiff_t>(r)).begin());
  };
  take(s.x, out.x);
  if (s.labels.empty()) take(s.y, out.y);
  for (const std::int64_t r : rows) {
    if (!s.labels.empty()) out.labels.push_back(s.labels[static_cast<std::size_t>(r)]);
  }
  return out;
}

// What settings are chosen with: fitted on one, judged on the other.
struct Tuning {
  PlainSplit fit, check;
};

Tuning choice_of(const PlainData& d) {
  if (d.validation.x.rows() > 0) return {d.train, d.validation};
  std::vector<std::int64_t> order(static_cast<std::size_t>(d.train.x.rows()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  Rng rng(1, "baselines/check");
  rng.shuffle(std::span(order));
  const auto check = static_cast<std::size_t>(std::max(1.0, kCheckPart * static_cast<double>(order.size())));
  return {part(d.train, std::span(order).subspan(check)), part(d.train, std::span(order).first(check))};
}

// What settings are chosen by: errors of the answer, and where these are level the log loss.
double loss_of(const PlainData& d, const PlainSplit& s, const MatrixD& outputs) {
  if (is_classes(d)) {
    const std::vector<std::int32_t> said = stats::most_likely(outputs.view());
    const stats::ClassScores scores = stats::class_scores({s.labels, said, outputs.view(), d.classes});
    const double wrong = (1 - scores.accuracy) * static_cast<double>(scores.samples);
    return std::round(wrong) + scores.log_loss / (1 + scores.log_loss);
  }
  double total = 0;
  for (std::size_t i = 0; i < outputs.values().size(); ++i) total += std::pow(outputs.values()[i] - s.y.values()[i], 2);
  return total / static_cast<double>(outputs.values().size());
}

using RowPredictor = std::function<MatrixD(const MatrixD& x)>;
// A predictor of one setting, fitted to these samples; `check` may help to stop in time.
using Fitter = std::function<RowPredictor(const PlainSplit& fit, const PlainSplit& check, double setting)>;

double best_setting(const PlainData& d, const Tuning& choice, std::span<const double> settings, const Fitter& fit,
                    ThreadPool& pool) {
  std::vector<double> loss(settings.size());
  pool.run(static_cast<int>(settings.size()), [&](int i, int) {
    const RowPredictor p = fit(choice.fit, choice.check, settings[static_cast<std::size_t>(i)]);
    loss[static_cast<std::size_t>(i)] = loss_of(d, choice.check, p(choice.check.x));
  });
  return settings[static_cast<std::size_t>(std::min_element(loss.begin(), loss.end()) - loss.begin())];
}

void predict_all(const PlainData& d, const RowPredictor& predictor, PlainBaseline& out) {
  if (d.validation.x.rows() > 0) out.predictions.push_back({d.validation.name, predictor(d.validation.x)});
  for (const PlainSplit& s : d.others) out.predictions.push_back({s.name, predictor(s.x)});
}

RowPredictor linear(const PlainData& d, const PlainSplit& fit, double penalty) {
  if (is_classes(d)) {
    const auto model = stats::fit_logistic(fit.x.view(), fit.labels, d.classes,
                                           {.penalty = penalty, .max_iterations = 300, .tolerance = 1e-4});
    return [model](const MatrixD& x) { return model.probabilities(x.view()); };
  }
  const stats::LinearFit model = stats::ridge(fit.x.view(), fit.y.view(), penalty);
  return [model](const MatrixD& x) {
    MatrixD out(x.rows(), model.weights.cols());
    for (std::ptrdiff_t i = 0; i < x.rows(); ++i) {
      std::copy(model.intercept.begin(), model.intercept.end(), out.row(i).begin());
      for (std::ptrdiff_t j = 0; j < x.cols(); ++j) {
        for (std::ptrdiff_t o = 0; o < out.cols(); ++o) out(i, o) += x(i, j) * model.weights(j, o);
      }
    }
    return out;
  };
}

RowPredictor nearest(const PlainData& d, const PlainSplit& fit, double setting) {
  const MatrixD y = answers(d, fit);
  const auto k = std::min<std::int64_t>(static_cast<std::int64_t>(setting), fit.x.rows());
  return [&fit, y, k](const MatrixD& x) {
    MatrixD out(x.rows(), y.cols());
    const auto near = stats::nearest_rows(fit.x.view(), x.view(), k);
    for (std::size_t i = 0; i < near.size(); ++i) {
      for (const std::int64_t n : near[i]) {
        for (std::ptrdiff_t o = 0; o < y.cols(); ++o)
          out(static_cast<std::ptrdiff_t>(i), o) += y(n, o) / static_cast<double>(k);
      }
    }
    return out;
  };
}

RowPredictor perceptron(const PlainData& d, const PlainSplit& fit, const PlainSplit& check, double penalty) {
  const stats::MlpLoss loss = is_classes(d) ? stats::MlpLoss::kClasses : stats::MlpLoss::kNumbers;
  const MatrixD y = answers(d, fit), check_y = answers(d, check);
  stats::MlpOptions options;
  options.penalty = penalty;
  options.seed = 1;
  const stats::MlpWeights w = stats::train_mlp(stats::initial_mlp(fit.x.cols(), y.cols(), options), {fit.x.view(), y.view()},
                                               {check.x.view(), check_y.view()}, loss, options);
  return [w, loss](const MatrixD& x) { return stats::mlp_outputs(w, x.view(), loss); };
}

// The same answer for every sample: the shares of the classes, or the means.
RowPredictor commonest(const PlainData& d) {
  const MatrixD y = answers(d, d.train);
  std::vector<double> mean(static_cast<std::size_t>(y.cols()));
  for (std::ptrdiff_t i = 0; i < y.rows(); ++i) {
    for (std::ptrdiff_t o = 0; o < y.cols(); ++o)
      mean[static_cast<std::size_t>(o)] += y(i, o) / static_cast<double>(y.rows());
  }
  return [mean](const MatrixD& x) {
    MatrixD out(x.rows(), static_cast<std::ptrdiff_t>(mean.size()));
    for (std::ptrdiff_t i = 0; i < x.rows(); ++i) std::copy(mean.begin(), mean.end(), out.row(i).begin());
    return out;
  };
}

}  // namespace

std::vector<PlainBaseline> plain_baselines(const PlainData& d, ThreadPool& pool) {
  LOCUS_CHECK(d.train.x.rows() > 1, "samples to learn from");
  const Tuning choice = choice_of(d);
  std::vector<PlainBaseline> out;
  out.push_back({is_classes(d) ? "majority" : "mean", "", {}});
  predict_all(d, commonest(d), out.back());

  const auto fit_linear = [&](const PlainSplit& fit, const PlainSplit&, double setting) { return linear(d, fit, setting); };
  const double penalty = best_setting(d, choice, kPenalties, fit_linear, pool);
  out.push_back({is_classes(d) ? "logistic" : "ridge", "penalty " + shortest(penalty), {}});
  predict_all(d, linear(d, d.train, penalty), out.back());

  const auto fit_nearest = [&](const PlainSplit& fit, const PlainSplit&, double setting) {
    return nearest(d, fit, setting);
  };
  const std::vector<double> ks(std::begin(kNeighbours), std::end(kNeighbours));
  const double k = best_setting(d, choice, ks, fit_nearest, pool);
  out.push_back({"knn", fmt::format("{} samples", k), {}});
  predict_all(d, nearest(d, d.train, k), out.back());

  const auto fit_mlp = [&](const PlainSplit& fit, const PlainSplit& check, double setting) {
    return perceptron(d, fit, check, setting);
  };
  const double decay = best_setting(d, choice, kMlpPenalties, fit_mlp, pool);
  out.push_back({"mlp", fmt::format("100 hidden units, penalty {}", shortest(decay)), {}});
  predict_all(d, perceptron(d, choice.fit, choice.check, decay), out.back());
  return out;
}

}  // namespace locus
