#include "results/compare_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "config/run_config.h"
#include "config/sections.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/text.h"
#include "sweep/results.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
constexpr std::array<const char*, 7> kWords = {"case", "run", "status", "epochs", "steps", "seconds", "left"};

using Values = std::map<std::string, std::string>;
using PlannedRows = std::map<std::string, const PlannedCell*>;  // by the path of the run directory

void take_config(RunRow& row, RunConfig config) {
  const FieldList list = describe(config);
  Values values;
  for (const Field& f : list.fields()) values[f.path] = plain_text(f.value());
  row.base = std::make_shared<const Values>(std::move(values));
}

void take_plan(RunRow& row, const PlannedCell& cell) {
  row.label = cell.label;
  row.base = cell.base;
  row.own = cell.values;
  for (const std::string& key : cell.off) row.own[key] = "";
}

RunRow read_row(const fs::path& path, const PlannedCell* planned) {
  const RunReader run(path);
  RunRow row;
  static_cast<RunState&>(row) = run.state();
  row.path = path;
  if (run.summary()) row.data_hash = run.summary()->data_hash;
  // The plan knows the configuration of its cells: one file less to read for each of them.
  if (planned != nullptr) {
    take_plan(row, *planned);
  } else if (run.config()) {
    take_config(row, *run.config());
  } else if (row.status != "training") {
    row.status = "damaged";
    row.reason = run.problems().back();
  }
  if (row.complete()) return row;
  if (const fs::path sweep = sweep_of(path); !sweep.empty() && row.status != "training") {
    const CellOutcome there = SweepFolder(sweep).outcome(path.filename().string());
    if (there.is_failure()) {
      row.status = cell_status_name(there.status);
      row.reason = there.reason;
    }
  }
  return row;
}

// Cells without a folder of their own: not yet run, or failed before they had one.
void add_missing(const SweepFolder& folder, const PlannedCells& plans, RunTable& table) {
  std::set<std::string> there;
  for (const RunRow& row : table.rows) there.insert(row.path.string());
  for (const PlannedCell& cell : plans.cells) {
    if (there.count(folder.run(cell.hash).string()) != 0) continue;
    RunRow row;
    row.path = folder.run(cell.hash);
    take_plan(row, cell);
    const CellOutcome outcome = folder.outcome(cell.hash);
    row.status = cell_status_name(outcome.status);
    row.reason = outcome.reason;
    table.rows.push_back(std::move(row));
  }
}

bool is_of_data(const std::string& section) {
  const std::vector<const ConfigSection*> sections = data_sections();
  return std::any_of(sections.begin(), sections.end(), [&](const ConfigSection* s) { return s->name == section; });
}

// Runs whose settings of data are the same, but not what they were trained on: a file was changed between them.
void warn_of_changed_data(RunTable& table) {
  std::vector<std::string> keys;
  for (const std::string& key : table.varied()) {
    const std::string section = key.substr(0, key.find('.'));
    if (key == "study" || key == "task" || is_of_data(section)) keys.push_back(key);
  }
  std::map<std::string, const RunRow*> first;
  for (const RunRow& row : table.rows) {
    if (!row.complete() || row.data_hash.empty()) continue;
    std::string settings;
    for (const std::string& key : keys) settings += row.key(key) + "\n";
    const RunRow& other = *first.emplace(settings, &row).first->second;
    if (other.data_hash == row.data_hash) continue;
    table.warnings.push_back(other.path.string() + " and " + row.path.string() +
                             " have the same settings but were trained on different data: were files changed between them?");
    return;
  }
}

std::optional<double> number_of(const std::string& text) {
  double x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return x;
}

struct Filter {
  std::string name;
  std::string op;
  std::string value;

  bool holds(const RunRow& row) const {
    const std::string have = row.text(name);
    const auto a = number_of(have);
    const auto b = number_of(value);
    const bool equal = a && b ? *a == *b : have == value;
    if (op == "=" || op == "==") return equal;
    if (op == "!=") return !equal;
    if (!a || !b) return false;
    if (op == "<") return *a < *b;
    if (op == ">") return *a > *b;
    return op == "<=" ? *a <= *b : *a >= *b;
  }
};

Filter parse_filter(const std::string& text) {
  const std::size_t at = text.find_first_of("=!<>");
  std::size_t end = at;
  while (end != std::string::npos && end < text.size() && end < at + 2 &&
         std::string("=!<>").find(text[end]) != std::string::npos)
    ++end;
  Filter f;
  if (at != std::string::npos && at > 0) {
    f = {std::string(trim(text.substr(0, at))), text.substr(at, end - at), std::string(trim(text.substr(end)))};
  }
  constexpr std::array<const char*, 7> kOps = {"=", "==", "!=", "<", ">", "<=", ">="};
  if (std::find(kOps.begin(), kOps.end(), f.op) == kOps.end()) {
    throw ConfigError(
        {.what = "not a filter", .where = "--filter", .got = text, .expected = "key=value, or !=, <, >, <=, >="});
  }
  return f;
}

}  // namespace

std::string RunRow::key(const std::string& name) const {
  if (const auto it = own.find(name); it != own.end()) return it->second;
  if (!base) return "";
  const auto it = base->find(name);
  return it == base->end() ? "" : it->second;
}

std::string RunRow::text(const std::string& name) const {
  if (name == "case") return label;
  if (name == "run") return path.string();
  if (name == "status") return status;
  if (name == "epochs") return std::to_string(epochs);
  if (name == "steps") return std::to_string(steps);
  if (name == "seconds") return shortest(seconds);
  if (name == "left") return live && live->seconds_left >= 0 ? shortest(live->seconds_left) : "";
  if (const std::string value = key(name); !value.empty()) return value;
  const auto m = measures.find(name);
  return m == measures.end() ? "" : shortest(m->second);
}

std::vector<std::string> RunTable::varied() const {
  RunConfig any;
  std::vector<std::string> out;
  const FieldList list = describe(any);
  for (const Field& f : list.fields()) {
    std::string first;
    for (const RunRow& row : rows) {
      const std::string value = row.key(f.path);
      if (first.empty()) first = value;
      if (value.empty() || value == first) continue;
      out.push_back(f.path);
      break;
    }
  }
  return out;
}

std::vector<std::string> RunTable::measures() const {
  std::set<std::string> names;
  for (const RunRow& row : rows) {
    for (const auto& [name, value] : row.measures) names.insert(name);
  }
  return {names.begin(), names.end()};
}

void RunTable::require_name(const std::string& name, const std::string& where) const {
  RunConfig any;
  std::vector<std::string> names = describe(any).names();
  for (const char* word : kWords) names.emplace_back(word);
  const std::vector<std::string> measured = measures();
  names.insert(names.end(), measured.begin(), measured.end());
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  const std::string nearest = nearest_name(name, names);
  throw ConfigError({.what = "neither a key nor a measure of these runs",
                     .where = where,
                     .got = name,
                     .expected = "a key of `locus config`, or " + (measured.empty() ? "status" : join(measured, ", ")),
                     .hint = nearest.empty() ? "" : "did you mean " + nearest + "?"});
}

RunTable read_run_table(std::span<const std::string> folders) {
  std::vector<fs::path> given;
  for (const std::string& f : folders) {
    fs::path p = fs::path(f).lexically_normal();
    if (p.filename().empty() && p.has_parent_path()) p = p.parent_path();
    given.push_back(std::move(p));
  }
  const std::vector<fs::path> paths = find_runs(given);
  std::vector<PlannedCells> plans;
  PlannedRows planned;
  for (const fs::path& f : given) plans.push_back(read_plans(SweepFolder(f)));
  for (std::size_t i = 0; i < given.size(); ++i) {
    for (const PlannedCell& cell : plans[i].cells) planned[SweepFolder(given[i]).run(cell.hash).string()] = &cell;
  }
  RunTable table;
  table.rows.resize(paths.size());
  constexpr std::size_t kBlock = 64;
  ThreadPool pool(std::clamp(usable_cores(), 1, paths.size() < 4 * kBlock ? 1 : 8));
  pool.run(static_cast<int>((paths.size() + kBlock - 1) / kBlock), [&](int task, int) {
    const std::size_t first = static_cast<std::size_t>(task) * kBlock;
    for (std::size_t i = first; i < std::min(first + kBlock, paths.size()); ++i) {
      const auto it = planned.find(paths[i].string());
      table.rows[i] = read_row(paths[i], it == planned.end() ? nullptr : it->second);
    }
  });
  for (std::size_t i = 0; i < given.size(); ++i) {
    add_missing(SweepFolder(given[i]), plans[i], table);
    for (const std::string& problem : plans[i].problems) table.warnings.push_back(problem + "; cells tell of themselves");
  }
  for (const RunRow& row : table.rows) {
    if (row.status == "damaged") table.warnings.push_back("damaged: " + row.reason);
  }
  warn_of_changed_data(table);
  return table;
}

void filter_rows(RunTable& table, std::span<const std::string> filters) {
  for (const std::string& text : filters) {
    const Filter f = parse_filter(text);
    table.require_name(f.name, "--filter");
    std::erase_if(table.rows, [&](const RunRow& row) { return !f.holds(row); });
  }
}

}  // namespace locus
