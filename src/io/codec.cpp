#include "io/codec.h"

#include <cmath>
#include <limits>

#include "core/text.h"

namespace locus {
namespace {

// Blanks at the ends would be trimmed; a byte order mark at the front of the file would be dropped; a first cell "#" or
// "# x" would be a comment.
bool needs_quotes(std::string_view cell, char delimiter) {
  return cell.find_first_of("\"\r\n") != std::string_view::npos || cell.find(delimiter) != std::string_view::npos ||
         trim(cell).size() != cell.size() || cell == "#" || cell.starts_with("# ") || cell.starts_with("\xef\xbb\xbf") ||
         cell.starts_with("\xff\xfe") || cell.starts_with("\xfe\xff");
}

}  // namespace

std::string json_number(double value) {
  if (!std::isfinite(value)) return '"' + shortest(value) + '"';
  // "-0" alone would be read back as the integer 0.
  return value == 0 && std::signbit(value) ? "-0.0" : shortest(value);
}

Json json_value(double value) {
  if (std::isfinite(value)) return value;
  return shortest(value);
}

std::optional<double> number_of_json(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.text();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::string text_at(const Json& json, std::string_view key) {
  if (!json.is_object()) return "";
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->text() : "";
}

std::string json_text(std::string_view text) { return Json(std::string(text)).dump(); }

std::string csv_field(std::string_view text, char delimiter) {
  if (!needs_quotes(text, delimiter)) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_row(std::span<const std::string> cells, char delimiter) {
  // A lone empty cell would be a blank line, which readers skip.
  if (cells.size() == 1 && cells[0].empty()) return "\"\"\n";
  std::string row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) row += delimiter;
    row += csv_field(cells[i], delimiter);
  }
  return row + '\n';
}

}  // namespace locus
