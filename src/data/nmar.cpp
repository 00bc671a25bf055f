#include "data/nmar.h"

#include <fmt/core.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"

namespace locus {
namespace {

constexpr double kDiverged = 1e9;
constexpr std::int64_t kMaxNodes = 20000;

std::vector<std::int32_t> module_labels(const NmarConfig& c) {
  std::vector<std::int32_t> labels;
  for (std::size_t m = 0; m < c.sizes.size(); ++m) {
    const double size = c.sizes[m];
    if (size < 1 || size != std::floor(size) || static_cast<double>(labels.size()) + size > kMaxNodes) {
      throw ConfigError({.what = "a module's size is not a usable whole number",
                         .where = "nmar.sizes",
                         .got = fmt::format("{}", size),
                         .expected = fmt::format("at least 1, at most {} nodes in all", kMaxNodes)});
    }
    labels.insert(labels.end(), static_cast<std::size_t>(size), static_cast<std::int32_t>(m));
  }
  if (labels.size() < 2) {
    throw ConfigError(
        {.what = "a network needs at least two nodes", .where = "nmar.sizes", .got = fmt::format("{}", labels.size())});
  }
  if (c.hub_module >= static_cast<std::int64_t>(c.sizes.size())) {
    throw ConfigError({.what = "nmar.hub_module names a module that does not exist",
                       .where = "nmar.hub_module",
                       .got = fmt::format("{}", c.hub_module),
                       .expected = fmt::format("-1 to {}", c.sizes.size() - 1)});
  }
  return labels;
}

double edge_probability(const NmarConfig& c, std::int32_t a, std::int32_t b) {
  if (a == b) return c.p_in;
  return a == c.hub_module || b == c.hub_module ? c.hub_p_out : c.p_out;
}

// A random node other than i, of i's module where that has others.
std::int64_t random_partner(std::int64_t i, const std::vector<std::int32_t>& modules, Rng& rng) {
  std::vector<std::int64_t> same, all;
  for (std::int64_t j = 0; j < static_cast<std::int64_t>(modules.size()); ++j) {
    if (j == i) continue;
    all.push_back(j);
    if (modules[static_cast<std::size_t>(j)] == modules[static_cast<std::size_t>(i)]) same.push_back(j);
  }
  const auto& from = same.empty() ? all : same;
  return from[rng.below(static_cast<std::uint32_t>(from.size()))];
}

double drawn_weight(const NmarConfig& c, Rng& rng) {
  while (true) {
    const double w = c.weight_mean + c.weight_sd * rng.normal();
    if (w != 0 || (c.weight_mean == 0 && c.weight_sd == 0)) return w;
  }
}

void permute_nodes(NmarNetwork& network, Rng& rng) {
  const std::int64_t n = network.nodes();
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(std::span(order));
  NmarNetwork out = network;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t from = order[static_cast<std::size_t>(i)];
    out.modules[static_cast<std::size_t>(i)] = network.modules[static_cast<std::size_t>(from)];
    for (std::int64_t j = 0; j < n; ++j) out.weights(i, j) = network.weights(from, order[static_cast<std::size_t>(j)]);
  }
  network = std::move(out);
}

template <Nonlinearity kKind>
double apply(double v) {
  if constexpr (kKind == Nonlinearity::kTanh) return std::tanh(v);
  if constexpr (kKind == Nonlinearity::kSigmoid) return 1.0 / (1.0 + std::exp(-v));
  if constexpr (kKind == Nonlinearity::kRelu) return v > 0 ? v : 0.0;
  return v;
}

// Steps the network; keeps the last states in a ring so that a sample is one weighted sum of them.
class Simulator {
 public:
  Simulator(const NmarNetwork& network, const NmarConfig& config, std::string_view stream)
      : config_(config),
        nodes_(network.nodes()),
        rng_(static_cast<std::uint64_t>(config.graph_seed), stream),
        module_rng_(static_cast<std::uint64_t>(config.graph_seed), std::string(stream) + "/modules") {
    compress(network.weights);
    set_taps();
    set_drive(network);
    if (config.module_drive > 0) {
      modules_ = network.modules;
      module_input_.resize(static_cast<std::size_t>(network.module_count));
      for (double& input : module_input_) input = config.module_drive * module_rng_.normal();
    }
    ring_ = MatrixD(static_cast<std::ptrdiff_t>(taps_.size()), nodes_);
    next_.resize(static_cast<std::size_t>(nodes_));
  }

  MatrixD run(std::int64_t samples) {
    MatrixD out(samples, nodes_);
    const auto warm = static_cast<std::int64_t>(taps_.size()) - config_.average;
    for (std::int64_t t = 0; t < config_.burn_in + warm; ++t) step();
    for (std::int64_t s = 0; s < samples; ++s) {
      for (std::int64_t a = 0; a < config_.average; ++a) step();
      check_bounded();
      sample(out.row(s));
    }
    return out;
  }

 private:
  void compress(const MatrixD& w) {
    starts_.push_back(0);
    for (std::int64_t i = 0; i < nodes_; ++i) {
      for (std::int64_t j = 0; j < nodes_; ++j) {
        if (w(i, j) == 0) continue;
        columns_.push_back(static_cast<std::int32_t>(j));
        values_.push_back(config_.gain * w(i, j));
      }
      starts_.push_back(static_cast<std::int64_t>(columns_.size()));
    }
  }

  // Filter and average in one: tap k weighs the state k steps back.
  void set_taps() {
    const std::vector<double> response = config_.hrf_tr > 0 ? hemodynamic_kernel(config_.hrf_tr) : std::vector<double>{1.0};
    const auto average = static_cast<std::size_t>(config_.average);
    taps_.assign(response.size() + average - 1, 0.0);
    for (std::size_t k = 0; k < response.size(); ++k) {
      for (std::size_t a = 0; a < average; ++a) taps_[k + a] += response[k] / static_cast<double>(average);
    }
  }

  void set_drive(const NmarNetwork& network) {
    drive_.assign(static_cast<std::size_t>(nodes_), config_.drive_modules.empty() ? config_.drive : 0.0);
    for (const double m : config_.drive_modules) {
      if (m != std::floor(m) || m < 0 || m >= static_cast<double>(network.module_count)) {
        throw ConfigError({.what = "nmar.drive_modules names a module that does not exist",
                           .where = "nmar.drive_modules",
                           .got = fmt::format("{}", m),
                           .expected = fmt::format("0 to {}", network.module_count - 1)});
      }
      for (std::size_t i = 0; i < drive_.size(); ++i) {
        if (network.modules[i] == static_cast<std::int32_t>(m)) drive_[i] = config_.drive;
      }
    }
  }

  void step() {
    switch (config_.nonlinearity) {
      case Nonlinearity::kTanh:
        return step_with<Nonlinearity::kTanh>();
      case Nonlinearity::kSigmoid:
        return step_with<Nonlinearity::kSigmoid>();
      case Nonlinearity::kRelu:
        return step_with<Nonlinearity::kRelu>();
      case Nonlinearity::kIdentity:
        return step_with<Nonlinearity::kIdentity>();
    }
  }

  // Four sums side by side: one alone waits for each addition (about 10 % at 360 nodes that all connect; beyond 1000
  // such nodes the weights no longer fit the cache and memory decides).
  double received(const double* x, std::size_t node) const {
    const auto first = static_cast<std::size_t>(starts_[node]), last = static_cast<std::size_t>(starts_[node + 1]);
    std::array<double, 4> sums{};
    std::size_t e = first;
    for (; e + 4 <= last; e += 4) {
      for (std::size_t k = 0; k < 4; ++k) sums[k] += values_[e + k] * x[columns_[e + k]];
    }
    for (; e < last; ++e) sums[0] += values_[e] * x[columns_[e]];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  // An autoregressive input a module, of the deviation and correlation time asked for.
  void step_module_input() {
    const double keep = std::exp(-1 / config_.module_drive_time);
    const double fresh = config_.module_drive * std::sqrt(1 - keep * keep);
    for (double& input : module_input_) input = keep * input + fresh * module_rng_.normal();
  }

  double input_of(std::size_t node, double phase) const {
    const double drive = phase * drive_[node];
    return modules_.empty() ? drive : drive + module_input_[static_cast<std::size_t>(modules_[node])];
  }

  template <Nonlinearity kKind>
  void step_with() {
    if (!module_input_.empty()) step_module_input();
    const double* x = ring_.row(current_).data();
    const double phase =
        config_.drive_period > 0 ? std::sin(2 * std::numbers::pi * static_cast<double>(time_) / config_.drive_period) : 1.0;
    for (std::int64_t i = 0; i < nodes_; ++i) {
      const double sum = input_of(static_cast<std::size_t>(i), phase) + received(x, static_cast<std::size_t>(i));
      next_[static_cast<std::size_t>(i)] = apply<kKind>(sum) + config_.noise * rng_.normal();
    }
    current_ = (current_ + 1) % ring_.rows();
    std::copy(next_.begin(), next_.end(), ring_.row(current_).begin());
    ++time_;
  }

  void sample(std::span<double> out) {
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t k = 0; k < taps_.size(); ++k) {
      const std::ptrdiff_t back = (current_ - static_cast<std::ptrdiff_t>(k) + ring_.rows()) % ring_.rows();
      const double* x = ring_.row(back).data();
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += taps_[k] * x[i];
    }
  }

  void check_bounded() const {
    for (const double v : ring_.row(current_)) {
      if (!(std::abs(v) < kDiverged)) {
        throw DataError(
            {.what = "the simulated network diverges",
             .where = fmt::format("step {}", time_),
             .got = fmt::format("|x| above {:g} with nmar.gain = {}, nmar.nonlinearity = {}", kDiverged, config_.gain,
                                kNonlinearityNames[static_cast<std::size_t>(config_.nonlinearity)]),
             .expected = "a spectral radius of g W below 1 for relu and identity",
             .hint = "set nmar.gain below 1, or nmar.nonlinearity=tanh"});
      }
    }
  }

  const NmarConfig& config_;
  std::int64_t nodes_;
  Rng rng_, module_rng_;
  std::vector<std::int32_t> modules_;  // empty without inputs of modules
  std::vector<double> module_input_;
  std::vector<std::int64_t> starts_;  // compressed rows of g W
  std::vector<std::int32_t> columns_;
  std::vector<double> values_;
  std::vector<double> taps_;
  std::vector<double> drive_;
  MatrixD ring_;  // (taps, N)
  std::ptrdiff_t current_ = 0;
  std::int64_t time_ = 0;
  std::vector<double> next_;
};

}  // namespace

NmarNetwork make_network(const NmarConfig& c) {
  NmarNetwork network;
  network.modules = module_labels(c);
  network.module_count = static_cast<std::int64_t>(c.sizes.size());
  const auto n = static_cast<std::int64_t>(network.modules.size());
  network.weights = MatrixD(n, n);
  const auto seed = static_cast<std::uint64_t>(c.graph_seed);
  Rng rng(seed, "nmar/graph");
  for (std::int64_t i = 0; i < n; ++i) {
    double total = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const double p =
          edge_probability(c, network.modules[static_cast<std::size_t>(i)], network.modules[static_cast<std::size_t>(j)]);
      if (i != j && rng.uniform() < p) network.weights(i, j) = drawn_weight(c, rng);
      total += std::abs(network.weights(i, j));
    }
    if (total == 0) {
      const std::int64_t j = random_partner(i, network.modules, rng);
      network.weights(i, j) = drawn_weight(c, rng);
      total = std::abs(network.weights(i, j));
    }
    if (total == 0) {
      throw ConfigError({.what = "all edge weights are zero",
                         .where = "nmar.weight_mean, nmar.weight_sd",
                         .got = "0 and 0",
                         .expected = "one of them above 0"});
    }
    for (std::int64_t j = 0; j < n; ++j) network.weights(i, j) /= total;
  }
  if (c.shuffle_nodes) {
    Rng order(seed, "nmar/order");
    permute_nodes(network, order);
  }
  return network;
}

double spectral_radius(const MatrixD& matrix, double scale) {
  LOCUS_CHECK(matrix.rows() == matrix.cols(), "a square matrix");
  Eigen::MatrixXd power = Eigen::Map<const Eigen::MatrixXd>(matrix.values().data(), matrix.rows(), matrix.cols());
  // power * exp(log_scale) = A^(2^k); |A^m|^(1/m) tends to the radius.
  double log_scale = 0;
  double estimate = 0;
  for (int k = 0; k <= 40; ++k) {
    const double norm = power.norm();
    if (norm == 0 || !std::isfinite(norm)) return 0;
    power /= norm;
    log_scale += std::log(norm);
    const double now = std::exp(log_scale / std::exp2(k));
    if (k > 8 && std::abs(now - estimate) <= 1e-9 * now) return std::abs(scale) * now;
    estimate = now;
    power = (power * power).eval();
    log_scale *= 2;
  }
  return std::abs(scale) * estimate;
}

std::vector<double> hemodynamic_kernel(double step_seconds) {
  LOCUS_CHECK(step_seconds > 0, "a positive step");
  constexpr double kSeconds = 32;
  std::vector<double> kernel;
  double total = 0;
  for (std::int64_t k = 0; static_cast<double>(k) * step_seconds <= kSeconds; ++k) {
    const double t = static_cast<double>(k) * step_seconds;
    const double peak = std::pow(t, 5) * std::exp(-t) / std::tgamma(6.0);
    const double undershoot = std::pow(t, 15) * std::exp(-t) / std::tgamma(16.0);
    kernel.push_back(peak - undershoot / 6.0);
    total += kernel.back();
  }
  if (total <= 0.01) {
    throw ConfigError({.what = "nmar.hrf_tr is too long a step for the haemodynamic response",
                       .where = "nmar.hrf_tr",
                       .got = fmt::format("{} s", step_seconds),
                       .expected = "a few seconds at most, e.g. 0.72"});
  }
  for (double& v : kernel) v /= total;
  return kernel;
}

MatrixD simulate(const NmarNetwork& network, const NmarConfig& config, std::string_view stream, std::int64_t samples) {
  return Simulator(network, config, stream).run(samples);
}

}  // namespace locus
