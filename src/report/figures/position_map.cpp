#include "report/figures/position_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/text.h"
#include "io/codec.h"
#include "report/embedding.h"
#include "report/markup.h"
#include "report/plot.h"

namespace locus::report {
namespace {

// Places in a plane: a grid as seen on paper (column to the right, row downward), or the two main axes of other places.
MatrixD flat_truth(const Tokens& tokens) {
  const MatrixD& c = tokens.coordinates;
  if (c.rows() == 0 || c.cols() < 1) return {};
  for (const double v : c.values()) {
    if (!std::isfinite(v)) return {};
  }
  if (c.cols() > 2) return principal_plane(c).points;
  MatrixD out(c.rows(), 2);
  for (std::ptrdiff_t t = 0; t < c.rows(); ++t) {
    out(t, 0) = c.cols() == 2 ? c(t, 1) : c(t, 0);
    out(t, 1) = c.cols() == 2 ? -c(t, 0) : 0;
  }
  return out;
}

PositionMap::Map map_of(const MatrixD& table, const MatrixD& truth) {
  const PlaneMap plane = principal_plane(table);
  if (truth.rows() == 0) return {plane.points, plane.explained, NAN};
  const Aligned aligned = align(plane.points, truth);
  return {aligned.points, plane.explained, aligned.r};
}

// Lines between neighbours of the grid: a map that kept the arrangement shows a net without crossings.
void draw_net(XyPlot& plot, const Tokens& tokens, const MatrixD& points) {
  std::map<std::pair<long, long>, std::ptrdiff_t> at;
  const auto place = [&](std::ptrdiff_t t) {
    return std::pair<long, long>{std::lround(tokens.coordinates(t, 0)), std::lround(tokens.coordinates(t, 1))};
  };
  for (std::ptrdiff_t t = 0; t < points.rows(); ++t) at[place(t)] = t;
  for (const auto& [where, t] : at) {
    for (const std::pair<long, long>& next :
         {std::pair<long, long>{where.first + 1, where.second}, {where.first, where.second + 1}}) {
      const auto other = at.find(next);
      if (other == at.end()) continue;
      plot.line({{points(t, 0), points(t, 1)}, {points(other->second, 0), points(other->second, 1)}}, "c11", "thin", {});
    }
  }
}

Panel draw_map(const Tokens& tokens, const MatrixD& points, const std::string& title) {
  PlotSpec spec{.title = title, .x = {.label = ""}, .y = {.label = ""}, .width = 340, .height = 340, .equal_aspect = true};
  spec.bare = true;
  XyPlot plot(spec);
  if (tokens.is_grid()) draw_net(plot, tokens, points);
  const bool many = points.rows() > 64;
  for (std::ptrdiff_t t = 0; t < points.rows(); ++t) {
    const int token = static_cast<int>(t);
    const std::string label = tokens.label(token);
    plot.point({points(t, 0), points(t, 1)}, many ? 3.2 : 5.5, token_class(tokens, token),
               {.title = tokens.name(token) + (label.empty() ? "" : " (" + label + ")"), .token = token},
               token_shape(tokens, token));
  }
  return plot.finish();
}

std::string fit_text_of(const PositionMap::Map& map) {
  return std::isfinite(map.r) ? fmt::format(" (fit r = {})", r_text(map.r)) : "";
}

}  // namespace

Found<PositionMap> collect_position_map(const Inputs& inputs) {
  std::string missing;
  PositionMap data;
  for (const ModelView& view : representative_models(inputs, 6, missing)) {
    PositionMap::Model model{view.run, view.label, view.tokens, flat_truth(view.tokens), {}, {}};
    const auto finite = [](const MatrixD& m) {
      return std::all_of(m.values().begin(), m.values().end(), [](double v) { return std::isfinite(v); });
    };
    for (std::size_t l = 0; l < view.learned.size() && finite(view.learned[l]); ++l) {
      model.learned.push_back(map_of(view.learned[l], model.truth));
      if (!view.initial.empty() && finite(view.initial[l])) model.initial.push_back(map_of(view.initial[l], model.truth));
    }
    if (model.initial.size() != model.learned.size()) model.initial.clear();
    if (!model.learned.empty()) data.models.push_back(std::move(model));
  }
  if (data.models.empty()) return Found<PositionMap>::none(missing);
  return Found<PositionMap>::of(std::move(data));
}

Figure draw_position_map(const PositionMap& data) {
  Figure figure{.name = "position_map", .title = "Learned positions as a map"};
  for (const PositionMap::Model& model : data.models) {
    const bool many = model.learned[0].points.rows() > kManyTokens;
    for (std::size_t l = 0; l < model.learned.size(); ++l) {
      Variant variant;
      variant.choices = {{"run", model.label}, {"layer", std::to_string(l + 1)}};
      if (!model.initial.empty() && (!many || l == 0)) {
        variant.panels.push_back(draw_map(model.tokens, model.initial[l].points, "Initial" + fit_text_of(model.initial[l])));
      }
      variant.panels.push_back(draw_map(
          model.tokens, model.learned[l].points,
          fmt::format("Learned{}, {} of variance", fit_text_of(model.learned[l]), percent(model.learned[l].explained, 0))));
      if (model.truth.rows() > 0 && model.tokens.is_grid())
        variant.panels.push_back(draw_map(model.tokens, model.truth, "Truth"));
      variant.legend = token_legend(model.tokens);
      figure.variants.push_back(std::move(variant));
    }
  }
  const PositionMap::Model& first = data.models[0];
  figure.wide = true;
  figure.token_labels = first.tokens.labels;
  for (int t = 0; t < static_cast<int>(first.learned[0].points.rows()); ++t)
    figure.token_names.push_back(first.tokens.name(t));
  figure.caption = "The two principal axes of the encoding table (classical MDS of the distances between its rows)";
  figure.caption += first.truth.rows() > 0
                        ? ", moved, turned, mirrored and scaled to fit the true places best; r correlates fitted and true "
                          "coordinates. With few tokens noise alone fits to some degree: compare with the initial map."
                        : "; axes have no unit and no direction.";
  if (first.tokens.is_grid()) figure.caption += " Colour: grid row; shape: column; thin lines join neighbours.";
  figure.csv = csv_position_map(data);
  return figure;
}

std::string csv_position_map(const PositionMap& data) {
  std::string out = "run,layer,stage,token,x,y\n";
  const auto rows = [&](const std::string& run, std::size_t layer, const std::string& stage, const MatrixD& m) {
    for (std::ptrdiff_t t = 0; t < m.rows(); ++t) {
      const std::string cells[] = {
          run, std::to_string(layer), stage, std::to_string(t), shortest(m(t, 0)), shortest(m(t, 1))};
      out += csv_row(cells);
    }
  };
  for (const PositionMap::Model& model : data.models) {
    for (std::size_t l = 0; l < model.learned.size(); ++l) {
      if (!model.initial.empty()) rows(model.label, l + 1, "initial", model.initial[l].points);
      rows(model.label, l + 1, "learned", model.learned[l].points);
    }
  }
  rows("", 0, "truth", data.models[0].truth);
  return out;
}

}  // namespace locus::report
