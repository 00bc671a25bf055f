// How far attention logits spread, and which part of the spread is due to
// positions alone, to content alone, to both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/results/result.h"

namespace locus {

// Standard deviations over the keys that a query sees (the mean of a row does
// not matter to a softmax), root mean square over queries, heads and examples;
// scales of the model included.
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
    visit("epoch", r.epoch, Role::kAside);
    visit("layer", r.layer, Role::kPlace);
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
  static constexpr const char* kName = "logits";
  std::string split;
  std::int64_t examples = 0;
  std::vector<LogitRow> rows;
  std::vector<std::string> notes;

  static void fields(auto& r, auto&& visit) {
    visit("split", r.split);
    visit("examples", r.examples);
  }
  static void tables(auto& r, auto&& visit) { visit("rows", "", r.rows); }
};

}  // namespace locus
