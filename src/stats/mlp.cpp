#include "stats/mlp.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"
#include "stats/eigen_map.h"
#include "stats/softmax.h"

namespace locus::stats {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;

using Row = Eigen::RowVectorXd;

struct Layers {
  RowMajor first, second;
  Row first_bias, second_bias;

  std::array<Eigen::Map<Eigen::ArrayXd>, 4> parts() {
    const auto flat = [](auto& m) { return Eigen::Map<Eigen::ArrayXd>(m.data(), m.size()); };
    return {flat(first), flat(first_bias), flat(second), flat(second_bias)};
  }
};

Layers layers_of(const MlpWeights& w) {
  return {as_eigen(w.first), as_eigen(w.second),
          Eigen::Map<const Row>(w.first_bias.data(), static_cast<Eigen::Index>(w.first_bias.size())),
          Eigen::Map<const Row>(w.second_bias.data(), static_cast<Eigen::Index>(w.second_bias.size()))};
}

MlpWeights weights_of(const Layers& l) {
  return {from_eigen(l.first),
          {l.first_bias.data(), l.first_bias.data() + l.first_bias.size()},
          from_eigen(l.second),
          {l.second_bias.data(), l.second_bias.data() + l.second_bias.size()}};
}

// Leaves outputs; returns the mean loss without the penalty.
double forward(const Layers& l, const RowMajor& x, const RowMajor& y, MlpLoss loss, RowMajor& hidden, RowMajor& out) {
  hidden.noalias() = x * l.first;
  hidden.rowwise() += l.first_bias;
  hidden = hidden.cwiseMax(0.0);
  out.noalias() = hidden * l.second;
  out.rowwise() += l.second_bias;
  if (loss == MlpLoss::kNumbers)
    return y.rows() == 0 ? 0.0 : 0.5 * (out - y).squaredNorm() / static_cast<double>(out.size());
  double total = 0;
  for (Eigen::Index i = 0; i < out.rows(); ++i) {
    Eigen::Index label = 0;
    if (y.rows() > 0) y.row(i).maxCoeff(&label);
    total += softmax_row(std::span(out.row(i).data(), static_cast<std::size_t>(out.cols())), label);
  }
  return total / static_cast<double>(std::max<Eigen::Index>(1, out.rows()));
}

class Trainer {
 public:
  Trainer(Layers start, const MlpOptions& options) : layers_(std::move(start)), options_(options) {
    const auto parts = layers_.parts();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      mean_[i] = Eigen::ArrayXd::Zero(parts[i].size());
      square_[i] = Eigen::ArrayXd::Zero(parts[i].size());
    }
  }

  Layers& layers() { return layers_; }

  // One update; returns the loss with the penalty.
  double step(const RowMajor& x, const RowMajor& y, MlpLoss loss) {
    const double n = static_cast<double>(x.rows());
    const double value = forward(layers_, x, y, loss, hidden_, out_);
    const double norms = layers_.first.squaredNorm() + layers_.second.squaredNorm();
    delta_ = out_ - y;
    Layers g;
    g.second = (hidden_.transpose() * delta_ + options_.penalty * layers_.second) / n;
    g.second_bias = delta_.colwise().sum() / n;
    back_.noalias() = delta_ * layers_.second.transpose();
    back_ = (hidden_.array() > 0).select(back_, 0.0);
    g.first = (x.transpose() * back_ + options_.penalty * layers_.first) / n;
    g.first_bias = back_.colwise().sum() / n;
    ++steps_;
    const double rate = options_.rate * std::sqrt(1 - std::pow(kBeta2, steps_)) / (1 - std::pow(kBeta1, steps_));
    auto to = layers_.parts();
    const auto from = g.parts();
    for (std::size_t i = 0; i < to.size(); ++i) {
      mean_[i] = kBeta1 * mean_[i] + (1 - kBeta1) * from[i];
      square_[i] = kBeta2 * square_[i] + (1 - kBeta2) * from[i].square();
      to[i] -= rate * mean_[i] / (square_[i].sqrt() + kEpsilon);
    }
    return value + 0.5 * options_.penalty * norms / n;
  }

 private:
  Layers layers_;
  const MlpOptions& options_;
  std::array<Eigen::ArrayXd, 4> mean_, square_;
  RowMajor hidden_, out_, delta_, back_;
  double steps_ = 0;
};

}  // namespace

MlpWeights initial_mlp(std::int64_t inputs, std::int64_t outputs, const MlpOptions& options) {
  Rng rng(options.seed, "mlp/init");
  MlpWeights w;
  const auto draw = [&](std::int64_t in, std::int64_t out, MatrixD& weights, std::vector<double>& bias) {
    const double bound = std::sqrt(6.0 / static_cast<double>(in + out));
    weights = MatrixD(in, out);
    for (double& v : weights.values()) v = bound * (2 * rng.uniform() - 1);
    bias.resize(static_cast<std::size_t>(out));
    for (double& v : bias) v = bound * (2 * rng.uniform() - 1);
  };
  draw(inputs, options.hidden, w.first, w.first_bias);
  draw(options.hidden, outputs, w.second, w.second_bias);
  return w;
}

MlpWeights train_mlp(MlpWeights start, const MlpData& train, const MlpData& validation, MlpLoss loss,
                     const MlpOptions& options) {
  LOCUS_CHECK(train.x.rows == train.y.rows && train.x.rows > 0, "samples and answers");
  Trainer trainer(layers_of(start), options);
  const RowMajor check_x = as_eigen(validation.x), check_y = as_eigen(validation.y);
  std::vector<std::int64_t> order(static_cast<std::size_t>(train.x.rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  Layers best = trainer.layers();
  double lowest = std::numeric_limits<double>::infinity();
  RowMajor x, y, hidden, out;
  for (int epoch = 0, idle = 0; epoch < options.epochs && idle < options.patience; ++epoch) {
    Rng rng(derive_seed(options.seed, "mlp/order", static_cast<std::uint64_t>(epoch)), "shuffle");
    if (options.shuffle) rng.shuffle(std::span(order));
    double total = 0;
    for (std::size_t first = 0; first < order.size(); first += static_cast<std::size_t>(options.batch)) {
      const std::size_t n = std::min(static_cast<std::size_t>(options.batch), order.size() - first);
      x.resize(static_cast<Eigen::Index>(n), train.x.cols);
      y.resize(static_cast<Eigen::Index>(n), train.y.cols);
      for (std::size_t i = 0; i < n; ++i) {
        x.row(static_cast<Eigen::Index>(i)) = as_eigen(train.x).row(order[first + i]);
        y.row(static_cast<Eigen::Index>(i)) = as_eigen(train.y).row(order[first + i]);
      }
      total += trainer.step(x, y, loss) * static_cast<double>(n);
    }
    const double value = check_x.rows() > 0 ? forward(trainer.layers(), check_x, check_y, loss, hidden, out)
                                            : total / static_cast<double>(order.size());
    idle = value < lowest - options.tolerance ? 0 : idle + 1;
    if (value < lowest || options.keep_last) {
      lowest = value;
      best = trainer.layers();
    }
  }
  return weights_of(best);
}

MatrixD mlp_outputs(const MlpWeights& weights, ConstMatD x, MlpLoss loss) {
  RowMajor hidden, out;
  forward(layers_of(weights), as_eigen(x), RowMajor(), loss, hidden, out);
  return from_eigen(out);
}

}  // namespace locus::stats
