// Columns of a file that are no tokens: time, index, ids of people. They are recognised by title and content and left
// out with a note; what only looks like one is an error that names the key to settle it.
#pragma once

#include <string>
#include <vector>

#include "config/masked_config.h"
#include "data/atlas.h"
#include "io/array.h"

namespace locus {

// Takes columns out of `matrix`: those that series.skip_columns names and, unless it says none, those a table's header calls
// time, index, id, subject and the like and whose numbers fit. A column that the atlas lists is a token. Whole numbers taken
// out become the names of rows that have none. Returns what was left out, for the user.
std::vector<std::string> take_out_columns(NamedMatrix& matrix, const std::string& path, const SeriesConfig& config,
                                          const Atlas& atlas);

// Whether a column of row names with this title says that the rows are tokens: region, roi_id, channel, gene.
bool title_of_tokens(const std::string& title);

// What a title says of a column: a clock or counter, people and visits, or one of them unless its numbers go up and down.
enum class TitleKind { kOther, kClock, kId, kEither };
TitleKind title_kind(const std::string& title);

// Even steps but for rounding, the same direction all the way; at least two numbers.
bool counts_evenly(const std::vector<double>& v);
bool rises(const std::vector<double>& v);  // every number above the one before
bool are_whole(const std::vector<double>& v);

// How the file calls its tokens: names, or else numbers of columns or rows from 1.
struct TokenTitles {
  std::vector<std::string> titles;
  bool are_rows = false;
};

// DataError for a token that counts up in even steps, as an index or a clock does, or that alone rises in whole numbers.
void refuse_counting_tokens(const MatrixD& frames, const TokenTitles& tokens, const std::string& path,
                            const SeriesConfig& config);

}  // namespace locus
