// Token-by-token cosine of the encoding tables: before training, after it, and what is known of the arrangement.
#pragma once

#include <string>
#include <vector>

#include "report/figure.h"
#include "report/inputs.h"
#include "report/tokens.h"

namespace locus::report {

struct Similarity {
  struct Layer {
    MatrixD initial, learned;        // (T, T) cosines; initial may be 0 x 0
    MatrixD change;                  // cosines of the rows of learned minus initial; 0 x 0 without initial
    std::vector<double> with_truth;  // off-diagonal Pearson r of learned with each truth
  };
  struct Model {
    int run = -1;
    std::string label;
    Tokens tokens;
    std::vector<Layer> layers;
    std::vector<Truth> truths;
    std::vector<int> communities;  // of the first layer; empty when they were not searched
  };
  std::vector<Model> models;
};

Found<Similarity> collect_similarity(const Inputs& inputs);
Figure draw_similarity(const Similarity& data);
std::string csv_similarity(const Similarity& data);  // run,layer,stage,row,column,value (upper triangles)

}  // namespace locus::report
