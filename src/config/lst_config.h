// Where the Latin-square puzzles come from.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/fields.h"

namespace locus {

enum class LstSource { kGenerate, kAuthors };
inline constexpr std::array<std::string_view, 2> kLstSourceNames = {"generate", "authors"};

struct LstConfig {
  LstSource source = LstSource::kGenerate;
  std::string dir;
  std::int64_t n = 4;
  std::int64_t pool_seed = 1;
  std::int64_t per_difficulty = 3000;
  double test_fraction = 0.1;
  std::int64_t heldout_items = 12;
  std::int64_t rotations = 3;
  double min_distance = 0.8;
  bool relabel = false;
};

void describe(LstConfig& config, FieldList& list);

}  // namespace locus
