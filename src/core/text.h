// Small text helpers: nearest name for a typo, splitting, joining, human numbers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace locus {

// The candidate with the smallest edit distance to `name`, whatever the case of letters; "" when none is near enough to
// suggest.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);

std::string human_bytes(double bytes);      // "3.1 MB"
std::string human_seconds(double seconds);  // "2 h 05 min", "13 s"

// Shortest decimal text that reads back to the same value; "nan", "inf" and "-inf" spelled so.
std::string shortest(double value);
std::string shortest(float value);

}  // namespace locus
