#include "report/tokens.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>

#include "analyze/results/networks.h"
#include "core/error.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "report/markup.h"
#include "report/theme.h"
#include "run/dataset_info.h"
#include "run/layout.h"
#include "stats/matrix_correlation.h"

namespace locus::report {
namespace {

namespace fs = std::filesystem;

// Report pictures need no more; a larger file is not one of ours.
constexpr ReadLimits kLimits{.file_bytes = std::uint64_t{2} << 30, .array_bytes = std::uint64_t{1} << 30};

MatrixD to_matrix(const Tensor& tensor, const std::string& where) {
  if (tensor.shape.size() != 2) {
    throw DataError({.what = "a matrix is needed",
                     .where = where,
                     .got = tensor.name + " " + shape_text(tensor.shape),
                     .expected = "two axes",
                     .hint = ""});
  }
  MatrixD m(tensor.shape[0], tensor.shape[1]);
  m.values() = tensor.to_doubles();
  return m;
}

std::optional<ModelView> load_view(const Inputs& inputs, int group) {
  const Group& g = inputs.groups[static_cast<std::size_t>(group)];
  ModelView view;
  view.group = group;
  view.run = median_run(inputs, g);
  const Run& run = inputs.run(view.run);
  view.learned = load_tables(run, run_files::kFinal);
  if (view.learned.empty() || view.learned[0].rows() < 2) return std::nullopt;
  view.initial = load_tables(run, run_files::kInit);
  if (view.initial.size() != view.learned.size()) view.initial.clear();
  view.label = g.runs.size() > 1 ? fmt::format("{} (seed {})", g.label, inputs.config(view.run).seed) : g.label;
  view.tokens = load_tokens(run, view.learned[0].rows());
  return view;
}

// Channel layout of docs/model.md: axis x owns 2 floor(C / 2X) channels, sines and cosines in turn.
MatrixD sinusoid(const MatrixD& coordinates, std::ptrdiff_t channels) {
  MatrixD table(coordinates.rows(), channels);
  const std::ptrdiff_t own = 2 * (channels / (2 * coordinates.cols()));
  for (std::ptrdiff_t t = 0; t < table.rows(); ++t) {
    for (std::ptrdiff_t x = 0; x < coordinates.cols(); ++x) {
      for (std::ptrdiff_t i = 0; i < own / 2; ++i) {
        const double angle = coordinates(t, x) * std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(own));
        table(t, x * own + 2 * i) = std::sin(angle);
        table(t, x * own + 2 * i + 1) = std::cos(angle);
      }
    }
  }
  return table;
}

}  // namespace

std::vector<int> groups_of_interest(const Inputs& inputs) {
  std::vector<int> learned, others, order;
  for (std::size_t i = 0; i < inputs.groups.size(); ++i) {
    (inputs.groups[i].sigma ? learned : others).push_back(static_cast<int>(i));
  }
  const auto mean = [&](int g) {
    const double v =
        inputs.measure
            ? mean_over_runs(values_of(inputs, inputs.groups[static_cast<std::size_t>(g)], inputs.measure->key()), 0).value
            : 0;
    return std::isfinite(v) ? (inputs.measure->higher_is_better ? v : -v) : -1e300;
  };
  const auto add = [&](int g) {
    if (std::find(order.begin(), order.end(), g) == order.end()) order.push_back(g);
  };
  if (inputs.measure && !learned.empty()) {
    add(*std::max_element(learned.begin(), learned.end(), [&](int a, int b) { return mean(a) < mean(b); }));
  }
  if (!learned.empty()) add(learned.back());
  for (const int g : others) add(g);
  for (const int g : learned) add(g);
  return order;
}

std::string Tokens::name(int token) const {
  const auto i = static_cast<std::size_t>(token);
  if (i < names.size() && !names[i].empty()) return names[i];
  if (is_grid()) return fmt::format("row {} column {}", coordinates(token, 0) + 1, coordinates(token, 1) + 1);
  return fmt::format("token {}", token + 1);
}

std::string Tokens::label(int token) const {
  if (labels.empty()) return "";
  const int label = labels[static_cast<std::size_t>(token)];
  const auto i = static_cast<std::size_t>(label);
  return label >= 0 && i < label_names.size() ? label_names[i] : fmt::format("group {}", label + 1);
}

Tokens load_tokens(const Run& run, std::ptrdiff_t count) {
  Tokens tokens;
  const fs::path path = fs::path(run.path) / run_files::kDataset;
  std::error_code code;
  if (!fs::exists(path, code)) return tokens;
  static_cast<TokenInfo&>(tokens) = read_dataset_info(path);
  for (std::string& name : tokens.names) name = shorten(name, 60);
  for (std::string& name : tokens.label_names) name = shorten(name, 60);
  if (static_cast<std::ptrdiff_t>(tokens.labels.size()) != count) tokens.labels.clear();
  std::map<std::string, MatrixD> truths;
  for (auto& [name, matrix] : tokens.truths) {
    if (matrix.rows() == count && matrix.cols() == count) truths[shorten(name, 40)] = std::move(matrix);
  }
  tokens.truths = std::move(truths);
  if (tokens.coordinates.rows() != count) tokens.coordinates = MatrixD();
  const std::vector<std::int64_t> extents =
      tokens.coordinates.rows() == count ? grid_extents(tokens) : std::vector<std::int64_t>{};
  if (extents.size() == 2) {
    tokens.grid_rows = static_cast<int>(extents[0]);
    tokens.grid_cols = static_cast<int>(extents[1]);
  }
  return tokens;
}

std::vector<MatrixD> load_tables(const Run& run, const std::string& stage) {
  const fs::path path = fs::path(run.path) / stage / run_files::kModel;
  std::error_code code;
  if (!fs::exists(path, code)) return {};
  const TensorFile file = read_safetensors(path, kLimits);
  std::vector<MatrixD> tables;
  if (const Tensor* shared = file.find("pe.table")) tables.push_back(to_matrix(*shared, path.string()));
  for (int l = 0; l < 1000; ++l) {
    const Tensor* own = file.find(fmt::format("blocks.{}.pe.table", l));
    if (own == nullptr) break;
    tables.push_back(to_matrix(*own, path.string()));
    if (tables.back().rows() != tables[0].rows()) {
      throw DataError({.what = "tables of unlike length",
                       .where = path.string(),
                       .got = own->name,
                       .expected = "the same tokens in every block",
                       .hint = ""});
    }
  }
  return tables;
}

std::vector<std::vector<int>> load_communities(const Run& run, std::ptrdiff_t tokens) {
  const std::string path = analysis_arrays(run, NetworkResult::kName);
  if (path.empty()) return {};
  std::map<int, std::vector<int>> by_layer;
  for (const NpzEntry& entry : read_npz(path)) {
    for (int l = 0; l < 12; ++l) {
      if (entry.name != fmt::format("communities.final.{}.centred", l)) continue;
      if (static_cast<std::ptrdiff_t>(entry.array.values.size()) != tokens) continue;
      for (const double v : entry.array.values) by_layer[l].push_back(static_cast<int>(std::clamp(v, 0.0, 1e6)));
    }
  }
  std::vector<std::vector<int>> layers;
  for (auto& [l, values] : by_layer) layers.push_back(std::move(values));
  return layers;
}

std::vector<ModelView> representative_models(const Inputs& inputs, std::size_t limit, std::string& missing) {
  std::vector<ModelView> views;
  missing = fmt::format("no run has {}/{} with an encoding table (pe.kind learned or sinusoidal)", run_files::kFinal,
                        run_files::kModel);
  for (const int group : groups_of_interest(inputs)) {
    if (views.size() >= limit) break;
    try {
      std::optional<ModelView> view = load_view(inputs, group);
      if (!view) continue;
      if (view->learned[0].rows() > kManyTokens) limit = std::min(limit, kModelsOfManyTokens);
      views.push_back(std::move(*view));
    } catch (const Error& error) {
      missing = error.what();
    }
  }
  return views;
}

std::vector<int> token_order(const Tokens& tokens, std::ptrdiff_t count) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  if (!tokens.labels.empty()) {
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return tokens.labels[static_cast<std::size_t>(a)] < tokens.labels[static_cast<std::size_t>(b)];
    });
  }
  return order;
}

std::vector<std::vector<std::string>> token_strips(const Tokens& tokens, const std::vector<int>& order) {
  std::vector<std::vector<std::string>> strips;
  if (!tokens.labels.empty()) {
    strips.emplace_back();
    for (const int t : order) strips[0].push_back(category_class(tokens.labels[static_cast<std::size_t>(t)]));
  } else if (tokens.is_grid()) {
    strips.resize(2);
    for (const int t : order) {
      strips[0].push_back(ramp_class(static_cast<int>(tokens.coordinates(t, 0)), tokens.grid_rows));
      strips[1].push_back(ramp_class(static_cast<int>(tokens.coordinates(t, 1)), tokens.grid_cols));
    }
  }
  return strips;
}

std::string token_class(const Tokens& tokens, int token) {
  if (!tokens.labels.empty()) return category_class(tokens.labels[static_cast<std::size_t>(token)]);
  if (tokens.is_grid()) return ramp_class(static_cast<int>(tokens.coordinates(token, 0)), tokens.grid_rows);
  return "c0";
}

Shape token_shape(const Tokens& tokens, int token) {
  int index = 0;
  if (!tokens.labels.empty())
    index = tokens.labels[static_cast<std::size_t>(token)];
  else if (tokens.is_grid())
    index = static_cast<int>(tokens.coordinates(token, 1));
  return category_shape(index);
}

std::vector<LegendEntry> token_legend(const Tokens& tokens) {
  std::vector<LegendEntry> legend;
  std::set<int> seen;
  if (!tokens.labels.empty()) {
    std::map<int, int> first;
    for (std::size_t t = 0; t < tokens.labels.size(); ++t) first.emplace(tokens.labels[t], static_cast<int>(t));
    for (const auto& [label, t] : first) {
      if (legend.size() == 24) break;
      legend.push_back({.label = tokens.label(t),
                        .css = category_class(label),
                        .mark = LegendMark::kPoint,
                        .shape = token_shape(tokens, t),
                        .token_label = label});
    }
  } else if (tokens.is_grid()) {
    for (int r = 0; r < tokens.grid_rows && r < 12; ++r) {
      legend.push_back(
          {.label = fmt::format("row {}", r + 1), .css = ramp_class(r, tokens.grid_rows), .mark = LegendMark::kPoint});
    }
  }
  return legend;
}

std::vector<Truth> known_truths(const Tokens& tokens, std::ptrdiff_t channels) {
  std::vector<Truth> truths;
  for (const auto& [name, values] : tokens.truths) truths.push_back({name, values});
  if (truths.empty() && tokens.is_grid() && channels >= 4) {
    const MatrixD table = sinusoid(tokens.coordinates, channels);
    truths.push_back({"2-D sinusoid", stats::cosine_similarity(table.view())});
  }
  return truths;
}

}  // namespace locus::report
