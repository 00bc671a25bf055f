// What a user's table of tokens says of them: labels, and places in one, two or three dimensions.
#pragma once

#include <string>

#include "core/token_info.h"

namespace locus {

// CSV with a row for each of `info.names`: a column of names, and network (label, group, ...) or coordinates (x; x, y;
// x, y, z). Rows are matched by name; a table without names of as many rows goes by order. DataError where tokens have no
// row.
void add_token_table(const std::string& file, TokenInfo& info);

}  // namespace locus
