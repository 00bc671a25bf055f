// How far attention logits spread, and which part of the spread is due to positions alone, to content alone, to both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/results/fields.h"

namespace locus {

// Standard deviations over the keys that a query sees (the mean of a row does not matter to a softmax), root mean square
// over queries, heads and examples; scales of the model included.
struct LogitRow {
  std::string model;
  std::int64_t epoch = -1;
  std::int64_t layer = -1;             // -1: mean of the layers
  double content_rms = kNotAvailable;  // of the layer's input without the encoding's table
  double position_rms = kNotAvailable;
  double position_position = kNotAvailable;
  double position_content = kNotAvailable;  // query of the position, key of the content
  double content_position = kNotAvailable;
  double content_content = kNotAvailable;  // biases included
  double total = kNotAvailable;
  double all_pairs = kNotAvailable;  // of the total over all pairs at once, row means included
  double entropy = kNotAvailable;    // of attention, as a part of that of equal weights

  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("epoch", r.epoch);
    visit("layer", r.layer);
    visit("content_rms", r.content_rms);
    visit("position_rms", r.position_rms);
    visit("position_position", r.position_position);
    visit("position_content", r.position_content);
    visit("content_position", r.content_position);
    visit("content_content", r.content_content);
    visit("total", r.total);
    visit("all_pairs", r.all_pairs);
    visit("entropy", r.entropy);
  }
};

struct LogitResult {
  std::string split;
  std::int64_t examples = 0;
  std::vector<LogitRow> rows;
  std::vector<std::string> notes;
};

inline nlohmann::ordered_json to_json(const LogitResult& result) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["split"] = result.split;
  json["examples"] = result.examples;
  json["rows"] = rows_to_json(result.rows);
  json["notes"] = result.notes;
  return json;
}

inline LogitResult logits_from_json(const nlohmann::ordered_json& json) {
  LogitResult result;
  result.split = json.value("split", "");
  result.examples = json.value("examples", std::int64_t{0});
  result.rows = rows_from_json<LogitRow>(json, "rows");
  result.notes = json.value("notes", std::vector<std::string>{});
  return result;
}

}  // namespace locus
