// A data set as plain numbers for simple predictors, and what these reach on it: what a transformer has to beat.
#pragma once

#include <string>
#include <vector>

#include "core/parallel.h"
#include "data/examples.h"
#include "data/table/baselines.h"

namespace locus {

// Tokens in a row, ids as one number for each kind; missing values are 0, the mean of training.
PlainData plain_data(const Dataset& dataset);

// Accuracy or mean squared error of every predictor, into Dataset::baselines; what was chosen into its description. Nothing
// for data whose classes no user names: puzzles have baselines of their own kind.
void add_plain_baselines(Dataset& dataset, ThreadPool& pool);

}  // namespace locus
