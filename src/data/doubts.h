// What looks wrong in samples but may be right: codes for missing values, tokens that are copies of each other, samples that
// stand in training and test. Each gives sentences for the user; nothing is changed.
#pragma once

#include <string>
#include <vector>

#include "data/series.h"

namespace locus {

// Values such as -999 that are far from all others of their token.
std::vector<std::string> missing_codes(const RegionSeries& series);

// Pairs of tokens whose correlation is 1 or -1: each is known from the other.
std::vector<std::string> copied_tokens(const MatrixD& connectivity, const std::vector<std::string>& names);

// Samples outside of training that are equal to a training sample in every number. Where numbers are few, such as counts,
// equal samples are no wonder: nothing is said.
std::vector<std::string> copied_samples(const Dataset& data);

}  // namespace locus
