#include "report/figures/tiled_similarity.h"

#include <fmt/core.h>

#include "core/text.h"
#include "io/codec.h"
#include "report/markup.h"
#include "report/matrix_panel.h"

namespace locus::report {

namespace {

// The token at the place-th cell, row by row.
int token_at(const Tokens& tokens, int place) {
  for (std::ptrdiff_t t = 0; t < tokens.coordinates.rows(); ++t) {
    if (static_cast<int>(tokens.coordinates(t, 0)) * tokens.grid_cols + static_cast<int>(tokens.coordinates(t, 1)) ==
        place) {
      return static_cast<int>(t);
    }
  }
  return -1;
}

}  // namespace

MatrixD tile(const MatrixD& cosines, const Tokens& tokens) {
  const std::ptrdiff_t rows = tokens.grid_rows, cols = tokens.grid_cols;
  MatrixD out(rows * rows, cols * cols);
  const auto place = [&](std::ptrdiff_t t, int axis) { return static_cast<std::ptrdiff_t>(tokens.coordinates(t, axis)); };
  for (std::ptrdiff_t i = 0; i < cosines.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < cosines.cols(); ++j) {
      out(place(i, 0) * rows + place(j, 0), place(i, 1) * cols + place(j, 1)) = cosines(i, j);
    }
  }
  return out;
}

Found<TiledSimilarity> collect_tiled_similarity(const Inputs& inputs) {
  const Found<Similarity> similarity = collect_similarity(inputs);
  if (!similarity.value) return Found<TiledSimilarity>::none(similarity.missing);
  TiledSimilarity data;
  for (const Similarity::Model& model : similarity.value->models) {
    if (!model.tokens.is_grid() || model.tokens.coordinates.rows() > 400) continue;
    if (data.models.empty()) data.tokens = model.tokens;
    TiledSimilarity::Model own{model.label, {}};
    for (const Similarity::Layer& layer : model.layers) own.layers.push_back(layer.learned);
    if (model.tokens.coordinates == data.tokens.coordinates) data.models.push_back(std::move(own));
  }
  if (data.models.empty()) return Found<TiledSimilarity>::none("the tokens have no grid coordinates");
  return Found<TiledSimilarity>::of(std::move(data));
}

Figure draw_tiled_similarity(const TiledSimilarity& data) {
  Figure figure{.name = "tiled_similarity", .title = "Where each token's encoding points"};
  for (std::size_t m = 0; m < data.models.size(); ++m) {
    for (std::size_t l = 0; l < data.models[m].layers.size(); ++l) {
      const MatrixD& cosines = data.models[m].layers[l];
      MatrixSpec spec;
      spec.figure = figure.name;
      spec.id = fmt::format("m{}l{}", m, l);
      spec.title = "";
      spec.values = tile(cosines, data.tokens);
      spec.tile_rows = data.tokens.grid_rows;
      spec.tile_cols = data.tokens.grid_cols;
      fit_colours(spec);
      spec.bar_label = "cosine with the tile's own token";
      spec.size = 340;
      Variant variant;
      variant.choices = {{"run", data.models[m].label}, {"layer", std::to_string(l + 1)}};
      variant.panels.push_back(draw_matrix(spec));
      variant.panels.back().label = figure.title;
      figure.matrices.push_back(matrix_data(spec));
      for (int place = 0; place < cosines.rows(); ++place)
        figure.matrices.back().tile_tokens.push_back(token_at(data.tokens, place));
      figure.matrices.back().tile_rows = spec.tile_rows;
      figure.matrices.back().tile_cols = spec.tile_cols;
      figure.variants.push_back(std::move(variant));
    }
  }
  for (std::ptrdiff_t t = 0; t < data.tokens.coordinates.rows(); ++t)
    figure.token_names.push_back(data.tokens.name(static_cast<int>(t)));
  figure.caption = fmt::format(
      "{} × {} tiles, one per token at its place; each shows the cosine of that token's learned encoding with "
      "every other's, laid out as the grid. A code of the grid shows crosses or smooth bumps around the token itself.",
      data.tokens.grid_rows, data.tokens.grid_cols);
  figure.csv = csv_tiled_similarity(data);
  return figure;
}

std::string csv_tiled_similarity(const TiledSimilarity& data) {
  std::string out = "run,layer,token,other,value\n";
  for (const TiledSimilarity::Model& model : data.models) {
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      const MatrixD& m = model.layers[l];
      for (std::ptrdiff_t r = 0; r < m.rows(); ++r) {
        for (std::ptrdiff_t c = 0; c < m.cols(); ++c) {
          const std::string cells[] = {model.label, std::to_string(l + 1), std::to_string(r), std::to_string(c),
                                       shortest(m(r, c))};
          out += csv_row(cells);
        }
      }
    }
  }
  return out;
}

}  // namespace locus::report
