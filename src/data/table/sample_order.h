// Targets, groups and splits of another file, in the order of the samples.
#pragma once

#include <string>
#include <vector>

#include "data/table/raw_samples.h"

namespace locus {

// The columns of `file` with the rows in the order of the samples, without those that name the samples. Rows go by a column
// that names the samples in both files; by their own order only where nothing names them, or where a column counts them.
// DataError where names differ, and where the order of the samples is not the user's and nothing names them.
std::vector<RawColumn> in_order_of_samples(const RawTable& table, std::vector<RawColumn> columns, const std::string& file,
                                           const std::string& key);

}  // namespace locus
