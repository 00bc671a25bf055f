// Latin squares as examples: puzzles with their answers as classes, cells with their places and rules.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "config/run_config.h"
#include "data/examples.h"
#include "data/latin/dataset.h"

namespace locus {

LatinOptions latin_options(const LstConfig& config);

// Generated puzzles are kept in `cache_folder` where one is given.
Dataset make_lst_dataset(const RunConfig& config, const std::string& cache_folder);

// (n * n, 2): rows and columns of the cells.
MatrixD latin_coordinates(const LstConfig& config);

// Cells that force the answer of an example: ids (T), -1 blank, symbol - 1, n at the target.
AnswerTokens latin_answer_tokens(std::span<const std::int16_t> ids);

}  // namespace locus
