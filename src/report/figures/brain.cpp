#include "report/figures/brain.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "analyze/results/networks.h"
#include "core/error.h"
#include "core/text.h"
#include "io/codec.h"
#include "io/npy.h"
#include "report/markup.h"
#include "report/plot.h"

namespace locus::report {
namespace {

// What the colours tell; regions alone where nothing is known of them.
std::string kind_words(const Brain& data, const std::string& what) {
  if (!what.empty()) return "Communities";
  return data.tokens.labels.empty() ? "Regions" : "Networks";
}

struct Plane {
  const char* title;
  int x, y, depth;
  const char* x_label;
  const char* y_label;
};
constexpr Plane kPlanes[] = {{"from above", 0, 1, 2, "left – right", "back – front"},
                             {"from the side", 1, 2, 0, "back – front", "down – up"}};
constexpr Plane kFlat[] = {{"as given", 0, 1, 1, "first coordinate", "second coordinate"}};

std::span<const Plane> planes_of(const Brain& data) {
  return data.tokens.coordinates.cols() == 2 ? std::span<const Plane>(kFlat) : std::span<const Plane>(kPlanes);
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

std::string title_of(const Brain& data, int t, int k, const std::string& what) {
  const std::string label = data.tokens.label(t);
  std::string title = data.tokens.name(t) + (label.empty() ? "" : " (" + label + ")");
  if (!what.empty()) title += fmt::format(", {} {}", what, k + 1);
  return title;
}

// All regions as they stand in space, from the left and a little above; the page's script turns them.
Panel draw_turning(const Brain& data, const std::vector<int>& classes, const std::string& what) {
  const MatrixD& c = data.tokens.coordinates;
  constexpr double kSize = 340, kRadius = 150;
  std::array<double, 3> middle{};
  for (std::ptrdiff_t t = 0; t < c.rows(); ++t) {
    for (int x = 0; x < 3; ++x) middle[static_cast<std::size_t>(x)] += c(t, x) / static_cast<double>(c.rows());
  }
  double reach = 1e-9;
  for (std::ptrdiff_t t = 0; t < c.rows(); ++t) {
    double squares = 0;
    for (int x = 0; x < 3; ++x) squares += std::pow(c(t, x) - middle[static_cast<std::size_t>(x)], 2);
    reach = std::max(reach, std::sqrt(squares));
  }
  Svg svg;
  svg.text({6, 16}, fmt::format("{}, drag to turn", kind_words(data, what)), "ttl");
  svg.open("g", {{"data-turn", coord(kSize / 2) + " " + coord(kSize / 2 + 12)}});
  for (int t = 0; t < static_cast<int>(c.rows()); ++t) {
    std::array<double, 3> at{};
    for (int x = 0; x < 3; ++x)
      at[static_cast<std::size_t>(x)] = kRadius * (c(t, x) - middle[static_cast<std::size_t>(x)]) / reach;
    const int k = classes.empty() ? 0 : classes[static_cast<std::size_t>(t)];
    const Mark mark{.title = title_of(data, t, k, what), .token = t};
    svg.open("g", {{"data-xyz", fmt::format("{} {} {}", coord(at[0]), coord(at[1]), coord(at[2]))},
                   {"transform", fmt::format("translate({} {})", coord(kSize / 2 + at[1]), coord(kSize / 2 + 12 - at[2]))}});
    svg.shape(category_shape(k), {0, 0}, 4.2, category_class(k) + " ring", &mark);
    svg.close("g");
  }
  svg.close("g");
  return {kSize, kSize + 20, kind_words(data, what) + " in space", svg.body()};
}

Panel draw_plane(const Brain& data, const Plane& plane, const std::vector<int>& classes, const std::string& what) {
  const MatrixD& c = data.tokens.coordinates;
  XyPlot plot({.title = fmt::format("{}, {}", kind_words(data, what), plane.title),
               .x = {.label = plane.x_label},
               .y = {.label = plane.y_label},
               .width = 340,
               .height = 320,
               .equal_aspect = true});
  std::vector<int> order;
  for (int t = 0; t < static_cast<int>(c.rows()); ++t) order.push_back(t);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return c(a, plane.depth) < c(b, plane.depth); });
  for (const int t : order) {
    const int k = classes.empty() ? 0 : classes[static_cast<std::size_t>(t)];
    plot.point({c(t, plane.x), c(t, plane.y)}, 3.4, category_class(k), {.title = title_of(data, t, k, what), .token = t},
               category_shape(k));
  }
  return plot.finish();
}

}  // namespace

Found<Brain> collect_brain(const Inputs& inputs) {
  Brain data;
  std::string missing;
  for (const ModelView& view : representative_models(inputs, 6, missing)) {
    const std::ptrdiff_t axes = view.tokens.coordinates.cols();
    if ((axes != 3 && axes != 2) || view.tokens.is_grid()) continue;
    if (data.models.empty()) data.tokens = view.tokens;
    std::vector<std::vector<int>> communities = load_communities(inputs.run(view.run), view.tokens.coordinates.rows());
    if (data.models.empty() || !communities.empty()) data.models.push_back({view.label, std::move(communities)});
  }
  if (data.models.empty())
    return Found<Brain>::none(missing.empty() || inputs.groups.empty()
                                  ? "no runs"
                                  : "no run has two or three coordinates for each token off a grid");
  return Found<Brain>::of(std::move(data));
}

Figure draw_brain(const Brain& data) {
  Figure figure{.name = "brain", .title = "The regions in their places, by network and by learned community"};
  figure.wide = true;
  figure.token_labels = data.tokens.labels;
  for (int t = 0; t < static_cast<int>(data.tokens.coordinates.rows()); ++t)
    figure.token_names.push_back(data.tokens.name(t));
  const auto panels = [&](const std::vector<int>& classes, const std::string& what) {
    std::vector<Panel> out;
    if (data.tokens.coordinates.cols() == 3) out.push_back(draw_turning(data, classes, what));
    for (const Plane& plane : planes_of(data)) out.push_back(draw_plane(data, plane, classes, what));
    return out;
  };
  const std::vector<Panel> networks = panels(data.tokens.labels, "");
  for (const Brain::Model& model : data.models) {
    if (model.communities.empty()) continue;
    Variant variant{.choices = {{"run", model.label}}, .panels = networks, .legend = token_legend(data.tokens)};
    const std::vector<int> classes = matched(model.communities[0], data.tokens.labels);
    for (Panel& panel : panels(classes, "community")) variant.panels.push_back(std::move(panel));
    figure.variants.push_back(std::move(variant));
  }
  const bool analysed = !figure.variants.empty();
  if (!analysed) figure.variants.push_back({.panels = networks, .legend = token_legend(data.tokens)});
  figure.caption =
      "Regions where the file of regions puts them, nearer ones drawn over farther ones. A click on a network's name shows "
      "it alone.";
  figure.caption +=
      analysed ? " Communities: consensus of Louvain runs on the signed cosines of the mean-centred encoding of layer 1; "
                 "each has the colour of the network "
                 "it shares most regions with, if no other community took it."
               : " No run has the analysis networks, so learned communities are not shown.";
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
    for (int x = 0; x < 3; ++x) cells.push_back(shortest(data.tokens.coordinates(t, x)));
    cells.push_back(data.tokens.label(t));
    for (const Brain::Model& model : data.models) {
      for (const auto& layer : model.communities) cells.push_back(std::to_string(layer[static_cast<std::size_t>(t)]));
    }
    out += csv_row(cells);
  }
  return out;
}

}  // namespace locus::report
