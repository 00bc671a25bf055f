// Whole results of analyses, driven by three members of a result struct R:
// R::kName, R::fields (its own values, may be absent) and R::tables, which
// calls visit("rows", csv, r.rows) for each list of rows; csv is the middle
// part of the name of the table's CSV file, "" for the main one, kNoCsv for
// none.
#pragma once

#include <any>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analyze/results/fields.h"

namespace locus {

inline constexpr const char* kNoCsv = nullptr;

// What an analysis hands over to be written.
struct AnalysisOutput {
  Json json;
  std::vector<std::pair<std::string, std::string>> tables;  // "" is <name>.csv, "layers" is <name>.layers.csv
  std::vector<ResultArray> arrays;
};

// Without the arrays.
template <class R>
Json to_json(const R& result) {
  Json json = Json::object();
  if constexpr (requires { R::fields(result, result_detail::JsonWriter{json}); })
    R::fields(result, result_detail::JsonWriter{json});
  R::tables(result, [&](const char* name, const char*, const auto& rows) { json[name] = rows_to_json(rows); });
  json["notes"] = result.notes;
  return json;
}

// What is absent keeps its default. IoError where a value is of another type.
template <class R>
R result_from_json(const Json& json) {
  R result;
  if constexpr (requires { R::fields(result, result_detail::JsonReader{json}); })
    R::fields(result, result_detail::JsonReader{json});
  R::tables(result, [&](const char* name, const char*, auto& rows) { read_rows(json, name, rows); });
  result.notes = json.value("notes", std::vector<std::string>{});
  return result;
}

template <class R>
AnalysisOutput output_of(R result) {
  AnalysisOutput out;
  out.json = to_json(result);
  for (const bool main : {true, false}) {
    R::tables(result, [&](const char*, const char* csv, const auto& rows) {
      if (csv != kNoCsv && (*csv == '\0') == main) out.tables.emplace_back(csv, rows_to_csv(rows));
    });
  }
  if constexpr (requires { result.arrays; }) out.arrays = std::move(result.arrays);
  return out;
}

// A number of a row that stands for the run:
// "recovery.truths.final.layer0.raw.cosine.W.pearson".
using NumberVisitor = std::function<void(const std::string& name, double value)>;

namespace result_detail {

// Rows of the model before and after training, and among those the ones that
// the row type calls main.
template <class Row>
bool is_of_ends(const Row& row) {
  if constexpr (requires { row.model; }) return row.model == "init" || row.model == "final";
  return true;
}

template <class Row>
bool is_main(const Row& row) {
  if constexpr (requires { row.is_main(); }) {
    if (!row.is_main()) return false;
  }
  return is_of_ends(row);
}

template <class Row>
void visit_numbers(const std::string& prefix, const Row& row, const NumberVisitor& visit) {
  std::vector<std::string> parts;
  Row::fields(row, RowNamer{parts});
  const std::string name = prefix + "." + join(parts, ".") + ".";
  Row::fields(row, MeasureVisitor{[&](const char* field, double value) { visit(name + field, value); }});
}

}  // namespace result_detail

// A type of result with its type forgotten: what reports and result tables need
// of results that they know by name only.
struct ResultType {
  std::any (*read)(const Json& json) = nullptr;   // holds an R
  void (*keep_ends)(std::any& result) = nullptr;  // rows of models between init and final are dropped
  void (*numbers)(const std::any& result, const NumberVisitor& visit) = nullptr;
};

template <class R>
ResultType result_type() {
  return {[](const Json& json) { return std::any(result_from_json<R>(json)); },
          [](std::any& result) {
            R::tables(std::any_cast<R&>(result), [](const char*, const char*, auto& rows) {
              std::erase_if(rows, [](const auto& row) { return !result_detail::is_of_ends(row); });
            });
          },
          [](const std::any& result, const NumberVisitor& visit) {
            R::tables(std::any_cast<const R&>(result), [&](const char* name, const char*, const auto& rows) {
              const std::string prefix = std::string(name) == "rows" ? R::kName : std::string(R::kName) + "." + name;
              for (const auto& row : rows) {
                if (result_detail::is_main(row)) result_detail::visit_numbers(prefix, row, visit);
              }
            });
          }};
}

}  // namespace locus
