#include "report/figures/similarity.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/text.h"
#include "io/codec.h"
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

MatrixD difference(const MatrixD& a, const MatrixD& b) {
  MatrixD out = a;
  for (std::size_t i = 0; i < out.values().size(); ++i) out.values()[i] -= b.values()[i];
  return out;
}

// Each token beside the one most like it among those that are left: groups become blocks whatever the tokens are called.
std::vector<int> likeness_order(const MatrixD& cosine) {
  const int n = static_cast<int>(cosine.rows());
  std::vector<int> left, order;
  for (int t = 0; t < n; ++t) left.push_back(t);
  int at = 0;
  while (!left.empty()) {
    order.push_back(at);
    std::erase(left, at);
    if (left.empty()) break;
    at = *std::max_element(left.begin(), left.end(), [&](int a, int b) { return cosine(at, a) < cosine(at, b); });
  }
  return order;
}

TokenOrders orders_of(const Similarity::Model& model, std::string id) {
  const std::ptrdiff_t count = model.layers[0].learned.rows();
  TokenOrders out;
  out.id = std::move(id);
  const std::vector<int> given = token_order(model.tokens, count);
  out.orders.emplace_back(model.tokens.labels.empty() ? "as given" : "by label", given);
  if (!model.communities.empty()) {
    std::vector<int> order = given;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return model.communities[static_cast<std::size_t>(a)] < model.communities[static_cast<std::size_t>(b)];
    });
    out.orders.emplace_back("by learned community", std::move(order));
  }
  out.orders.emplace_back("alike beside alike", likeness_order(model.layers[0].learned));
  std::vector<int> plain(static_cast<std::size_t>(count));
  std::iota(plain.begin(), plain.end(), 0);
  out.strips = token_strips(model.tokens, plain);
  return out;
}

struct Shared {
  std::vector<int> order;
  std::vector<std::vector<std::string>> strips;
  std::string orders;  // id of its TokenOrders
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
  spec.orders = shared.orders;
  return spec;
}

// The truth may be of another kind and then has a scale of its own.
std::vector<MatrixSpec> specs_of(const Similarity::Model& model, const Shared& shared, std::size_t m, std::size_t l) {
  const Similarity::Layer& layer = model.layers[l];
  std::vector<MatrixSpec> specs;
  if (layer.initial.rows() > 0)
    specs.push_back(spec_of(shared, fmt::format("m{}l{}i", m, l), "Initial (P₀)", layer.initial));
  std::string title = "Learned (P)";
  if (!layer.with_truth.empty()) title += fmt::format(", r = {} with {}", r_text(layer.with_truth[0]), model.truths[0].name);
  specs.push_back(spec_of(shared, fmt::format("m{}l{}f", m, l), title, layer.learned));
  if (layer.change.rows() > 0)
    specs.push_back(spec_of(shared, fmt::format("m{}l{}d", m, l), "Change (P − P₀)", layer.change));
  const bool same_kind = !model.truths.empty() && model.truths[0].name == "2-D sinusoid";
  if (!model.truths.empty()) {
    specs.push_back(spec_of(shared, fmt::format("m{}t", m), "Truth: " + model.truths[0].name, model.truths[0].values));
    if (!same_kind) specs.back().bar_label = model.truths[0].name;
  }
  const std::size_t alike = specs.size() - (model.truths.empty() || same_kind ? 0 : 1);
  share_colours(std::span(specs).first(alike));
  if (alike < specs.size()) fit_colours(specs.back());
  return specs;
}

void add_panel(Figure& figure, Variant& variant, const MatrixSpec& spec) {
  variant.panels.push_back(draw_matrix(spec));
  const bool there =
      std::any_of(figure.matrices.begin(), figure.matrices.end(), [&](const MatrixData& m) { return m.id == spec.id; });
  if (!there) figure.matrices.push_back(matrix_data(spec));
}

}  // namespace

Found<Similarity> collect_similarity(const Inputs& inputs) {
  std::string missing;
  Similarity data;
  for (ModelView& view : representative_models(inputs, 6, missing)) {
    Similarity::Model model{view.run, view.label, view.tokens, {}, known_truths(view.tokens, view.learned[0].cols()), {}};
    const std::vector<std::vector<int>> communities = load_communities(inputs.run(view.run), view.learned[0].rows());
    if (!communities.empty()) model.communities = communities[0];
    for (std::size_t l = 0; l < view.learned.size(); ++l) {
      if (!all_finite(view.learned[l])) break;
      Similarity::Layer layer;
      layer.learned = stats::cosine_similarity(view.learned[l].view());
      if (!view.initial.empty() && all_finite(view.initial[l])) {
        layer.initial = stats::cosine_similarity(view.initial[l].view());
        layer.change = stats::cosine_similarity(difference(view.learned[l], view.initial[l]).view());
      }
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
  Figure figure{.name = "similarity", .title = "Which tokens the encoding holds alike: initial, learned, truth"};
  figure.wide = true;
  for (std::size_t m = 0; m < data.models.size(); ++m) {
    const Similarity::Model& model = data.models[m];
    const std::ptrdiff_t count = model.layers[0].learned.rows();
    const TokenOrders orders = orders_of(model, fmt::format("m{}", m));
    const Shared shared{orders.orders[0].second, token_strips(model.tokens, orders.orders[0].second), orders.id};
    figure.orders.push_back(orders);
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      Variant variant;
      variant.choices = {{"run", model.label}, {"layer", std::to_string(l + 1)}};
      for (const MatrixSpec& spec : specs_of(model, shared, m, l)) {
        // Pictures of many tokens are large and the initial ones are noise alike: only the first layer's is kept.
        const bool initial = spec.id.ends_with('i'), truth = spec.id.ends_with('t');
        if (count > kManyTokens && ((initial && l > 0) || (truth && m > 0))) continue;
        add_panel(figure, variant, spec);
      }
      variant.legend = token_legend(model.tokens);
      figure.variants.push_back(std::move(variant));
    }
    if (figure.token_names.empty()) {
      for (std::ptrdiff_t t = 0; t < count; ++t) figure.token_names.push_back(model.tokens.name(static_cast<int>(t)));
      figure.token_labels = model.tokens.labels;
    }
  }
  figure.caption =
      "Cosine of every pair of rows of the encoding table; initial, learned and change have one colour scale (the diagonal, "
      "which is 1, left out). The change is what training added to the random start. "
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
      for (std::ptrdiff_t c = r; c < m.cols(); ++c) out += head + fmt::format("{},{},{}\n", r, c, shortest(m(r, c)));
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
