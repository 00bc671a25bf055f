// Which samples train, validate and test. Samples that are equal, or of one group, always stand on one side.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/table_config.h"
#include "data/table/audit.h"
#include "data/table/targets.h"

namespace locus {

enum class Side : std::uint8_t { kTrain, kValidation, kTest };
inline constexpr std::array<std::string_view, 3> kSideNames = {"train", "validation", "test"};

struct SplitInput {
  std::int64_t samples = 0;
  std::vector<std::int64_t> twin;    // (samples) the first sample that is equal to this one in every token
  std::vector<std::int32_t> groups;  // (samples); empty: none
  std::vector<std::int32_t> labels;  // (samples) classes; empty for numbers
  std::vector<std::string> given;    // (samples) names of sides; for split = given
  std::vector<std::string> places;   // "line 7", for messages
  std::vector<std::string> classes;  // names
  std::string source;
};

struct SampleSplit {
  std::vector<Side> side;                 // (samples)
  TableSplit kind = TableSplit::kRandom;  // never kAuto

  std::vector<std::int64_t> samples_of(Side wanted) const;  // ascending
};

// DataError when a side stays empty, a class is on one side only, or a given name is none of train, validation and test.
SampleSplit split_samples(const SplitInput& input, const TableConfig& config, DataAudit& audit);

// For each row the first that equals it.
std::vector<std::int64_t> first_equal_rows(const std::vector<std::string>& rows);

}  // namespace locus
