// What becomes of accuracy or error when the positions of a trained model are
// changed, nothing retrained.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/results/result.h"

namespace locus {

struct InterventionRow {
  std::string kind;               // "none", "true2d", "shuffled", ...
  std::int64_t layer = -1;        // -1: all layers
  double amount = kNotAvailable;  // scale, alpha; NaN where there is none
  std::int64_t token = -1;        // lesioned position or, for kind lesion_label, the label; -1: none
  std::int64_t repeat = 0;        // of random interventions
  std::string source;             // run whose code was used
  std::string split;
  double accuracy = kNotAvailable;  // classification
  double mse = kNotAvailable;       // regression, hidden tokens
  double loss = kNotAvailable;
  double change = kNotAvailable;  // of accuracy or mse against none

  bool is_main() const { return token < 0 && layer < 0; }
  static void fields(auto& r, auto&& visit) {
    visit("kind", r.kind);
    visit("layer", r.layer, Role::kPlace);
    visit("amount", r.amount, Role::kName);
    visit("token", r.token, Role::kAside);
    visit("repeat", r.repeat, Role::kAside);
    visit("source", r.source, Role::kAside);
    visit("split", r.split);
    visit("accuracy", r.accuracy);
    visit("mse", r.mse);
    visit("loss", r.loss);
    visit("change", r.change);
  }
};

struct InterventionResult {
  static constexpr const char* kName = "interventions";
  std::string model;
  std::string measure;  // "accuracy" or "mse"
  std::vector<InterventionRow> rows;
  std::vector<std::string> notes;  // what could not be had, and why

  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("measure", r.measure);
  }
  static void tables(auto& r, auto&& visit) { visit("rows", "", r.rows); }
};

}  // namespace locus
