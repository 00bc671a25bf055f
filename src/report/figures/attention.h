// Where attention goes: mean maps per layer and head, and for single puzzles the weights on the board beside what the
// solver used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/figure.h"
#include "report/inputs.h"
#include "report/tokens.h"

namespace locus::report {

struct AttentionFigure {
  struct Example {
    std::vector<int> symbols;   // (T) 1.., 0 blank, -1 the target; empty: not stored
    std::vector<bool> used;     // (T) cells the solver used; empty: not stored
    std::vector<MatrixD> maps;  // [layer * heads + head] (T, T)
  };
  struct Model {
    int run = -1;
    std::string label;
    Tokens tokens;
    int layers = 0, heads = 0, read_token = 0;
    std::vector<MatrixD> mean;  // [layer * heads + head] (T, T), query by key
    std::vector<Example> examples;
  };
  std::vector<Model> models;
};

Found<AttentionFigure> collect_attention(const Inputs& inputs);
Figure draw_attention(const AttentionFigure& data);
std::string csv_attention(const AttentionFigure& data);  // run,layer,head,query,key,weight (means over examples)

}  // namespace locus::report
