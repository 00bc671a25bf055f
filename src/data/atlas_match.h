// Which row of a token table each token of a file is: by the column that holds the tokens' names or ids, whatever it is
// called, and by order only where nothing else can be meant. A doubt is an error that names the candidates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/atlas.h"

namespace locus {

// The tokens of one file; `names` may be numbers, and is empty when the file has none.
struct TokenAxis {
  std::string path;
  std::vector<std::string> names;
  std::int64_t count = 0;
};

struct MatchOptions {
  std::string column = {};  // of the atlas, with the names; empty: found by the names
  bool by_order = false;    // token i is row i, whatever the names say
};

struct TokenMatch {
  std::vector<std::vector<std::int64_t>> position;  // (file, row): the row's place in the file, or -1
  std::vector<std::string> names;                   // (row); empty when nobody names the tokens
  std::vector<std::string> notes;                   // what was understood where it was not plain
  bool by_number = false;                           // ids or numbering decided the order, not words
};

// Names are equal whatever their case and blanks, numbers by value. Files without names (or with the numbers 0 to n-1 or
// 1 to n as names) go by the atlas's index column, else by its rows. DataError: a name that is not in the atlas or stands
// twice, no column that holds the names, two that disagree, files with names beside files without.
TokenMatch match_to_atlas(const Atlas& atlas, const std::vector<TokenAxis>& files, const MatchOptions& options = {});

// Without an atlas the first file is the measure of the others.
TokenMatch match_to_each_other(const std::vector<TokenAxis>& files, const MatchOptions& options = {});

}  // namespace locus
