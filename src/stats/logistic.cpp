#include "stats/logistic.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "core/error.h"
#include "stats/eigen_map.h"
#include "stats/softmax.h"

namespace locus::stats {
namespace {

constexpr std::size_t kMemory = 10;  // pairs that L-BFGS keeps
constexpr double kArmijo = 1e-4;
constexpr double kCurvature = 0.9;

using Vector = Eigen::VectorXd;

// Parameters in one vector: weights (d, k) row by row, then the intercepts. The loss is a mean over samples.
class Objective {
 public:
  Objective(ConstMatD x, std::span<const std::int32_t> labels, std::int64_t classes, double penalty)
      : x_(as_eigen(x)), labels_(labels), k_(classes), penalty_(penalty / static_cast<double>(x.rows)) {}

  Eigen::Index size() const { return (x_.cols() + 1) * k_; }

  double operator()(const Vector& p, Vector& gradient) const {
    const Eigen::Map<const RowMajor> w(p.data(), x_.cols(), k_);
    const Eigen::Map<const Eigen::RowVectorXd> b(p.data() + x_.cols() * k_, k_);
    RowMajor scores = x_ * w;
    scores.rowwise() += b;
    const double n = static_cast<double>(x_.rows());
    double loss = 0;
    for (Eigen::Index i = 0; i < scores.rows(); ++i) {
      const auto label = static_cast<Eigen::Index>(labels_[static_cast<std::size_t>(i)]);
      loss += softmax_row(std::span(scores.row(i).data(), static_cast<std::size_t>(k_)), label);
      scores(i, label) -= 1.0;
    }
    gradient.resize(size());
    Eigen::Map<RowMajor> dw(gradient.data(), x_.cols(), k_);
    Eigen::Map<Eigen::RowVectorXd> db(gradient.data() + x_.cols() * k_, k_);
    dw.noalias() = x_.transpose() * scores / n + penalty_ * w;
    db = scores.colwise().sum() / n;
    return loss / n + 0.5 * penalty_ * w.squaredNorm();
  }

 private:
  ConstMap x_;
  std::span<const std::int32_t> labels_;
  std::int64_t k_;
  double penalty_;
};

struct Pair {
  Vector step, change;
  double rho;
};

// The direction of L-BFGS: two loops over the pairs kept.
Vector direction(const std::deque<Pair>& pairs, const Vector& gradient) {
  Vector q = -gradient;
  std::vector<double> alpha(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    alpha[i] = pairs[i].rho * pairs[i].step.dot(q);
    q -= alpha[i] * pairs[i].change;
  }
  if (!pairs.empty()) q *= 1.0 / (pairs.back().rho * pairs.back().change.squaredNorm());
  for (std::size_t i = 0; i < pairs.size(); ++i) q += pairs[i].step * (alpha[i] - pairs[i].rho * pairs[i].change.dot(q));
  return q;
}

struct At {
  Vector p, gradient;
  double value = 0;
};

// To a point that meets the weak Wolfe conditions, by bisection; false when none is found.
bool line_search(const Objective& f, const At& from, const Vector& d, double step, At& to) {
  const double slope = from.gradient.dot(d);
  const double rounding = 1e-14 * std::abs(from.value);  // near the end values differ by less than they can show
  double low = 0, high = INFINITY;
  for (int i = 0; i < 50; ++i) {
    to.p = from.p + step * d;
    to.value = f(to.p, to.gradient);
    if (!(to.value <= from.value + kArmijo * step * slope + rounding)) {
      high = step;
    } else if (to.gradient.dot(d) < kCurvature * slope) {
      low = step;
    } else {
      return true;
    }
    step = std::isinf(high) ? 2 * low : 0.5 * (low + high);
  }
  return false;
}

}  // namespace

LinearClassifier fit_logistic(ConstMatD x, std::span<const std::int32_t> labels, std::int64_t classes,
                              const LogisticOptions& options) {
  LOCUS_CHECK(x.rows == static_cast<std::ptrdiff_t>(labels.size()) && x.rows > 0 && classes > 1, "labels of every sample");
  const Objective f(x, labels, classes, options.penalty);
  At at, next;
  at.p = Vector::Zero(f.size());
  at.value = f(at.p, at.gradient);
  std::deque<Pair> pairs;
  LinearClassifier out;
  for (; out.iterations < options.max_iterations; ++out.iterations) {
    if (at.gradient.lpNorm<Eigen::Infinity>() <= options.tolerance) {
      out.converged = true;
      break;
    }
    const double first = pairs.empty() ? std::min(1.0, 1.0 / at.gradient.lpNorm<1>()) : 1.0;
    if (!line_search(f, at, direction(pairs, at.gradient), first, next)) break;
    Pair pair{next.p - at.p, next.gradient - at.gradient, 0};
    if (const double curvature = pair.step.dot(pair.change); curvature > 0) {
      pair.rho = 1.0 / curvature;
      pairs.push_back(std::move(pair));
      if (pairs.size() > kMemory) pairs.pop_front();
    }
    std::swap(at, next);
  }
  out.weights = MatrixD(x.cols, classes);
  std::copy_n(at.p.data(), x.cols * classes, out.weights.values().data());
  out.intercept.assign(at.p.data() + x.cols * classes, at.p.data() + f.size());
  return out;
}

MatrixD LinearClassifier::probabilities(ConstMatD x) const {
  const auto k = static_cast<std::ptrdiff_t>(intercept.size());
  MatrixD out(x.rows, k);
  Eigen::Map<RowMajor> scores(out.values().data(), x.rows, k);
  scores.noalias() = as_eigen(x) * as_eigen(weights);
  for (std::ptrdiff_t i = 0; i < x.rows; ++i) {
    for (std::ptrdiff_t c = 0; c < k; ++c) out(i, c) += intercept[static_cast<std::size_t>(c)];
    softmax_row(out.row(i), 0);
  }
  return out;
}

}  // namespace locus::stats
