// Inside of MATLAB v4 and v5 files: the elements of a file and how one becomes an array. See mat.h for the front.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/bytes.h"
#include "io/limits.h"
#include "io/mat.h"

namespace locus {

// One top-level variable: what it is, and its bytes as they stand in the file.
struct Mat5Entry {
  MatVariable variable;
  ByteSpan content;  // v5: inside of the miMATRIX or miCOMPRESSED element; v4: the values
  bool compressed = false;
  bool swap = false;
  bool version4 = false;
  int type = 0;  // v4: storage type
};

std::vector<Mat5Entry> scan_mat4(ByteSpan bytes, std::string_view file);
std::vector<Mat5Entry> scan_mat5(ByteSpan bytes, std::string_view file);
NdArray load_mat4(const Mat5Entry& entry, std::string_view where, const ReadLimits& limits);
NdArray load_mat5(const Mat5Entry& entry, std::string_view where, const ReadLimits& limits);

std::vector<std::string> load_mat5_texts(const Mat5Entry& entry, std::string_view where, const ReadLimits& limits);

// The entry's index by name, or the only sensible one; IoError that lists the variables when the choice is not clear.
std::size_t choose_mat_variable(const std::vector<MatVariable>& variables, std::string_view name, std::string_view file);

}  // namespace locus
