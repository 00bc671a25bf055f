#include "study/sweep_results.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "core/error.h"
#include "core/parallel.h"
#include "core/text.h"
#include "io/file.h"
#include "run/layout.h"
#include "run/metrics.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::vector<Json> plan_files(const SweepFolder& folder) {
  std::vector<fs::path> paths;
  std::error_code code;
  for (fs::directory_iterator it(folder.plans(), code), end; !code && it != end; it.increment(code)) {
    if (it->path().extension() == ".json" && it->path().filename().string()[0] != '.') paths.push_back(it->path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Json> plans;
  for (const fs::path& p : paths) {
    Json json = Json::parse(read_text_file(p), nullptr, /*allow_exceptions=*/false);
    if (json.is_object() && json.contains("cells") && json.contains("bases") && json.contains("keys"))
      plans.push_back(std::move(json));
  }
  return plans;
}

std::vector<std::string> all_keys(const std::vector<Json>& plans) {
  std::set<std::string> seen;
  for (const Json& plan : plans) {
    for (const Json& key : plan["keys"]) seen.insert(key.get<std::string>());
  }
  RunConfig any;
  std::vector<std::string> keys;
  const FieldList list = describe(any);
  for (const Field& f : list.fields()) {
    if (f.path != "seed" && seen.count(f.path) != 0) keys.push_back(f.path);
  }
  keys.emplace_back("seed");
  return keys;
}

PlannedCell planned_cell(const Json& plan, const Json& cell, const std::vector<std::string>& keys) {
  PlannedCell out;
  out.hash = cell["cell"].get<std::string>();
  const Json& base = plan["bases"].at(cell["base"].get<std::size_t>());
  out.label = base["case"].get<std::string>();
  if (cell.contains("off")) {
    for (const Json& key : cell["off"]) out.off.insert(key.get<std::string>());
  }
  const Json& set = cell["set"];
  for (const std::string& key : keys) {
    if (out.off.count(key) != 0) {
      out.values[key] = "";
    } else if (const auto own = set.find(key); own != set.end()) {
      out.values[key] = own->get<std::string>();
    } else if (const auto given = base["config"].find(key); given != base["config"].end()) {
      out.values[key] = given->get<std::string>();
    }
  }
  return out;
}

void add_csv_rows(std::string& csv, const PlannedCells& plans, const PlannedCell& cell, const CellOutcome& outcome) {
  std::string start = cell.hash + ",";
  if (plans.has_labels) start += csv_field(cell.label) + ",";
  for (const std::string& key : plans.keys) start += csv_field(cell.values.at(key)) + ",";
  start += cell_status_name(outcome.status);
  if (!outcome.summary || outcome.summary->values.empty()) {
    csv += start + ",,,,,,\n";
    return;
  }
  start += "," + std::to_string(outcome.summary->epochs) + "," + std::to_string(outcome.summary->steps) + ",";
  for (const auto& [name, value] : outcome.summary->values) {
    const MetricKey key = parse_metric_key(name);
    csv += start;
    csv +=
        csv_field(key.split) + "," + csv_field(key.condition) + "," + csv_field(key.measure) + "," + shortest(value) + "\n";
  }
}

Json json_cell(const PlannedCell& cell, const CellOutcome& outcome) {
  Json json;
  json["cell"] = cell.hash;
  if (!cell.label.empty()) json["case"] = cell.label;
  for (const auto& [key, value] : cell.values) {
    if (!value.empty()) json["config"][key] = value;
  }
  json["status"] = cell_status_name(outcome.status);
  json["reason"] = outcome.reason;
  json["run"] = "cells/" + cell.hash;
  json["log"] = "cells/" + cell.hash + ".log";
  if (!outcome.summary) return json;
  json["epochs"] = outcome.summary->epochs;
  json["steps"] = outcome.summary->steps;
  json["seconds"] = json_value(outcome.summary->seconds);
  for (const auto& [name, value] : outcome.summary->values) json["values"][name] = json_value(value);
  return json;
}

}  // namespace

PlannedCells read_plans(const SweepFolder& folder) {
  PlannedCells out;
  const std::vector<Json> plans = plan_files(folder);
  if (plans.empty()) return out;
  out.keys = all_keys(plans);
  std::unordered_set<std::string> seen;
  for (const Json& plan : plans) {
    std::vector<std::shared_ptr<const std::map<std::string, std::string>>> bases;
    for (const Json& base : plan["bases"])
      bases.push_back(std::make_shared<const std::map<std::string, std::string>>(
          base["config"].get<std::map<std::string, std::string>>()));
    for (const Json& cell : plan["cells"]) {
      if (!seen.insert(cell["cell"].get<std::string>()).second) continue;
      out.cells.push_back(planned_cell(plan, cell, out.keys));
      out.cells.back().base = bases.at(cell["base"].get<std::size_t>());
      if (!out.cells.back().label.empty()) out.has_labels = true;
      for (const std::string& key : out.keys) out.cells.back().values.try_emplace(key);
    }
  }
  return out;
}

void write_results(const SweepFolder& folder) {
  const PlannedCells plans = read_plans(folder);
  std::vector<CellOutcome> outcomes(plans.cells.size());
  constexpr std::size_t kBlock = 64;
  ThreadPool pool(std::clamp(usable_cores(), 1, plans.cells.size() < 4 * kBlock ? 1 : 4));
  pool.run(static_cast<int>((outcomes.size() + kBlock - 1) / kBlock), [&](int task, int) {
    const std::size_t first = static_cast<std::size_t>(task) * kBlock;
    for (std::size_t i = first; i < std::min(first + kBlock, outcomes.size()); ++i)
      outcomes[i] = folder.outcome(plans.cells[i].hash);
  });
  std::string csv = "cell,";
  if (plans.has_labels) csv += "case,";
  for (const std::string& key : plans.keys) csv += key + ",";
  csv += "status,epochs,steps,split,condition,measure,value\n";
  std::string json = "{\n \"cells\": [";
  bool first = true;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].status == CellStatus::kPending) continue;
    add_csv_rows(csv, plans, plans.cells[i], outcomes[i]);
    json += (first ? "\n  " : ",\n  ") +
            json_cell(plans.cells[i], outcomes[i]).dump(-1, ' ', false, Json::error_handler_t::replace);
    first = false;
  }
  json += "\n ]\n}\n";
  write_file_atomic(folder.path() / "results.csv", csv);
  write_file_atomic(folder.path() / "results.json", json);
}

}  // namespace locus
