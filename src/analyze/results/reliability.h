// How far encodings of other people agree: trained on two halves of the people, against other seeds on the same half.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/results/result.h"

namespace locus {

// Means over the pairs of runs of one comparison.
struct ReliabilityRow {
  std::string setting;  // what tells these runs from others, people and seeds left out
  std::int64_t layer = 0;
  std::string code;        // "change" (P - P0, centred) or "centred" (P)
  std::string comparison;  // "halves" (other people, other seed), "halves_same_seed", "seeds" (same people, other seed)
  std::int64_t pairs = 0;
  double agreement = kNotAvailable;  // correlation of the two matrices of cosines, off-diagonal
  double low = kNotAvailable;        // 95 %, regions resampled
  double high = kNotAvailable;
  double whole = kNotAvailable;     // of halves: what Spearman and Brown's formula expects of twice as many people
  double shuffled = kNotAvailable;  // the floor: 97.5 % of agreements with the regions of one side shuffled lie below

  static void fields(auto& r, auto&& visit) {
    visit("setting", r.setting);
    visit("layer", r.layer, Role::kPlace);
    visit("code", r.code);
    visit("comparison", r.comparison);
    visit("pairs", r.pairs);
    visit("agreement", r.agreement);
    visit("low", r.low);
    visit("high", r.high);
    visit("whole", r.whole);
    visit("shuffled", r.shuffled);
  }
};

// One region: correlation of its row of cosines (of P - P0) with that of the other run.
struct RegionReliabilityRow {
  std::string setting;
  std::int64_t layer = 0;
  std::int64_t token = 0;
  std::string name;
  double halves = kNotAvailable;
  double low = kNotAvailable;  // 95 %, the other regions resampled
  double high = kNotAvailable;
  double seeds = kNotAvailable;

  static void fields(auto& r, auto&& visit) {
    visit("setting", r.setting);
    visit("layer", r.layer, Role::kPlace);
    visit("token", r.token);
    visit("name", r.name);
    visit("halves", r.halves);
    visit("low", r.low);
    visit("high", r.high);
    visit("seeds", r.seeds);
  }
};

struct ReliabilityResult {
  static constexpr const char* kName = "reliability";
  std::vector<std::string> runs;  // folders
  std::vector<ReliabilityRow> rows;
  std::vector<RegionReliabilityRow> regions;
  std::vector<std::string> notes;  // what could not be had, and why

  static void fields(auto& r, auto&& visit) { visit("runs", r.runs); }
  static void tables(auto& r, auto&& visit) {
    visit("rows", "", r.rows);
    visit("regions", "regions", r.regions);
  }
};

}  // namespace locus
