// A user's own table or pictures: what is predicted, what the columns are, and how samples are split.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "config/masked_config.h"

namespace locus {

enum class TableTask { kAuto, kMasked, kClassify, kRegress };
inline constexpr std::array<std::string_view, 4> kTableTaskNames = {"auto", "masked", "classify", "regress"};

enum class MissingValues { kError, kMask };
inline constexpr std::array<std::string_view, 2> kMissingValuesNames = {"error", "mask"};

enum class ConstantTokens { kDrop, kKeep };
inline constexpr std::array<std::string_view, 2> kConstantTokensNames = {"drop", "keep"};

enum class TokenScale { kToken, kAll, kNone };
inline constexpr std::array<std::string_view, 3> kTokenScaleNames = {"token", "all", "none"};

enum class TableSplit { kAuto, kRandom, kStratified, kGroup, kTime, kGiven };
inline constexpr std::array<std::string_view, 6> kTableSplitNames = {"auto",  "random", "stratified",
                                                                     "group", "time",   "given"};

enum class SplitLeaks { kError, kAllow };
inline constexpr std::array<std::string_view, 2> kSplitLeaksNames = {"error", "allow"};

struct TableConfig {
  std::string file;                   // samples x tokens (x features)
  std::string dataset;                // HDF5 data set, MATLAB variable or NPZ array
  std::string labels;                 // CSV of tokens: name, and label or coordinates
  std::vector<std::string> target;    // columns or arrays of the file, or one file of its own
  TableTask task = TableTask::kAuto;  // from the key `task`, which is not of this section
  HeaderRow header = HeaderRow::kAuto;
  std::vector<std::string> skip;        // columns that are neither token nor target; "none": no others are looked for
  std::vector<std::string> categories;  // columns of numbers that stand for kinds
  MissingValues missing = MissingValues::kError;
  ConstantTokens constant = ConstantTokens::kDrop;
  double constant_share = 0.999;  // of the training samples with one value, from which on a token counts as constant
  TokenScale scale = TokenScale::kToken;
  TableSplit split = TableSplit::kAuto;
  std::string groups;        // column or file: samples of one group never stand on both sides; "none": there are none
  std::string split_column;  // column or file that says train, validation or test of each sample
  double test_fraction = 0.2;
  double validation_fraction = 0.1;
  std::int64_t split_seed = 1;
  SplitLeaks leaks = SplitLeaks::kError;
};

struct ImagesConfig {
  std::string files;          // an array N x H x W (x C), an IDX file, or a folder of PNG files
  std::string dataset;        // HDF5 data set, MATLAB variable or NPZ array
  std::int64_t patch = 1;     // pixels of a token's side
  std::int64_t shuffle = -1;  // >= 0: tokens in an order drawn from this seed
};

void describe(TableConfig& config, FieldList& list);
void describe(ImagesConfig& config, FieldList& list);

}  // namespace locus
