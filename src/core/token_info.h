// What is known of the tokens of a task beside their values: data sets make it, runs store it, analyses and reports read it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/matrix.h"

namespace locus {

// T tokens; every part may be empty.
struct TokenInfo {
  std::vector<std::string> names;    // (T)
  std::vector<std::int32_t> labels;  // (T) module or network of each token
  std::vector<std::string> label_names;
  std::vector<std::int32_t> hemispheres;  // (T)
  MatrixD coordinates;                    // (T, X): grid rows and columns, or x y z
  bool coordinates_are_grid = false;      // every place of a grid once: see fills_grid
  MatrixD graph;  // (T, T) symmetric, non-negative; for Laplacian eigenvectors; from training data only
  std::map<std::string, MatrixD> truths;  // (T, T) by name: "W", "correlation", "connectivity"
  // Rearrangements of the tokens that leave the task as it is: token t takes the place of symmetry[t]. Each row is one
  // permutation, and the group is what they generate.
  std::vector<std::vector<std::int32_t>> symmetries;  // (G)(T)
};

// Whether whole coordinates from 0 on fill a line, a rectangle or a box without gap or repetition. Files written before
// the flag was stored are judged by this rule.
bool fills_grid(const MatrixD& coordinates);

// Places along each axis of a grid: {4, 4}; empty where the coordinates are none.
std::vector<std::int64_t> grid_extents(const TokenInfo& info);

}  // namespace locus
