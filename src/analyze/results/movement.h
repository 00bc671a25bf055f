// How far parameters moved from initialisation: by tensor, by group, positions
// and the rest apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/results/result.h"

namespace locus {

struct MovementRow {
  std::string model;
  std::int64_t epoch = -1;
  std::string level;  // "tensor", "group" or "part" (pe, rest, all)
  std::string name;
  std::int64_t parameters = 0;
  double initial_norm = kNotAvailable;
  double norm = kNotAvailable;
  double movement = kNotAvailable;  // L2 norm of the difference
  double relative = kNotAvailable;  // movement / initial_norm; NaN for a zero start
  double rms = kNotAvailable;       // movement / sqrt(parameters)
  double cosine = kNotAvailable;    // of the parameters with their initial values

  bool is_main() const { return level == "part"; }
  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("epoch", r.epoch, Role::kAside);
    visit("level", r.level);
    visit("name", r.name);
    visit("parameters", r.parameters, Role::kAside);
    visit("initial_norm", r.initial_norm);
    visit("norm", r.norm);
    visit("movement", r.movement);
    visit("relative", r.relative);
    visit("rms", r.rms);
    visit("cosine", r.cosine);
  }
};

struct MovementResult {
  static constexpr const char* kName = "movement";
  std::vector<MovementRow> rows;
  std::vector<std::string> notes;  // what could not be had, and why

  static void tables(auto& r, auto&& visit) { visit("rows", "", r.rows); }
};

}  // namespace locus
