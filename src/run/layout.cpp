#include "run/layout.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/text.h"

namespace locus {

std::string checkpoint_name(std::int64_t step) { return fmt::format("{:010}", step); }

std::optional<std::int64_t> number_of_name(std::string_view name) {
  std::int64_t number = 0;
  const auto result = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = result.ec == std::errc() && result.ptr == name.data() + name.size();
  if (!whole || number < 0 || name.front() == '-') return std::nullopt;
  return number;
}

std::string json_number(double value) {
  if (!std::isfinite(value)) return '"' + shortest(value) + '"';
  // "-0" alone would be read back as the integer 0.
  return value == 0 && std::signbit(value) ? "-0.0" : shortest(value);
}

nlohmann::json json_value(double value) {
  if (std::isfinite(value)) return value;
  return shortest(value);
}

std::optional<double> number_of_json(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::string json_text(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string one_line(const Error& error) {
  const ErrorParts& p = error.parts();
  std::string text = p.where.empty() ? p.what : p.where + ": " + p.what;
  if (!p.got.empty()) text += " (" + p.got + ")";
  return text;
}

}  // namespace locus
