#include "sweep/results.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "core/error.h"
#include "core/json.h"
#include "core/parallel.h"
#include "core/text.h"
#include "io/codec.h"
#include "io/file.h"
#include "run/layout.h"
#include "run/metrics.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

// What a plan has to be for the readers below. A plan is named by its content, so that what was cut off or altered is seen.
void check_plan(const Json& plan, const std::string& text, const fs::path& file) {
  if (file.stem().string() != plan_name(text))
    throw IoError(
        {.what = "the plan of a sweep is damaged", .where = file.string(), .got = "another content than its name says"});
  std::set<std::string> keys;
  for (const Json& key : plan.at("keys").items_of_array()) keys.insert(key.text());
  for (const Json& base : plan.at("bases").items_of_array()) {
    base.at("case").text();
    base.at("config").get<std::map<std::string, std::string>>();
  }
  for (const Json& cell : plan.at("cells").items_of_array()) {
    cell.at("cell").text();
    plan.at("bases").at(cell.at("base").get<std::size_t>());
    cell.at("set").get<std::map<std::string, std::string>>();
    if (cell.contains("off")) cell.at("off").get<std::vector<std::string>>();
  }
}

std::vector<Json> plan_files(const SweepFolder& folder, std::vector<std::string>& problems) {
  std::vector<fs::path> paths;
  std::error_code code;
  for (fs::directory_iterator it(folder.plans(), code), end; !code && it != end; it.increment(code)) {
    if (it->path().extension() == ".json" && it->path().filename().string()[0] != '.') paths.push_back(it->path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Json> plans;
  for (const fs::path& p : paths) {
    try {
      const std::string text = read_text_file(p);
      Json json = Json::parse(text);
      check_plan(json, text, p);
      plans.push_back(std::move(json));
    } catch (const Error& e) {
      problems.push_back(one_line(e).find(p.string()) != std::string::npos ? one_line(e) : p.string() + ": " + one_line(e));
    }
  }
  return plans;
}

// Cells named in the first column of results.csv that the plans do not know.
std::vector<std::string> lost_cells(const fs::path& csv, const PlannedCells& plans) {
  std::error_code code;
  if (!fs::exists(csv, code)) return {};
  std::unordered_set<std::string> known;
  for (const PlannedCell& cell : plans.cells) known.insert(cell.hash);
  std::set<std::string> lost;
  std::vector<std::string> lines = split(read_text_file(csv), '\n');
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string cell = lines[i].substr(0, lines[i].find(','));
    // A line in quotes may go on in the next: only what looks like a cell's name counts.
    const bool name = cell.size() >= 16 && cell.find_first_not_of("0123456789abcdefv-") == std::string::npos;
    if (name && known.count(cell) == 0) lost.insert(cell);
  }
  return {lost.begin(), lost.end()};
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
  const SweepFolder here{fs::path()};
  json["run"] = here.run(cell.hash).string();
  json["log"] = here.log(cell.hash).string();
  if (!outcome.summary) return json;
  json["epochs"] = outcome.summary->epochs;
  json["steps"] = outcome.summary->steps;
  json["seconds"] = json_value(outcome.summary->seconds);
  for (const auto& [name, value] : outcome.summary->values) json["values"][name] = json_value(value);
  return json;
}

// A finished or diverged cell as an earlier collection wrote it; nothing for any other.
std::optional<CellOutcome> known_outcome(const Json& cell) {
  CellOutcome out;
  const std::string status = cell.value("status", std::string());
  for (const CellStatus s : {CellStatus::kFinished, CellStatus::kDiverged}) {
    if (status == cell_status_name(s)) out.status = s;
  }
  if (!out.is_final() || !cell.contains("steps")) return std::nullopt;
  out.reason = cell.value("reason", std::string());
  Summary& summary = out.summary.emplace();
  summary.status = out.status == CellStatus::kFinished ? RunStatus::kFinished : RunStatus::kDiverged;
  summary.reason = out.reason;
  summary.epochs = cell.at("epochs").get<std::int64_t>();
  summary.steps = cell.at("steps").get<std::int64_t>();
  summary.seconds = number_of_json(cell.at("seconds")).value_or(0);
  if (!cell.contains("values")) return out;
  for (const auto& [name, value] : cell.at("values").items()) {
    const std::optional<double> number = number_of_json(value);
    if (!number) return std::nullopt;
    summary.values.emplace_back(name, *number);
  }
  return out;
}

// What results.json knows; nothing when it is not there or damaged: then every cell is read.
std::unordered_map<std::string, CellOutcome> known_outcomes(const SweepFolder& folder) {
  std::unordered_map<std::string, CellOutcome> known;
  try {
    const Json json = Json::parse(read_text_file(folder.path() / sweep_files::kResultsJson));
    if (!json.is_object()) return known;
    for (const Json& cell : json.at("cells").items_of_array()) {
      if (std::optional<CellOutcome> outcome = known_outcome(cell))
        known.emplace(cell.at("cell").text(), std::move(*outcome));
    }
  } catch (const Error&) {
    known.clear();
  }
  return known;
}

// One listing of the folder tells which cells were begun at all; only those that are not known to be final are read.
std::vector<CellOutcome> outcomes_of(const SweepFolder& folder, const PlannedCells& plans, bool afresh,
                                     ResultsWritten& written) {
  std::unordered_map<std::string, CellOutcome> known;
  if (!afresh) known = known_outcomes(folder);
  std::unordered_set<std::string> there;
  std::error_code code;
  for (fs::directory_iterator it(folder.cells(), code), end; !code && it != end; it.increment(code))
    there.insert(it->path().filename().string());
  std::vector<CellOutcome> outcomes(plans.cells.size());
  std::vector<std::size_t> unread;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const std::string& hash = plans.cells[i].hash;
    const auto found = known.find(hash);
    if (found != known.end() && there.count(hash) != 0) {
      outcomes[i] = std::move(found->second);
    } else if (there.count(hash) != 0 || there.count(folder.failure(hash).filename().string()) != 0) {
      unread.push_back(i);
    }
  }
  written.read = static_cast<std::int64_t>(unread.size());
  constexpr std::size_t kBlock = 64;
  ThreadPool pool(std::clamp(usable_cores(), 1, unread.size() < 4 * kBlock ? 1 : 4));
  pool.run(static_cast<int>((unread.size() + kBlock - 1) / kBlock), [&](int task, int) {
    const std::size_t first = static_cast<std::size_t>(task) * kBlock;
    for (std::size_t i = first; i < std::min(first + kBlock, unread.size()); ++i)
      outcomes[unread[i]] = folder.outcome(plans.cells[unread[i]].hash);
  });
  return outcomes;
}

}  // namespace

PlannedCells read_plans(const SweepFolder& folder) {
  PlannedCells out;
  const std::vector<Json> plans = plan_files(folder, out.problems);
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

void require_plans(const PlannedCells& plans) {
  if (plans.problems.empty()) return;
  throw IoError({.what = "a plan in this folder cannot be read, so its results would be lost",
                 .got = join(plans.problems, "; "),
                 .hint = "start the sweep that made it again, which writes it anew, or move the file away"});
}

std::vector<CellOutcome> cell_outcomes(const SweepFolder& folder, const PlannedCells& plans) {
  ResultsWritten ignored;
  return outcomes_of(folder, plans, false, ignored);
}

ResultsWritten write_results(const SweepFolder& folder, bool afresh) {
  const PlannedCells plans = read_plans(folder);
  require_plans(plans);
  if (const std::vector<std::string> lost = lost_cells(folder.results(), plans); !lost.empty()) {
    throw IoError({.what = "the results have cells that no plan in this folder knows; they are left as they are",
                   .where = folder.results().string(),
                   .got = std::to_string(lost.size()) + " cells, such as " + lost.front(),
                   .hint = "start the sweep that made them again, or move this file away"});
  }
  ResultsWritten written;
  const std::vector<CellOutcome> outcomes = outcomes_of(folder, plans, afresh, written);
  std::string csv = "cell,";
  if (plans.has_labels) csv += "case,";
  for (const std::string& key : plans.keys) csv += key + ",";
  csv += "status,epochs,steps,split,condition,measure,value\n";
  std::string json = "{\n \"cells\": [";
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].status == CellStatus::kPending) continue;
    add_csv_rows(csv, plans, plans.cells[i], outcomes[i]);
    json += (written.cells == 0 ? "\n  " : ",\n  ") + json_cell(plans.cells[i], outcomes[i]).dump();
    ++written.cells;
  }
  json += "\n ]\n}\n";
  write_file_atomic(folder.results(), csv);
  write_file_atomic(folder.path() / sweep_files::kResultsJson, json);
  return written;
}

}  // namespace locus
