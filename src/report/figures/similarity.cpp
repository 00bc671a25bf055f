#include "report/figures/similarity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/markup.h"
#include "report/matrix_panel.h"
#include "stats/matrix_correlation.h"

namespace locus::report {
namespace {

MatrixD reordered(const MatrixD& m, const std::vector<int>& order) {
  MatrixD out(m.rows(), m.cols());
  for (std::ptrdiff_t r = 0; r < m.rows(); ++r) {
    for (std::ptrdiff_t c = 0; c < m.cols(); ++c)
      out(r, c) = m(order[static_cast<std::size_t>(r)], order[static_cast<std::size_t>(c)]);
  }
  return out;
}

bool all_finite(const MatrixD& m) {
  return std::all_of(m.values().begin(), m.values().end(), [](double v) { return std::isfinite(v); });
}

struct Shared {
  std::vector<int> order;
  std::vector<std::vector<std::string>> strips;
};

MatrixSpec spec_of(const Shared& shared, std::string id, std::string title, const MatrixD& values) {
  MatrixSpec spec;
  spec.figure = "similarity";
  spec.id = std::move(id);
  spec.title = std::move(title);
  spec.values = reordered(values, shared.order);
  spec.tokens = shared.order;
  spec.strips = shared.strips;
  spec.bar_label = "cosine";
  fit_colours(spec);
  return spec;
}

void add_panel(Figure& figure, Variant& variant, MatrixSpec spec, bool with_data) {
  variant.panels.push_back(draw_matrix(spec));
  if (with_data) figure.matrices.push_back(matrix_data(spec));
}

}  // namespace

Found<Similarity> collect_similarity(const Inputs& inputs) {
  std::string missing;
  Similarity data;
  for (ModelView& view : representative_models(inputs, 6, missing)) {
    Similarity::Model model{view.run, view.label, view.tokens, {}, known_truths(view.tokens, view.learned[0].cols())};
    for (std::size_t l = 0; l < view.learned.size(); ++l) {
      if (!all_finite(view.learned[l])) break;
      Similarity::Layer layer;
      layer.learned = stats::cosine_similarity(view.learned[l].view());
      if (!view.initial.empty() && all_finite(view.initial[l]))
        layer.initial = stats::cosine_similarity(view.initial[l].view());
      for (const Truth& truth : model.truths) {
        layer.with_truth.push_back(
            all_finite(truth.values) ? stats::matrix_correlation(layer.learned.view(), truth.values.view()).r : NAN);
      }
      model.layers.push_back(std::move(layer));
    }
    if (!model.layers.empty()) data.models.push_back(std::move(model));
  }
  if (data.models.empty()) return Found<Similarity>::none(missing);
  return Found<Similarity>::of(std::move(data));
}

Figure draw_similarity(const Similarity& data) {
  Figure figure{.name = "similarity", .title = "Similarity of the encoding's rows: initial, learned, truth"};
  for (std::size_t m = 0; m < data.models.size(); ++m) {
    const Similarity::Model& model = data.models[m];
    const std::ptrdiff_t count = model.layers[0].learned.rows();
    const Shared shared{token_order(model.tokens, count), token_strips(model.tokens, token_order(model.tokens, count))};
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      const Similarity::Layer& layer = model.layers[l];
      Variant variant;
      variant.choices = {{"run", model.label}, {"layer", std::to_string(l + 1)}};
      // Pictures of many tokens are large and the initial ones are noise alike: only the first layer's is kept.
      if (layer.initial.rows() > 0 && (count <= kManyTokens || l == 0)) {
        MatrixSpec spec = spec_of(shared, fmt::format("m{}l{}i", m, l), "Initial", layer.initial);
        add_panel(figure, variant, std::move(spec), count <= kManyTokens);
      }
      std::string title = "Learned";
      if (!layer.with_truth.empty())
        title += fmt::format(" (r = {} with {})", r_text(layer.with_truth[0]), model.truths[0].name);
      MatrixSpec spec = spec_of(shared, fmt::format("m{}l{}f", m, l), title, layer.learned);
      add_panel(figure, variant, std::move(spec), true);
      if (!model.truths.empty() && (count <= kManyTokens || m == 0)) {
        const Truth& truth = model.truths[0];
        MatrixSpec t = spec_of(shared, fmt::format("m{}t", m), "Truth: " + truth.name, truth.values);
        t.bar_label = truth.name == "2-D sinusoid" ? "cosine" : truth.name;
        add_panel(figure, variant, std::move(t), l == 0);
      }
      variant.legend = token_legend(model.tokens);
      figure.variants.push_back(std::move(variant));
    }
    if (figure.token_names.empty()) {
      for (std::ptrdiff_t t = 0; t < count; ++t) figure.token_names.push_back(model.tokens.name(static_cast<int>(t)));
    }
  }
  figure.caption =
      "Cosine of every pair of rows of the encoding table. Each colour bar spans the values off the diagonal, which itself "
      "is 1. "
      "r is Pearson's correlation of the entries above the diagonal: pairs that share a token depend on each other, so it "
      "carries no p-value here. Shown is the median run of a setting.";
  if (!data.models[0].tokens.labels.empty())
    figure.caption += " Tokens are sorted by their label, the strips' colours.";
  else if (data.models[0].tokens.is_grid())
    figure.caption += " Strips: grid row (outer) and column (inner), dark to light.";
  figure.csv = csv_similarity(data);
  return figure;
}

std::string csv_similarity(const Similarity& data) {
  std::string out = "run,layer,stage,row,column,value\n";
  const auto rows = [&](const std::string& run, const std::string& layer, const std::string& stage, const MatrixD& m) {
    const std::string cells[] = {run, layer, stage};
    std::string head = csv_row(cells);
    head.back() = ',';
    for (std::ptrdiff_t r = 0; r < m.rows(); ++r) {
      for (std::ptrdiff_t c = r; c < m.cols(); ++c) out += head + fmt::format("{},{},{}\n", r, c, csv_number(m(r, c)));
    }
  };
  for (const Similarity::Model& model : data.models) {
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      rows(model.label, std::to_string(l + 1), "initial", model.layers[l].initial);
      rows(model.label, std::to_string(l + 1), "learned", model.layers[l].learned);
    }
  }
  if (!data.models[0].truths.empty())
    rows("", "", "truth " + data.models[0].truths[0].name, data.models[0].truths[0].values);
  return out;
}

}  // namespace locus::report
