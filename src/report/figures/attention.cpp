#include "report/figures/attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analyze/results/attention.h"
#include "core/error.h"
#include "core/text.h"
#include "io/codec.h"
#include "io/npy.h"
#include "report/markup.h"
#include "report/matrix_panel.h"

namespace locus::report {
namespace {

constexpr std::size_t kMaxModels = 4;
constexpr std::int64_t kMaxExamples = 3;

std::vector<MatrixD> slices(const NdArray& array, std::size_t from, std::int64_t count, std::int64_t tokens) {
  std::vector<MatrixD> out;
  const auto size = static_cast<std::size_t>(tokens * tokens);
  for (std::int64_t k = 0; k < count; ++k) {
    MatrixD m(tokens, tokens);
    const std::size_t start = from + static_cast<std::size_t>(k) * size;
    std::copy_n(array.values.begin() + static_cast<std::ptrdiff_t>(start), size, m.values().begin());
    out.push_back(std::move(m));
  }
  return out;
}

const NdArray* find(const std::vector<NpzEntry>& entries, const std::string& name, std::size_t rank) {
  for (const NpzEntry& e : entries) {
    if (e.name == name && e.array.shape.size() == rank) return &e.array;
  }
  return nullptr;
}

void load_examples(const std::vector<NpzEntry>& entries, AttentionFigure::Model& model, std::int64_t tokens) {
  const NdArray* maps = find(entries, "examples.final", 5);
  if (maps == nullptr || maps->shape[1] != model.layers || maps->shape[2] != model.heads || maps->shape[3] != tokens ||
      maps->shape[4] != tokens)
    return;
  const NdArray* ids = find(entries, "example_tokens", 2);
  const NdArray* used = find(entries, "example_used", 2);
  const std::int64_t each = model.layers * model.heads;
  const int target = model.tokens.grid_cols;  // ids of the Latin squares: symbols 0..n-1, then the target; blank -1
  for (std::int64_t k = 0; k < std::min(kMaxExamples, maps->shape[0]); ++k) {
    AttentionFigure::Example example;
    example.maps = slices(*maps, static_cast<std::size_t>(k * each * tokens * tokens), each, tokens);
    const auto row = [&](const NdArray* a) { return a != nullptr && a->shape[0] > k && a->shape[1] == tokens; };
    for (std::int64_t t = 0; t < tokens && row(ids); ++t) {
      const double id = ids->values[static_cast<std::size_t>(k * tokens + t)];
      example.symbols.push_back(id == target ? -1 : static_cast<int>(std::clamp(id, -1.0, 99.0)) + 1);
    }
    for (std::int64_t t = 0; t < tokens && row(used); ++t)
      example.used.push_back(used->values[static_cast<std::size_t>(k * tokens + t)] > 0.5);
    model.examples.push_back(std::move(example));
  }
}

bool load_model(const Inputs& inputs, int group, AttentionFigure::Model& model) {
  const Group& g = inputs.groups[static_cast<std::size_t>(group)];
  model.run = median_run(inputs, g);
  const Run& run = inputs.run(model.run);
  const std::string path = analysis_arrays(run, AttentionResult::kName);
  if (path.empty()) return false;
  const std::vector<NpzEntry> entries = read_npz(path);
  const NdArray* mean = find(entries, "maps.final", 4);
  if (mean == nullptr || mean->shape[2] != mean->shape[3] || mean->shape[2] < 1) return false;
  const std::int64_t tokens = mean->shape[2];
  model.layers = static_cast<int>(mean->shape[0]);
  model.heads = static_cast<int>(mean->shape[1]);
  model.mean = slices(*mean, 0, mean->shape[0] * mean->shape[1], tokens);
  model.tokens = load_tokens(run, tokens);
  const std::int64_t read = run.config->model.readout_token;
  model.read_token = static_cast<int>(std::clamp<std::int64_t>(read < 0 ? tokens + read : read, 0, tokens - 1));
  model.label = g.runs.size() > 1 ? fmt::format("{} (seed {})", g.label, run.config->seed) : g.label;
  load_examples(entries, model, tokens);
  return true;
}

// The board of one puzzle, its cells shaded by weight (if any), symbols on top, used cells outlined.
Panel draw_board(const AttentionFigure::Model& model, const AttentionFigure::Example& example, const MatrixD* map,
                 const std::string& title) {
  const Tokens& tokens = model.tokens;
  const double cell = 270.0 / std::max(tokens.grid_rows, tokens.grid_cols);
  const double left = 6, top = 26;
  double largest = 0;
  for (int t = 0; map != nullptr && t < static_cast<int>(map->cols()); ++t)
    largest = std::max(largest, (*map)(model.read_token, t));
  Svg svg;
  svg.text({left, 15}, title, "ttl");
  for (int t = 0; t < static_cast<int>(tokens.coordinates.rows()); ++t) {
    const Box box{left + cell * tokens.coordinates(t, 1), top + cell * tokens.coordinates(t, 0), cell, cell};
    int index = 255;
    if (map != nullptr) {
      const double weight = (*map)(model.read_token, t);
      index = colour_index(weight, 0, largest);
      const Mark mark{.title = fmt::format("{}: weight {}", tokens.name(t), pretty(weight, 3)), .token = t, .value = weight};
      svg.rect_fill({box.x + 1, box.y + 1, cell - 2, cell - 2},
                    hex(colour_map(ColourMap::kSequential)[static_cast<std::size_t>(index)]), &mark);
    } else {
      const Mark mark{.title = tokens.name(t), .token = t};
      svg.rect({box.x + 1, box.y + 1, cell - 2, cell - 2}, "frame", &mark);
    }
    const auto i = static_cast<std::size_t>(t);
    if (i < example.used.size() && example.used[i])
      svg.rect({box.x + 2.5, box.y + 2.5, cell - 5, cell - 5}, "none s-c1 line");
    if (i < example.symbols.size() && example.symbols[i] != 0) {
      const std::string symbol = example.symbols[i] < 0 ? "?" : std::to_string(example.symbols[i]);
      svg.text({box.x + cell / 2, box.y + cell / 2 + 5}, symbol,
               map == nullptr ? "ttl"
               : index < 140  ? "ttl on-dark"
                              : "ttl on-light",
               Anchor::kMiddle);
    }
  }
  return {left + cell * tokens.grid_cols + 8, top + cell * tokens.grid_rows + 8, title, svg.body()};
}

MatrixSpec map_spec(const AttentionFigure::Model& model, const MatrixD& map, const std::string& id,
                    const std::string& title) {
  MatrixSpec spec;
  spec.figure = "attention";
  spec.id = id;
  spec.title = title;
  const std::vector<int> order = token_order(model.tokens, map.rows());
  spec.values = MatrixD(map.rows(), map.cols());
  for (std::ptrdiff_t r = 0; r < map.rows(); ++r) {
    for (std::ptrdiff_t c = 0; c < map.cols(); ++c)
      spec.values(r, c) = map(order[static_cast<std::size_t>(r)], order[static_cast<std::size_t>(c)]);
  }
  spec.tokens = order;
  spec.strips = token_strips(model.tokens, order);
  spec.map = ColourMap::kSequential;
  spec.lo = 0;
  // A few large weights would leave all others black.
  std::vector<double> weights(map.values().begin(), map.values().end());
  std::sort(weights.begin(), weights.end());
  spec.hi = map.rows() > kManyTokens ? weights[weights.size() - 1 - weights.size() / 100] : weights.back();
  if (!(spec.hi > 0)) spec.hi = 1;
  spec.bar_label = "weight";
  spec.size = 260;
  return spec;
}

void add_variant(Figure& figure, const AttentionFigure::Model& model, std::size_t m, int map, int example) {
  Variant variant;
  variant.choices = {{"run", model.label},
                     {"layer", std::to_string(map / model.heads + 1)},
                     {"head", std::to_string(map % model.heads + 1)}};
  const auto at = static_cast<std::size_t>(map);
  if (example < 0) {
    variant.choices.push_back({"example", "mean of all"});
    const MatrixSpec spec = map_spec(model, model.mean[at], fmt::format("m{}k{}", m, map), "Mean over examples");
    variant.panels.push_back(draw_matrix(spec));
    figure.matrices.push_back(matrix_data(spec));
  } else {
    const AttentionFigure::Example& e = model.examples[static_cast<std::size_t>(example)];
    variant.choices.push_back({"example", fmt::format("puzzle {}", example + 1)});
    if (!e.symbols.empty()) variant.panels.push_back(draw_board(model, e, nullptr, "Puzzle"));
    variant.panels.push_back(draw_board(model, e, &e.maps[at], "Weights of the token read out"));
    const MatrixSpec spec = map_spec(model, e.maps[at], fmt::format("m{}k{}e{}", m, map, example), "All weights");
    variant.panels.push_back(draw_matrix(spec));
    figure.matrices.push_back(matrix_data(spec));
  }
  figure.variants.push_back(std::move(variant));
}

}  // namespace

Found<AttentionFigure> collect_attention(const Inputs& inputs) {
  AttentionFigure data;
  std::string missing = "no run has the analysis attention (locus analyze makes it)";
  std::size_t most = kMaxModels;
  for (const int group : groups_of_interest(inputs)) {
    if (data.models.size() >= most) break;
    try {
      AttentionFigure::Model model;
      if (!load_model(inputs, group, model)) continue;
      if (model.mean[0].rows() > kManyTokens) most = std::min(most, kModelsOfManyTokens);
      data.models.push_back(std::move(model));
    } catch (const Error& error) {
      missing = error.what();
    }
  }
  if (data.models.empty()) return Found<AttentionFigure>::none(missing);
  return Found<AttentionFigure>::of(std::move(data));
}

Figure draw_attention(const AttentionFigure& data) {
  Figure figure{.name = "attention", .title = "Where attention goes"};
  bool boards = false;
  for (std::size_t m = 0; m < data.models.size(); ++m) {
    const AttentionFigure::Model& model = data.models[m];
    const int maps = std::min(model.layers * model.heads, model.mean[0].rows() > kManyTokens ? 4 : 32);
    for (int map = 0; map < maps; ++map) {
      // The first choice of a figure is what a reader sees: a puzzle where there are some.
      for (std::size_t e = 0; e < model.examples.size() && model.tokens.is_grid() && maps <= 8; ++e) {
        add_variant(figure, model, m, map, static_cast<int>(e));
        boards = true;
      }
      add_variant(figure, model, m, map, -1);
    }
    if (figure.token_names.empty()) {
      for (int t = 0; t < static_cast<int>(model.mean[0].rows()); ++t) figure.token_names.push_back(model.tokens.name(t));
    }
  }
  figure.token_labels = data.models[0].tokens.labels;
  figure.wide = true;
  figure.caption =
      "Rows are queries, columns keys; every row sums to 1. With many tokens the largest one in 100 weights have "
      "the last colour.";
  if (boards)
    figure.caption +=
        " On the board: weights of the token that is read out, with the puzzle's symbols; outlined cells are those the "
        "solver used.";
  figure.csv = csv_attention(data);
  return figure;
}

std::string csv_attention(const AttentionFigure& data) {
  std::string out = "run,layer,head,query,key,weight\n";
  for (const AttentionFigure::Model& model : data.models) {
    for (std::size_t k = 0; k < model.mean.size(); ++k) {
      const std::string cells[] = {model.label, std::to_string(static_cast<int>(k) / model.heads + 1),
                                   std::to_string(static_cast<int>(k) % model.heads + 1)};
      std::string head = csv_row(cells);
      head.back() = ',';
      for (std::ptrdiff_t r = 0; r < model.mean[k].rows(); ++r) {
        for (std::ptrdiff_t c = 0; c < model.mean[k].cols(); ++c)
          out += head + fmt::format("{},{},{}\n", r, c, shortest(model.mean[k](r, c)));
      }
    }
  }
  return out;
}

}  // namespace locus::report
