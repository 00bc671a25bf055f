#include "data/nmar.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "config/load.h"
#include "core/error.h"
#include "core/rng.h"
#include "data/baselines.h"
#include "data/connectivity.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

NmarConfig small_config() {
  NmarConfig c;
  c.sizes = {4, 5, 6};
  c.burn_in = 7;
  c.average = 3;
  c.train_samples = 200;
  c.validation_samples = 50;
  c.test_samples = 60;
  return c;
}

RunConfig small_run() {
  RunConfig config;
  config.study = "masked";
  config.nmar = small_config();
  return config;
}

double activation(Nonlinearity f, double v) {
  switch (f) {
    case Nonlinearity::kTanh:
      return std::tanh(v);
    case Nonlinearity::kSigmoid:
      return 1 / (1 + std::exp(-v));
    case Nonlinearity::kRelu:
      return std::max(0.0, v);
    case Nonlinearity::kIdentity:
      return v;
  }
  return 0;
}

// The whole path of states by plain loops, then filter and average by their definitions.
MatrixD naive_simulation(const NmarNetwork& net, const NmarConfig& c, const char* stream, std::int64_t samples) {
  const std::vector<double> kernel = c.hrf_tr > 0 ? hemodynamic_kernel(c.hrf_tr) : std::vector<double>{1.0};
  const auto lead = static_cast<std::int64_t>(kernel.size()) - 1;
  const std::int64_t n = net.nodes();
  const std::int64_t steps = c.burn_in + lead + samples * c.average;
  Rng rng(static_cast<std::uint64_t>(c.graph_seed), stream);
  MatrixD x(steps + 1, n);
  Rng module_rng(static_cast<std::uint64_t>(c.graph_seed), std::string(stream) + "/modules");
  std::vector<double> input(c.sizes.size(), 0.0);
  for (double& v : input) v = c.module_drive * module_rng.normal();
  const double keep = std::exp(-1 / c.module_drive_time);
  for (std::int64_t t = 0; t < steps; ++t) {
    for (double& v : input) v = keep * v + c.module_drive * std::sqrt(1 - keep * keep) * module_rng.normal();
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j) sum += net.weights(i, j) * x(t, j);
      const double drive = c.drive + input[static_cast<std::size_t>(net.modules[static_cast<std::size_t>(i)])];
      x(t + 1, i) = activation(c.nonlinearity, c.gain * sum + drive) + c.noise * rng.normal();
    }
  }
  MatrixD out(samples, n);
  for (std::int64_t s = 0; s < samples; ++s) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t a = 0; a < c.average; ++a) {
        const std::int64_t t = 1 + c.burn_in + lead + s * c.average + a;
        for (std::int64_t k = 0; k <= lead; ++k) {
          out(s, i) += kernel[static_cast<std::size_t>(k)] * x(t - k, i) / static_cast<double>(c.average);
        }
      }
    }
  }
  return out;
}

TEST(NmarTest, simulation_agrees_with_a_plain_loop_for_every_nonlinearity) {
  for (int f = 0; f < 4; ++f) {
    for (const double hrf : {0.0, 1.5}) {
      NmarConfig c = small_config();
      c.nonlinearity = static_cast<Nonlinearity>(f);
      c.hrf_tr = hrf;
      c.drive = 0.1;
      c.module_drive = f % 2 == 0 ? 0.5 : 0.0;
      const NmarNetwork net = make_network(c);
      const MatrixD fast = simulate(net, c, "s", 40);
      const MatrixD slow = naive_simulation(net, c, "s", 40);
      for (std::size_t i = 0; i < fast.values().size(); ++i) ASSERT_NEAR(fast.values()[i], slow.values()[i], 1e-12);
    }
  }
}

// A predictor that knows the modules: the mean of a node in training, given how many nodes of its module are seen and what
// they add up to (in steps of 0.5).
class ModuleOracle {
 public:
  explicit ModuleOracle(const Dataset& d) : d_(d) {
    visit(d.split("train"), [&](const Key& key, double value) {
      Mean& m = means_[key];
      m.sum += value;
      ++m.count;
    });
  }
  double error(const Examples& e) const {
    double squares = 0, count = 0;
    visit(e, [&](const Key& key, double value) {
      const auto found = means_.find(key);
      const double guess = found == means_.end() ? 0 : found->second.sum / found->second.count;
      squares += (value - guess) * (value - guess);
      ++count;
    });
    return squares / count;
  }

 private:
  using Key = std::pair<int, int>;  // nodes seen, their sum
  struct Mean {
    double sum = 0, count = 0;
  };
  void visit(const Examples& e, const std::function<void(const Key&, double)>& with) const {
    const auto at = [&](std::int64_t s, std::int64_t t) { return static_cast<std::size_t>(s * d_.tokens + t); };
    for (std::int64_t s = 0; s < e.count; ++s) {
      std::map<std::int32_t, std::pair<int, double>> seen;
      for (std::int64_t t = 0; t < d_.tokens; ++t) {
        if (e.masks[at(s, t)] != 0) continue;
        auto& [count, sum] = seen[d_.tokens_info.labels[static_cast<std::size_t>(t)]];
        ++count;
        sum += static_cast<double>(e.values[at(s, t)]);
      }
      for (std::int64_t t = 0; t < d_.tokens; ++t) {
        if (e.masks[at(s, t)] == 0) continue;
        const auto& [count, sum] = seen[d_.tokens_info.labels[static_cast<std::size_t>(t)]];
        with({count, static_cast<int>(std::floor(sum / 0.5))}, static_cast<double>(e.values[at(s, t)]));
      }
    }
  }
  const Dataset& d_;
  std::map<Key, Mean> means_;
};

// Error of the oracle over that of ridge, on the same masks.
double oracle_over_ridge(const std::string& file, std::int64_t graph) {
  RunConfig config;
  load_toml_file(config, locus::test::source_dir() + "/configs/nmar/" + file);
  config.nmar.graph_seed = graph;
  const Dataset d = make_nmar_dataset(config);
  ThreadPool pool(1);
  const double ridge = compute_baselines(d, {}, pool).find("test", "ridge")->error;
  const double oracle = ModuleOracle(d).error(d.split("test"));
  ::testing::Test::RecordProperty("ridge_" + file, std::to_string(ridge));
  ::testing::Test::RecordProperty("oracle_" + file, std::to_string(oracle));
  return oracle / ridge;
}

TEST(NmarTest, in_the_nonlinear_network_knowing_the_modules_beats_ridge_and_in_the_default_one_it_does_not) {
  for (const std::int64_t graph : {1, 2, 3}) EXPECT_LT(oracle_over_ridge("nonlinear.toml", graph), 0.92) << graph;
  EXPECT_GT(oracle_over_ridge("default.toml", 1), 1.0);
}

TEST(NmarTest, rows_sum_to_one_and_every_node_receives_something) {
  NmarConfig c = small_config();
  c.sizes = {3, 1, 6};
  c.p_in = 0.05;
  c.p_out = 0;
  const NmarNetwork net = make_network(c);
  for (std::int64_t i = 0; i < net.nodes(); ++i) {
    double sum = 0;
    for (const double w : net.weights.row(i)) sum += w;
    EXPECT_NEAR(sum, 1.0, 1e-12);
    EXPECT_EQ(net.weights(i, i), 0.0);
  }
}

TEST(NmarTest, edge_densities_are_those_asked_for_and_the_hub_module_differs) {
  NmarConfig c;
  c.sizes = {100, 100, 100};
  c.hub_module = 1;
  c.hub_p_out = 0.3;
  const NmarNetwork net = make_network(c);
  double in = 0, out = 0, hub = 0;
  for (std::int64_t i = 0; i < 300; ++i) {
    for (std::int64_t j = 0; j < 300; ++j) {
      if (i == j || net.weights(i, j) == 0) continue;
      const auto a = net.modules[static_cast<std::size_t>(i)], b = net.modules[static_cast<std::size_t>(j)];
      (a == b ? in : (a == 1 || b == 1) ? hub : out) += 1;
    }
  }
  EXPECT_NEAR(in / (3 * 100 * 99), 0.5, 0.02);
  EXPECT_NEAR(out / (2 * 100 * 100), 0.02, 0.005);
  EXPECT_NEAR(hub / (4 * 100 * 100), 0.3, 0.02);
}

TEST(NmarTest, shuffling_moves_nodes_but_keeps_the_graph) {
  NmarConfig c = small_config();
  const NmarNetwork shuffled = make_network(c);
  c.shuffle_nodes = false;
  const NmarNetwork plain = make_network(c);
  EXPECT_NE(shuffled.modules, plain.modules);
  std::multiset<double> a, b;
  for (std::int64_t i = 0; i < plain.nodes(); ++i) {
    for (std::int64_t j = 0; j < plain.nodes(); ++j) {
      const bool same = plain.modules[static_cast<std::size_t>(i)] == plain.modules[static_cast<std::size_t>(j)];
      const bool same_s = shuffled.modules[static_cast<std::size_t>(i)] == shuffled.modules[static_cast<std::size_t>(j)];
      if (same) a.insert(plain.weights(i, j));
      if (same_s) b.insert(shuffled.weights(i, j));
    }
  }
  EXPECT_EQ(a, b);
}

TEST(NmarTest, spectral_radius_agrees_with_the_eigenvalues) {
  Rng rng(3, "radius");
  for (const std::ptrdiff_t n : {2, 7, 30}) {
    MatrixD m(n, n);
    for (double& v : m.values()) v = rng.normal();
    const Eigen::MatrixXd e = Eigen::Map<Eigen::MatrixXd>(m.values().data(), n, n);
    const double expected = 0.7 * e.eigenvalues().cwiseAbs().maxCoeff();
    EXPECT_NEAR(spectral_radius(m, 0.7), expected, 1e-6 * expected);
  }
  MatrixD nilpotent(3, 3);
  nilpotent(0, 1) = nilpotent(1, 2) = 5;
  EXPECT_EQ(spectral_radius(nilpotent, 1), 0.0);
  EXPECT_NEAR(spectral_radius(make_network(small_config()).weights, 0.8), 0.8, 1e-7);
}

TEST(NmarTest, divergence_is_an_error_that_names_the_gain) {
  RunConfig config = small_run();
  config.nmar.gain = 1.5;
  config.nmar.nonlinearity = Nonlinearity::kRelu;
  try {
    make_nmar_dataset(config);
    FAIL() << "no error";
  } catch (const DataError& e) {
    EXPECT_NE(std::string(e.what()).find("nmar.gain"), std::string::npos);
  }
  config.nmar.nonlinearity = Nonlinearity::kIdentity;
  EXPECT_THROW(make_nmar_dataset(config), DataError);
  config.nmar.nonlinearity = Nonlinearity::kTanh;
  EXPECT_NO_THROW(make_nmar_dataset(config));
}

TEST(NmarTest, the_same_seed_gives_the_same_data_and_splits_are_independent_runs) {
  const RunConfig config = small_run();
  const Dataset a = make_nmar_dataset(config), b = make_nmar_dataset(config);
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_EQ(a.split("train").values, b.split("train").values);
  RunConfig other = config;
  other.nmar.graph_seed = 2;
  EXPECT_NE(make_nmar_dataset(other).hash, a.hash);
  other = config;
  other.seed = 99;
  EXPECT_EQ(make_nmar_dataset(other).hash, a.hash) << "the run's seed must not change the data";
  EXPECT_EQ(a.splits.front().first, "train");
  EXPECT_EQ(a.split("test").count, 60);
  EXPECT_NE(a.split("train").values[0], a.split("test").values[0]);
}

TEST(NmarTest, values_are_scaled_as_asked) {
  RunConfig config = small_run();
  const auto second_moment = [](const Dataset& d, const char* split) {
    const Moments m = token_moments(d.split(split), d.tokens, d.features);
    return m.products(0, 0) / static_cast<double>(m.count);
  };
  EXPECT_NEAR(second_moment(make_nmar_dataset(config), "test"), 1.0, 1e-5);
  config.series.zscore = ZScore::kTrain;
  const Dataset by_train = make_nmar_dataset(config);
  EXPECT_NEAR(second_moment(by_train, "train"), 1.0, 1e-5);
  EXPECT_GT(std::abs(second_moment(by_train, "test") - 1.0), 1e-4);
  config.series.zscore = ZScore::kNone;
  EXPECT_LT(second_moment(make_nmar_dataset(config), "train"), 0.7);
}

TEST(NmarTest, truths_and_windows_have_their_shapes) {
  RunConfig config = small_run();
  config.series.window = 4;
  const Dataset d = make_nmar_dataset(config);
  EXPECT_EQ(d.tokens, 15);
  EXPECT_EQ(d.features, 4);
  EXPECT_EQ(d.outputs, 4);
  EXPECT_EQ(d.split("train").values.size(), 200u * 15 * 4);
  EXPECT_EQ(d.split("train").masks.size(), 200u * 15);
  for (const char* name : {"W", "W_raw", "modules", "correlation"}) {
    ASSERT_TRUE(d.tokens_info.truths.contains(name)) << name;
    EXPECT_EQ(d.tokens_info.truths.at(name).rows(), 15);
  }
  EXPECT_EQ(d.tokens_info.truths.at("W")(2, 5), d.tokens_info.truths.at("W")(5, 2));
  config.series.window = 1;
  config.nmar.train_samples = 800;
  const Dataset flat = make_nmar_dataset(config);
  for (std::size_t t = 0; t < 15; ++t) {
    for (std::size_t f = 0; f < 4; ++f) {
      EXPECT_EQ(d.split("train").values[(15 + t) * 4 + f], flat.split("train").values[(4 + f) * 15 + t]);
    }
  }
}

TEST(NmarTest, correlations_are_higher_within_modules) {
  RunConfig config = small_run();
  config.nmar.sizes = {10, 10, 10};
  config.nmar.train_samples = 4000;
  const Dataset d = make_nmar_dataset(config);
  const MatrixD& r = d.tokens_info.truths.at("correlation");
  const MatrixD& same = d.tokens_info.truths.at("modules");
  double within = 0, between = 0;
  for (std::int64_t i = 0; i < 30; ++i) {
    for (std::int64_t j = 0; j < i; ++j) (same(i, j) > 0 ? within : between) += r(i, j);
  }
  EXPECT_GT(within / 135, between / 300 + 0.1);
}

}  // namespace
}  // namespace locus
