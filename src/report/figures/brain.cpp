#include "report/figures/brain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/error.h"
#include "io/npy.h"
#include "report/markup.h"
#include "report/plot.h"

namespace locus::report {
namespace {

struct Plane {
  const char* title;
  int x, y, depth;
  const char* x_label;
  const char* y_label;
};
constexpr Plane kPlanes[] = {{"from above", 0, 1, 2, "left – right (mm)", "back – front (mm)"},
                             {"from the front", 0, 2, 1, "left – right (mm)", "down – up (mm)"},
                             {"from the side", 1, 2, 0, "back – front (mm)", "down – up (mm)"}};

std::vector<std::vector<int>> load_communities(const Run& run, std::ptrdiff_t tokens) {
  const std::string path = analysis_arrays(run, "networks");
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

// Communities take the colour of the network they share most regions with, so that a match looks like a match.
std::vector<int> matched(const std::vector<int>& communities, const std::vector<int>& labels) {
  if (labels.size() != communities.size()) return communities;
  std::map<int, std::map<int, int>> shared;
  for (std::size_t t = 0; t < labels.size(); ++t) ++shared[communities[t]][labels[t]];
  std::vector<std::array<int, 3>> pairs;
  for (const auto& [c, counts] : shared) {
    for (const auto& [label, n] : counts) pairs.push_back({-n, c, label});
  }
  std::sort(pairs.begin(), pairs.end());
  std::map<int, int> colour, taken;
  for (const auto& [n, c, label] : pairs) {
    if (colour.count(c) == 0 && taken.count(label) == 0) colour[c] = taken[label] = label;
  }
  int next = 1 + *std::max_element(labels.begin(), labels.end());
  std::vector<int> out;
  for (const int c : communities) {
    if (colour.count(c) == 0) colour[c] = next++;
    out.push_back(colour[c]);
  }
  return out;
}

Panel draw_plane(const Brain& data, const Plane& plane, const std::vector<int>& classes, const std::string& what) {
  const MatrixD& c = data.tokens.coordinates;
  XyPlot plot({.title = fmt::format("{}, {}", what.empty() ? "Networks" : "Communities", plane.title),
               .x = {.label = plane.x_label},
               .y = {.label = plane.y_label},
               .width = 340,
               .height = 320,
               .equal_aspect = true});
  std::vector<int> order;
  for (int t = 0; t < static_cast<int>(c.rows()); ++t) order.push_back(t);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return c(a, plane.depth) < c(b, plane.depth); });
  static constexpr Shape kShapes[] = {Shape::kCircle, Shape::kSquare, Shape::kDiamond, Shape::kTriangle};
  for (const int t : order) {
    const int k = classes.empty() ? 0 : classes[static_cast<std::size_t>(t)];
    const std::string label = data.tokens.label(t);
    std::string title = data.tokens.name(t) + (label.empty() ? "" : " (" + label + ")");
    if (!what.empty()) title += fmt::format(", {} {}", what, k + 1);
    plot.point({c(t, plane.x), c(t, plane.y)}, 3.4, category_class(k), {.title = title, .token = t},
               kShapes[(k % 4 + 4) % 4]);
  }
  return plot.finish();
}

}  // namespace

Found<Brain> collect_brain(const Inputs& inputs) {
  Brain data;
  std::string missing;
  for (const ModelView& view : representative_models(inputs, 2, missing)) {
    if (view.tokens.coordinates.cols() != 3) continue;
    if (data.models.empty()) data.tokens = view.tokens;
    std::vector<std::vector<int>> communities = load_communities(inputs.run(view.run), view.tokens.coordinates.rows());
    if (data.models.empty() || !communities.empty()) data.models.push_back({view.label, std::move(communities)});
  }
  if (data.models.empty())
    return Found<Brain>::none(missing.empty() || inputs.groups.empty()
                                  ? "no runs"
                                  : "no run has three coordinates a token (dataset.safetensors: coordinates)");
  return Found<Brain>::of(std::move(data));
}

Figure draw_brain(const Brain& data) {
  Figure figure{.name = "brain", .title = "The regions, coloured by network and by learned community"};
  std::vector<Panel> networks;
  for (const Plane& plane : kPlanes) networks.push_back(draw_plane(data, plane, data.tokens.labels, ""));
  for (const Brain::Model& model : data.models) {
    if (model.communities.empty()) continue;
    Variant variant{.choices = {{"run", model.label}}, .panels = networks, .legend = token_legend(data.tokens)};
    const std::vector<int> classes = matched(model.communities[0], data.tokens.labels);
    for (const Plane& plane : kPlanes) variant.panels.push_back(draw_plane(data, plane, classes, "community"));
    figure.variants.push_back(std::move(variant));
  }
  const bool analysed = !figure.variants.empty();
  if (!analysed) figure.variants.push_back({.panels = networks, .legend = token_legend(data.tokens)});
  figure.caption = "Centroids of regions in mm, nearer ones drawn over farther ones.";
  figure.caption +=
      analysed ? " Communities: consensus of Louvain runs on the signed cosines of the mean-centred encoding of layer 1; "
                 "each has the colour of the network "
                 "it shares most regions with, if no other community took it."
               : " No run has analysis/networks.npz, so learned communities are not shown.";
  figure.csv = csv_brain(data);
  return figure;
}

std::string csv_brain(const Brain& data) {
  std::vector<std::string> head = {"token", "name", "x", "y", "z", "network"};
  for (const Brain::Model& model : data.models) {
    for (std::size_t l = 0; l < model.communities.size(); ++l)
      head.push_back(fmt::format("community layer {} {}", l + 1, model.label));
  }
  std::string out = csv_row(head);
  for (int t = 0; t < static_cast<int>(data.tokens.coordinates.rows()); ++t) {
    std::vector<std::string> cells = {std::to_string(t), data.tokens.name(t)};
    for (int x = 0; x < 3; ++x) cells.push_back(csv_number(data.tokens.coordinates(t, x)));
    cells.push_back(data.tokens.label(t));
    for (const Brain::Model& model : data.models) {
      for (const auto& layer : model.communities) cells.push_back(std::to_string(layer[static_cast<std::size_t>(t)]));
    }
    out += csv_row(cells);
  }
  return out;
}

}  // namespace locus::report
