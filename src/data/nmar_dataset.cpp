// The simulated network as a data set: stability check, simulation, tokens with their true modules.
#include <fmt/core.h>

#include "core/error.h"
#include "core/text.h"
#include "data/connectivity.h"
#include "data/frames.h"
#include "data/masking.h"
#include "data/nmar.h"

namespace locus {
namespace {

// Linear systems at or beyond radius 1 have no stationary state, whatever the noise does in a finite run.
void check_stable(const NmarConfig& c, double radius) {
  if (c.nonlinearity != Nonlinearity::kIdentity || radius < 1) return;
  throw DataError({.what = "the linear network has no stable state",
                   .where = "nmar.gain",
                   .got = fmt::format("spectral radius of g W = {:.4f} at nmar.gain = {}", radius, c.gain),
                   .expected = "below 1",
                   .hint = fmt::format("set nmar.gain below {:.3f}, or nmar.nonlinearity=tanh", c.gain / radius)});
}

void describe_tokens(Dataset& data, const NmarNetwork& network, std::int64_t neighbours) {
  TokenInfo& info = data.tokens_info;
  const std::int64_t n = network.nodes();
  for (std::int64_t i = 0; i < n; ++i) info.names.push_back(fmt::format("node{:03d}", i));
  info.labels = network.modules;
  for (std::int64_t m = 0; m < network.module_count; ++m) info.label_names.push_back(fmt::format("module{}", m));
  MatrixD symmetric(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) symmetric(i, j) = network.weights(i, j) + network.weights(j, i);
  }
  MatrixD correlation = token_moments(data.split("train"), data.tokens, data.features).correlation();
  info.graph = neighbour_graph(correlation, neighbours);
  info.truths["W"] = std::move(symmetric);
  info.truths["W_raw"] = network.weights;
  info.truths["modules"] = same_label_matrix(info.labels);
  info.truths["correlation"] = std::move(correlation);
}

void describe_data(Dataset& data, const RunConfig& config, double radius) {
  const NmarConfig& c = config.nmar;
  std::vector<std::string> sizes;
  for (const double s : c.sizes) sizes.push_back(shortest(s));
  auto& d = data.description;
  d["source"] = "nmar simulation";
  d["nodes"] = fmt::format("{}", data.tokens);
  d["modules"] = join(sizes, " + ");
  d["spectral_radius"] = fmt::format("{:.6f}", radius);
  d["nonlinearity"] = std::string(kNonlinearityNames[static_cast<std::size_t>(c.nonlinearity)]);
  d["steps_per_sample"] = fmt::format("{}", c.average);
  d["hrf_tr"] = shortest(c.hrf_tr);
  d["zscore"] = std::string(kZScoreNames[static_cast<std::size_t>(config.series.zscore)]);
  d["window"] = fmt::format("{}", config.series.window);
  for (const auto& [name, e] : data.splits) d["samples." + name] = fmt::format("{}", e.count);
}

}  // namespace

Dataset make_nmar_dataset(const RunConfig& config) {
  const NmarConfig& c = config.nmar;
  const NmarNetwork network = make_network(c);
  const double radius = spectral_radius(network.weights, c.gain);
  check_stable(c, radius);
  Dataset data;
  data.name = "nmar";
  data.task = "masked";
  data.tokens = network.nodes();
  data.features = data.outputs = config.series.window;
  TokenStats stats;
  const std::pair<const char*, std::int64_t> splits[] = {
      {"train", c.train_samples}, {"validation", c.validation_samples}, {"test", c.test_samples}};
  for (const auto& [name, samples] : splits) {
    if (samples == 0) continue;
    MatrixD frames = simulate(network, c, std::string("nmar/noise/") + name, samples * data.features);
    if (config.series.zscore == ZScore::kRun || (config.series.zscore == ZScore::kTrain && data.splits.empty())) {
      stats = token_stats(frames);
      if (const auto node = token_without_signal(stats)) {
        throw DataError({.what = "a node of the simulated network does not vary",
                         .where = "nmar",
                         .got = fmt::format("node {}, noise {:g}", *node + 1, c.noise),
                         .expected = "activity that changes in time",
                         .hint = "give it noise (nmar.noise) or another input"});
      }
    }
    if (config.series.zscore != ZScore::kNone) scale_tokens(frames, stats);
    Examples examples;
    append_windows(examples, frames, data.features, 0);
    examples.cluster.clear();
    data.splits.emplace_back(name, std::move(examples));
  }
  describe_tokens(data, network, config.series.graph_neighbours);
  describe_data(data, config, radius);
  fill_evaluation_masks(data, config.mask);
  data.hash = content_hash(data);
  return data;
}

}  // namespace locus
