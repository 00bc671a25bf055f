// Pictures as they are, as the model saw them, and as they were put together again by its positions alone.
#pragma once

#include <string>
#include <vector>

#include "core/matrix.h"
#include "report/analysis.h"

namespace locus::report {

struct Unscramble {
  // Tokens in cells: as in truth, as the model is given them, or as something places them.
  struct Arrangement {
    std::string title;                // "by the learned positions"
    std::vector<std::int64_t> cells;  // of each token
    double neighbours = 0;            // NaN for what needs no measure
  };
  struct Model {
    int run = -1;
    std::string label;
    std::int64_t rows = 0, columns = 0, patch = 1, tokens = 0;
    std::vector<Arrangement> arrangements;
    std::vector<MatrixD> pictures;  // (T, F) of some samples
    double lo = 0, hi = 1;
  };
  struct Row {
    std::string run, model, code;
    int layer = -1;
    double neighbours = 0, low = 0, high = 0, chance = 0, most_similar = 0, distance_correlation = 0, in_place = 0;
  };
  std::vector<Model> models;
  std::vector<Row> rows;
};

Found<Unscramble> collect_unscramble(const Inputs& inputs);
Figure draw_unscramble(const Unscramble& data);
// run,model,layer,code,neighbours,low,high,chance,most_similar,distance_correlation,in_place
std::string csv_unscramble(const Unscramble& data);

}  // namespace locus::report
