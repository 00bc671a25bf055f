#include "data/frames.h"

#include <fmt/core.h>

#include <cmath>

#include "core/error.h"
#include "core/hash.h"

namespace locus {

TokenStats token_stats(const MatrixD& frames) { return token_stats(std::vector<const MatrixD*>{&frames}); }

TokenStats token_stats(const std::vector<const MatrixD*>& runs) {
  LOCUS_CHECK(!runs.empty(), "statistics of no runs");
  const auto tokens = static_cast<std::size_t>(runs.front()->cols());
  TokenStats stats{std::vector<double>(tokens), std::vector<double>(tokens)};
  std::int64_t count = 0;
  for (const MatrixD* run : runs) {
    for (std::ptrdiff_t f = 0; f < run->rows(); ++f) {
      for (std::size_t t = 0; t < tokens; ++t) stats.mean[t] += run->row(f)[t];
    }
    count += run->rows();
  }
  LOCUS_CHECK(count > 0, "statistics of no frames");
  for (double& m : stats.mean) m /= static_cast<double>(count);
  for (const MatrixD* run : runs) {
    for (std::ptrdiff_t f = 0; f < run->rows(); ++f) {
      for (std::size_t t = 0; t < tokens; ++t) {
        const double d = run->row(f)[t] - stats.mean[t];
        stats.sd[t] += d * d;
      }
    }
  }
  for (double& s : stats.sd) s = std::sqrt(s / static_cast<double>(count));
  return stats;
}

std::optional<std::size_t> token_without_signal(const TokenStats& stats) {
  for (std::size_t t = 0; t < stats.sd.size(); ++t) {
    if (!std::isfinite(stats.sd[t]) || stats.sd[t] <= 1e-12 * std::abs(stats.mean[t])) return t;
  }
  return std::nullopt;
}

void scale_tokens(MatrixD& frames, const TokenStats& stats) {
  for (std::ptrdiff_t f = 0; f < frames.rows(); ++f) {
    const auto row = frames.row(f);
    for (std::size_t t = 0; t < row.size(); ++t) {
      row[t] = stats.sd[t] > 0 ? (row[t] - stats.mean[t]) / stats.sd[t] : 0.0;
    }
  }
}

void remove_linear_trend(MatrixD& frames) {
  const std::ptrdiff_t n = frames.rows();
  if (n < 2) return;
  const double centre = static_cast<double>(n - 1) / 2;
  double squares = 0;
  for (std::ptrdiff_t f = 0; f < n; ++f) squares += (static_cast<double>(f) - centre) * (static_cast<double>(f) - centre);
  const auto tokens = static_cast<std::size_t>(frames.cols());
  std::vector<double> mean(tokens), slope(tokens);
  for (std::ptrdiff_t f = 0; f < n; ++f) {
    for (std::size_t t = 0; t < tokens; ++t) {
      mean[t] += frames.row(f)[t] / static_cast<double>(n);
      slope[t] += frames.row(f)[t] * (static_cast<double>(f) - centre) / squares;
    }
  }
  for (std::ptrdiff_t f = 0; f < n; ++f) {
    for (std::size_t t = 0; t < tokens; ++t) {
      frames.row(f)[t] -= mean[t] + slope[t] * (static_cast<double>(f) - centre);
    }
  }
}

std::int64_t append_windows(Examples& examples, const MatrixD& frames, std::int64_t window, std::int32_t cluster) {
  const std::int64_t tokens = frames.cols();
  const std::int64_t added = frames.rows() / window;
  examples.values.reserve(examples.values.size() + static_cast<std::size_t>(added * tokens * window));
  for (std::int64_t s = 0; s < added; ++s) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      for (std::int64_t f = 0; f < window; ++f) examples.values.push_back(static_cast<float>(frames(s * window + f, t)));
    }
  }
  examples.cluster.insert(examples.cluster.end(), static_cast<std::size_t>(added), cluster);
  examples.count += added;
  return added;
}

std::string content_hash(const Dataset& dataset) {
  Sha256 hash;
  const auto add_matrix = [&hash](const std::string& name, const MatrixD& m) {
    hash.update(fmt::format("{} {}x{};", name, m.rows(), m.cols()));
    hash.update(std::as_bytes(std::span(m.values())));
  };
  hash.update(fmt::format("{} T={} F={} C={};", dataset.name, dataset.tokens, dataset.features, dataset.outputs));
  for (const auto& [name, e] : dataset.splits) {
    hash.update(fmt::format("{}={};", name, e.count));
    hash.update(std::as_bytes(std::span(e.ids)));
    hash.update(std::as_bytes(std::span(e.values)));
    hash.update(std::as_bytes(std::span(e.labels)));
    hash.update(std::as_bytes(std::span(e.targets)));
    hash.update(std::as_bytes(std::span(e.cluster)));
    hash.update(std::as_bytes(std::span(e.masks)));
  }
  const TokenInfo& info = dataset.tokens_info;
  for (const std::string& n : info.names) hash.update(n + ";");
  for (const std::string& n : info.label_names) hash.update(n + ";");
  hash.update(std::as_bytes(std::span(info.labels)));
  hash.update(std::as_bytes(std::span(info.hemispheres)));
  add_matrix("coordinates", info.coordinates);
  add_matrix("graph", info.graph);
  return hash.hex();
}

}  // namespace locus
