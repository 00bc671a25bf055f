// One small map per token of a grid, placed where the token is: how similar its encoding is to every other's.
#pragma once

#include <string>
#include <vector>

#include "report/figures/similarity.h"

namespace locus::report {

struct TiledSimilarity {
  struct Model {
    std::string label;
    std::vector<MatrixD> layers;  // (T, T) cosines of the learned table
  };
  Tokens tokens;  // a grid
  std::vector<Model> models;
};

// The picture: tile (r, c) belongs to the token at row r, column c, and is laid out as the grid itself.
MatrixD tile(const MatrixD& cosines, const Tokens& tokens);

Found<TiledSimilarity> collect_tiled_similarity(const Inputs& inputs);
Figure draw_tiled_similarity(const TiledSimilarity& data);
std::string csv_tiled_similarity(const TiledSimilarity& data);  // run,layer,token,other,value

}  // namespace locus::report
