// What a run folder knows of its tokens (dataset.safetensors), and the encoding tables of its models.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/token_info.h"
#include "report/figure.h"
#include "report/inputs.h"

namespace locus::report {

// The same, as figures need it: names cut to a readable length, and only parts that fit the model.
struct Tokens : TokenInfo {
  int grid_rows = 0, grid_cols = 0;  // > 0 on a grid of two axes

  bool is_grid() const { return grid_rows > 0; }
  std::string name(int token) const;   // "row 2 column 3" or "token 7"
  std::string label(int token) const;  // "" without labels
};

// Empty parts where the file or a tensor is missing; throws Error for a damaged file.
Tokens load_tokens(const Run& run, std::ptrdiff_t count);

// One (T, C) table per block ("blocks.l.pe.table"), or one shared ("pe.table"), of `stage` "init" or "final"; rows or
// layers that do not fit each other are an error. Empty when the encoding has no table or the file is missing.
std::vector<MatrixD> load_tables(const Run& run, const std::string& stage);

// The run that stands for a group in figures that show one model, with its tables and tokens.
struct ModelView {
  int run = -1, group = -1;
  std::string label;                      // of the group, with the seed
  std::vector<MatrixD> initial, learned;  // per layer; initial may be empty
  Tokens tokens;
};

// Median runs of at most `limit` settings that have tables: best, largest σ, other encodings, then σ between. With more than
// kManyTokens tokens fewer are taken, because their pictures are large. `missing` says why when there is none.
std::vector<ModelView> representative_models(const Inputs& inputs, std::size_t limit, std::string& missing);

// Settings in the order in which a reader wants to see them: the best learned one, of which the answer speaks, comes first.
std::vector<int> groups_of_interest(const Inputs& inputs);

// Communities of the learned encoding by layer, of analysis/networks.npz; empty when they were not searched.
std::vector<std::vector<int>> load_communities(const Run& run, std::ptrdiff_t tokens);

inline constexpr std::ptrdiff_t kManyTokens = 100;
inline constexpr std::size_t kModelsOfManyTokens = 3;

// Tokens sorted by label (or as they are), and colour strips: label, or grid row and column.
std::vector<int> token_order(const Tokens& tokens, std::ptrdiff_t count);
std::vector<std::vector<std::string>> token_strips(const Tokens& tokens, const std::vector<int>& order);
std::vector<LegendEntry> token_legend(const Tokens& tokens);
std::string token_class(const Tokens& tokens, int token);
Shape token_shape(const Tokens& tokens, int token);

// A known matrix of the arrangement: the named truths, or the cosine of the 2-D sinusoid for grids (with its name).
struct Truth {
  std::string name;
  MatrixD values;
};
std::vector<Truth> known_truths(const Tokens& tokens, std::ptrdiff_t channels);

}  // namespace locus::report
