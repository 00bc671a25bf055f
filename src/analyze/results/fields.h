// One list of fields per row type drives JSON, CSV and reading back: `static void fields(auto& row, auto&& visit)` calls
// visit("name", row.name) for each field. Numbers that are not finite are written as the texts "nan", "inf", "-inf".
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace locus {

inline constexpr double kNotAvailable = std::numeric_limits<double>::quiet_NaN();

// An array of a result that goes to the NPZ file.
struct ResultArray {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

inline nlohmann::ordered_json result_json(double value) {
  if (std::isfinite(value)) return value;
  return shortest(value);
}

inline double result_number(const nlohmann::ordered_json& json) {
  if (json.is_number()) return json.get<double>();
  const std::string text = json.is_string() ? json.get<std::string>() : "";
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return kNotAvailable;
  throw IoError({.what = "a result holds no number where one belongs", .got = json.dump()});
}

namespace result_detail {

struct JsonWriter {
  nlohmann::ordered_json& out;
  void operator()(const char* name, double value) const { out[name] = result_json(value); }
  void operator()(const char* name, const std::vector<double>& values) const {
    auto list = nlohmann::ordered_json::array();
    for (const double v : values) list.push_back(result_json(v));
    out[name] = std::move(list);
  }
  template <class T>
  void operator()(const char* name, const T& value) const {
    out[name] = value;
  }
};

struct JsonReader {
  const nlohmann::ordered_json& in;
  template <class T>
  void operator()(const char* name, T& value) const {
    const auto it = in.find(name);
    if (it == in.end()) return;  // a field of a later version keeps its default
    if constexpr (std::is_same_v<T, double>) {
      value = result_number(*it);
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      value.clear();
      for (const auto& v : *it) value.push_back(result_number(v));
    } else {
      value = it->template get<T>();
    }
  }
};

inline std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

struct CsvWriter {
  std::string& line;
  bool header;
  mutable bool first = true;
  void add(const std::string& text) const {
    line += (first ? "" : ",") + text;
    first = false;
  }
  template <class T>
  void operator()(const char* name, const T& value) const {
    if (header) return add(name);
    if constexpr (std::is_same_v<T, double>) {
      add(shortest(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
      add(csv_text(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      add(value ? "true" : "false");
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      std::string joined;
      for (const double v : value) joined += (joined.empty() ? "" : ";") + shortest(v);
      add(joined);
    } else {
      add(std::to_string(value));
    }
  }
};

}  // namespace result_detail

template <class Row>
nlohmann::ordered_json row_to_json(const Row& row) {
  auto json = nlohmann::ordered_json::object();
  Row::fields(row, result_detail::JsonWriter{json});
  return json;
}

template <class Row>
Row row_from_json(const nlohmann::ordered_json& json) {
  Row row;
  Row::fields(row, result_detail::JsonReader{json});
  return row;
}

template <class Row>
nlohmann::ordered_json rows_to_json(const std::vector<Row>& rows) {
  auto list = nlohmann::ordered_json::array();
  for (const Row& row : rows) list.push_back(row_to_json(row));
  return list;
}

template <class Row>
std::vector<Row> rows_from_json(const nlohmann::ordered_json& json, const char* name) {
  std::vector<Row> rows;
  const auto it = json.find(name);
  if (it == json.end()) return rows;
  for (const auto& row : *it) rows.push_back(row_from_json<Row>(row));
  return rows;
}

template <class Row>
std::string rows_to_csv(const std::vector<Row>& rows) {
  std::string text;
  const Row names{};
  Row::fields(names, result_detail::CsvWriter{text, true});
  text += '\n';
  for (const Row& row : rows) {
    std::string line;
    Row::fields(row, result_detail::CsvWriter{line, false});
    text += line + '\n';
  }
  return text;
}

}  // namespace locus
