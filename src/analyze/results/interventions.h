// What becomes of accuracy or error when the positions of a trained model are changed, nothing retrained.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/results/fields.h"

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

  static void fields(auto& r, auto&& visit) {
    visit("kind", r.kind);
    visit("layer", r.layer);
    visit("amount", r.amount);
    visit("token", r.token);
    visit("repeat", r.repeat);
    visit("source", r.source);
    visit("split", r.split);
    visit("accuracy", r.accuracy);
    visit("mse", r.mse);
    visit("loss", r.loss);
    visit("change", r.change);
  }
};

struct InterventionResult {
  std::string model;
  std::string measure;  // "accuracy" or "mse"
  std::vector<InterventionRow> rows;
  std::vector<std::string> notes;  // what could not be had, and why

  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("measure", r.measure);
  }
};

inline nlohmann::ordered_json to_json(const InterventionResult& result) {
  nlohmann::ordered_json json = row_to_json(result);
  json["rows"] = rows_to_json(result.rows);
  json["notes"] = result.notes;
  return json;
}

// Without the arrays.
inline InterventionResult interventions_from_json(const nlohmann::ordered_json& json) {
  InterventionResult result = row_from_json<InterventionResult>(json);
  result.rows = rows_from_json<InterventionRow>(json, "rows");
  result.notes = json.value("notes", std::vector<std::string>{});
  return result;
}

}  // namespace locus
