// How numbers and texts stand in the JSON and CSV files that the program writes: the one place that knows what becomes of
// NaN, infinities, quotes and separators.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/json.h"

namespace locus {

// A number as JSON text: shortest that reads back; nan and infinities as the texts "nan", "inf", "-inf".
std::string json_number(double value);
Json json_value(double value);
std::optional<double> number_of_json(const Json& value);  // accepts those texts
std::string json_text(std::string_view text);             // quoted; broken UTF-8 is replaced
// The text under a key, or "" where there is none.
std::string text_at(const Json& json, std::string_view key);

// A cell of a table, quoted where a reader would take it for something else.
std::string csv_field(std::string_view text, char delimiter = ',');
// Cells joined, with a line feed.
std::string csv_row(std::span<const std::string> cells, char delimiter = ',');

}  // namespace locus
