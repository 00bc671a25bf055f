// One list of fields per row type drives JSON, CSV, reading back and kept
// results: `static void fields(auto& row, auto&& visit)` calls visit("name",
// row.name) for each field, with a Role where its type does not tell what it is
// for. Numbers that are not finite are written as the texts "nan", "inf",
// "-inf".
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "io/codec.h"

namespace locus {

inline constexpr double kNotAvailable = std::numeric_limits<double>::quiet_NaN();

// An array of a result that goes to the NPZ file.
struct ResultArray {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
  bool shown = false;  // a report shows it: it is kept however large it is
};

// What a field is to kept results, which name numbers by row and field. Texts
// name their row and numbers are measures unless said otherwise.
enum class Role {
  kPlain,
  kName,   // a number that names its row: an amount
  kPlace,  // a layer or head, by its number; negative means all
  kAside,  // says how a row was made
};

inline double result_number(const Json& json) {
  if (const auto number = number_of_json(json)) return *number;
  throw IoError({.what = "a result holds no number where one belongs", .got = json.dump()});
}

namespace result_detail {

struct JsonWriter {
  Json& out;
  void operator()(const char* name, double value, Role = Role::kPlain) const { out[name] = json_value(value); }
  void operator()(const char* name, const std::vector<double>& values, Role = Role::kPlain) const {
    auto list = Json::array();
    for (const double v : values) list.push_back(json_value(v));
    out[name] = std::move(list);
  }
  template <class T>
  void operator()(const char* name, const T& value, Role = Role::kPlain) const {
    out[name] = value;
  }
};

struct JsonReader {
  const Json& in;
  template <class T>
  void operator()(const char* name, T& value, Role = Role::kPlain) const {
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

struct CsvWriter {
  std::string& line;
  bool header;
  mutable bool first = true;
  void add(const std::string& text) const {
    line += (first ? "" : ",") + text;
    first = false;
  }
  template <class T>
  void operator()(const char* name, const T& value, Role = Role::kPlain) const {
    if (header) return add(name);
    if constexpr (std::is_same_v<T, double>) {
      add(shortest(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
      add(csv_field(value));
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

// The parts that name a row: "final", "layer0", "raw".
struct RowNamer {
  std::vector<std::string>& parts;
  template <class T>
  void operator()(const char* field, const T& value, Role role = Role::kPlain) const {
    if constexpr (std::is_same_v<T, std::string>) {
      if (role == Role::kPlain && !value.empty()) parts.push_back(value);
    } else if constexpr (std::is_same_v<T, double>) {
      if (role == Role::kName && std::isfinite(value)) parts.push_back(shortest(value));
    } else if constexpr (std::is_integral_v<T>) {
      if (role == Role::kPlace && value >= 0) parts.push_back(field + std::to_string(value));
    }
  }
};

// Calls `measure(field, value)` for each finite number that measures something.
template <class Function>
struct MeasureVisitor {
  Function measure;
  template <class T>
  void operator()(const char* field, const T& value, Role role = Role::kPlain) const {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      if (role == Role::kPlain && std::isfinite(static_cast<double>(value))) measure(field, static_cast<double>(value));
    }
  }
};
template <class Function>
MeasureVisitor(Function) -> MeasureVisitor<Function>;

}  // namespace result_detail

template <class Row>
Json row_to_json(const Row& row) {
  auto json = Json::object();
  Row::fields(row, result_detail::JsonWriter{json});
  return json;
}

template <class Row>
Row row_from_json(const Json& json) {
  Row row;
  Row::fields(row, result_detail::JsonReader{json});
  return row;
}

template <class Row>
Json rows_to_json(const std::vector<Row>& rows) {
  auto list = Json::array();
  for (const Row& row : rows) list.push_back(row_to_json(row));
  return list;
}

template <class Row>
void read_rows(const Json& json, const char* name, std::vector<Row>& rows) {
  rows.clear();
  const auto it = json.find(name);
  if (it == json.end()) return;
  for (const auto& row : *it) rows.push_back(row_from_json<Row>(row));
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
