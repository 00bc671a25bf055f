#include "tune/surrogate.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "core/error.h"

namespace locus {

struct SurrogateComponent {
  double length = 1;  // over which scores change, as a part of a key's range
  double signal = 0;  // sd of the curve; 0: the keys change nothing
  double noise = 1;   // sd of a run
  double memory = 1;  // correlation of one length of training with the next
  double weight = 0;
  Eigen::LLT<Eigen::MatrixXd> factor = {};
  Eigen::VectorXd alpha = {};
};

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Settings that are tried, in units of the scores' spread. Half of the weight before any data is on "the keys change
// nothing".
constexpr double kLengths[] = {0.08, 0.15, 0.3, 0.6};
constexpr double kSignals[] = {0.25, 0.5, 1, 2};
constexpr double kNoises[] = {0.03, 0.06, 0.125, 0.25, 0.5, 1};
constexpr double kMemories[] = {0.6, 0.9};
constexpr double kOtherChoice = 0.5;   // correlation of two values of a list
constexpr double kLevelSd = 3;         // of the constant of a length
constexpr double kLeastWeight = 1e-3;  // of the heaviest: lighter ones are left out
constexpr double kSmallestSpread = 1e-9;

double matern(double d) {
  const double r = std::sqrt(5.0) * d;
  return (1 + r + r * r / 3) * std::exp(-r);
}

double likeness(const std::vector<double>& a, const std::vector<double>& b, const std::vector<bool>& choices,
                double length) {
  double out = 1;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (choices[k]) {
      out *= a[k] == b[k] ? 1 : kOtherChoice;
    } else {
      out *= matern(std::abs(a[k] - b[k]) / length);
    }
  }
  return out;
}

double power(double base, int exponent) {
  double out = 1;
  for (int i = 0; i < std::abs(exponent); ++i) out *= base;
  return out;
}

// Of the curves, constants included, at two places.
double curve_covariance(const SurrogateComponent& c, const std::vector<bool>& choices, const ScorePoint& a,
                        const ScorePoint& b) {
  const double level = a.level == b.level ? kLevelSd * kLevelSd : 0;
  if (c.signal == 0) return level;
  return level + c.signal * c.signal * power(c.memory, a.level - b.level) * likeness(a.x, b.x, choices, c.length);
}

MatrixXd data_covariance(const SurrogateComponent& c, const std::vector<bool>& choices,
                         const std::vector<ScorePoint>& points) {
  const auto n = static_cast<Eigen::Index>(points.size());
  MatrixXd k(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      const ScorePoint& a = points[static_cast<std::size_t>(i)];
      const ScorePoint& b = points[static_cast<std::size_t>(j)];
      double value = curve_covariance(c, choices, a, b);
      if (a.run == b.run) value += c.noise * c.noise * power(c.memory, a.level - b.level);
      if (i == j) value += 1e-9;
      k(i, j) = k(j, i) = value;
    }
  }
  return k;
}

VectorXd standardized(const std::vector<ScorePoint>& points, double mean, double scale) {
  VectorXd y(static_cast<Eigen::Index>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) y[static_cast<Eigen::Index>(i)] = (points[i].score - mean) / scale;
  return y;
}

// Where a component expects the curve at a place, and its variance.
struct Moments {
  double mean, variance;
};
Moments moments(const SurrogateComponent& c, const std::vector<bool>& choices, const std::vector<ScorePoint>& points,
                const ScorePoint& at) {
  VectorXd k(static_cast<Eigen::Index>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i)
    k[static_cast<Eigen::Index>(i)] = curve_covariance(c, choices, at, points[i]);
  const VectorXd v = c.factor.matrixL().solve(k);
  return {k.dot(c.alpha), std::max(0.0, curve_covariance(c, choices, at, at) - v.squaredNorm())};
}

double normal_density(double z) { return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi); }
double normal_part(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// Pooled spread about the means of the levels.
double spread_of(const std::vector<ScorePoint>& points) {
  std::map<int, std::pair<double, double>> sums;
  for (const ScorePoint& p : points) {
    sums[p.level].first += p.score;
    sums[p.level].second += 1;
  }
  double squares = 0;
  for (const ScorePoint& p : points) {
    const auto& [sum, count] = sums[p.level];
    squares += (p.score - sum / count) * (p.score - sum / count);
  }
  const double freedom = static_cast<double>(points.size()) - static_cast<double>(sums.size());
  return freedom > 0 ? std::sqrt(squares / freedom) : 0;
}

}  // namespace

Surrogate::~Surrogate() = default;
Surrogate::Surrogate(Surrogate&&) noexcept = default;
Surrogate& Surrogate::operator=(Surrogate&&) noexcept = default;

Surrogate::Surrogate(std::vector<ScorePoint> points, std::vector<bool> choices)
    : points_(std::move(points)), choices_(std::move(choices)) {
  LOCUS_CHECK(!points_.empty(), "a model of scores needs a score");
  double largest = 0;
  for (const ScorePoint& p : points_) {
    mean_ += p.score / static_cast<double>(points_.size());
    largest = std::max(largest, std::abs(p.score));
  }
  scale_ = spread_of(points_);
  constant_ = scale_ <= kSmallestSpread * std::max(largest, 1e-300) || scale_ == 0;
  if (constant_) scale_ = kSmallestSpread * std::max(largest, 1e-12);
  const auto add = [&](double length, double signal, double noise, double memory, double prior) {
    auto c = std::make_unique<SurrogateComponent>();
    c->length = length, c->signal = signal, c->noise = noise, c->memory = memory, c->weight = std::log(prior);
    components_.push_back(std::move(c));
  };
  const double flat = 0.5 / static_cast<double>(std::size(kNoises) * std::size(kMemories));
  const double curved = flat / static_cast<double>(std::size(kLengths) * std::size(kSignals));
  for (const double noise : kNoises) {
    for (const double memory : kMemories) {
      add(1, 0, noise, memory, flat);
      for (const double length : kLengths) {
        for (const double signal : kSignals) add(length, signal, noise, memory, curved);
      }
    }
  }
  condition();
  const VectorXd y = standardized(points_, mean_, scale_);
  double heaviest = -std::numeric_limits<double>::infinity();
  for (auto& c : components_) {
    const MatrixXd& l = c->factor.matrixLLT();
    c->weight += -0.5 * y.dot(c->alpha) - l.diagonal().array().log().sum();
    heaviest = std::max(heaviest, c->weight);
  }
  std::erase_if(components_, [&](const auto& c) { return c->weight < heaviest + std::log(kLeastWeight); });
  double sum = 0;
  for (auto& c : components_) sum += c->weight = std::exp(c->weight - heaviest);
  for (auto& c : components_) c->weight /= sum;
}

void Surrogate::condition() {
  const VectorXd y = standardized(points_, mean_, scale_);
  for (auto& c : components_) {
    c->factor.compute(data_covariance(*c, choices_, points_));
    c->alpha = c->factor.solve(y);
  }
}

PredictedScore Surrogate::at(const std::vector<double>& x, int level) const {
  const ScorePoint here{x, level, -1, 0};
  double mean = 0, square = 0;
  for (const auto& c : components_) {
    const Moments m = moments(*c, choices_, points_, here);
    mean += c->weight * m.mean;
    square += c->weight * (m.variance + m.mean * m.mean);
  }
  return {mean_ + scale_ * mean, scale_ * std::sqrt(std::max(0.0, square - mean * mean))};
}

double Surrogate::expected_gain(const std::vector<double>& x, int level, double best) const {
  const ScorePoint here{x, level, -1, 0};
  const double target = (best - mean_) / scale_;
  double gain = 0;
  for (const auto& c : components_) {
    const Moments m = moments(*c, choices_, points_, here);
    const double sd = std::sqrt(m.variance);
    if (sd <= 0) continue;
    const double z = (m.mean - target) / sd;
    gain += c->weight * sd * (z * normal_part(z) + normal_density(z));
  }
  return scale_ * gain;
}

double Surrogate::noise() const {
  double square = 0;
  for (const auto& c : components_) square += c->weight * c->noise * c->noise;
  return constant_ ? 0 : scale_ * std::sqrt(square);
}

ScoreDraws Surrogate::draw(const std::vector<std::vector<double>>& places, int level, std::size_t count, Rng& rng) const {
  ScoreDraws out;
  const auto n = static_cast<Eigen::Index>(places.size());
  const auto data = static_cast<Eigen::Index>(points_.size());
  double carried = 0;
  for (const auto& c : components_) {
    carried += c->weight * static_cast<double>(count);
    const auto here = static_cast<std::size_t>(carried + 0.5);
    if (here <= out.curves.size()) continue;
    MatrixXd cross(data, n), own(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const ScorePoint a{places[static_cast<std::size_t>(i)], level, -1, 0};
      for (Eigen::Index j = 0; j < data; ++j)
        cross(j, i) = curve_covariance(*c, choices_, a, points_[static_cast<std::size_t>(j)]);
      for (Eigen::Index j = 0; j <= i; ++j)
        own(i, j) = own(j, i) =
            curve_covariance(*c, choices_, a, {places[static_cast<std::size_t>(j)], level, -1, 0}) + (i == j ? 1e-7 : 0);
    }
    const VectorXd mean = cross.transpose() * c->alpha;
    const MatrixXd half = c->factor.matrixL().solve(cross);
    const MatrixXd root = Eigen::LLT<MatrixXd>(own - half.transpose() * half).matrixL();
    while (out.curves.size() < here) {
      VectorXd z(n);
      for (Eigen::Index i = 0; i < n; ++i) z[i] = rng.normal();
      const VectorXd f = mean + root * z;
      std::vector<double> curve;
      for (Eigen::Index i = 0; i < n; ++i) curve.push_back(mean_ + (constant_ ? 0 : scale_ * f[i]));
      out.curves.push_back(std::move(curve));
      out.noise.push_back(constant_ ? 0 : scale_ * c->noise);
    }
  }
  return out;
}

Surrogate Surrogate::believing(const std::vector<double>& x, int level) const {
  Surrogate out;
  out.points_ = points_;
  out.choices_ = choices_;
  out.mean_ = mean_, out.scale_ = scale_, out.constant_ = constant_;
  std::int64_t run = 0;
  for (const ScorePoint& p : points_) run = std::max(run, p.run + 1);
  out.points_.push_back({x, level, run, at(x, level).mean});
  for (const auto& c : components_) {
    auto copy = std::make_unique<SurrogateComponent>();
    copy->length = c->length, copy->signal = c->signal, copy->noise = c->noise, copy->memory = c->memory;
    copy->weight = c->weight;
    out.components_.push_back(std::move(copy));
  }
  out.condition();
  return out;
}

}  // namespace locus
