#include "study/compare_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "config/run_config.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/text.h"
#include "run/files.h"
#include "run/layout.h"
#include "run/manifest.h"
#include "run/run_record.h"
#include "study/sweep_results.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
constexpr std::array<const char*, 6> kWords = {"case", "run", "status", "epochs", "steps", "seconds"};

void read_config(RunRow& row) {
  RunConfig config = read_config_file(row.path / run_files::kConfig);
  const FieldList list = describe(config);
  for (const Field& f : list.fields()) row.at[f.path] = plain_text(f.value());
}

RunRow read_row(const fs::path& path) {
  RunRow row;
  row.path = path;
  std::error_code code;
  try {
    read_config(row);
    const fs::path summary = path / run_files::kSummary;
    if (fs::exists(summary, code)) {
      const Summary s = read_summary_file(summary);
      row.status = kRunStatusNames[static_cast<std::size_t>(s.status)];
      row.reason = s.reason;
      row.epochs = s.epochs;
      row.steps = s.steps;
      row.seconds = s.seconds;
      for (const auto& [name, value] : s.values) row.measures[name] = value;
    }
  } catch (const Error& e) {
    row.status = "damaged";
    row.reason = one_line(e);
  }
  if (row.complete()) return row;
  if (is_locked(path / run_files::kLock)) row.status = "training";
  const bool in_sweep = path.parent_path().filename() == "cells";
  if (in_sweep && row.status != "training") {
    const CellOutcome there = SweepFolder(path.parent_path().parent_path()).outcome(path.filename().string());
    if (there.is_failure()) {
      row.status = cell_status_name(there.status);
      row.reason = there.reason;
    }
  }
  if (row.status.empty()) row.status = "unfinished";
  return row;
}

// Names of cases and meaningless keys, and cells without a folder of their own.
void add_plans(const std::string& path, RunTable& table) {
  const SweepFolder folder{fs::path(path)};
  const PlannedCells plans = read_plans(folder);
  std::map<std::string, RunRow*> rows;
  for (RunRow& row : table.rows) {
    if (row.path.parent_path() == folder.cells()) rows[row.path.filename().string()] = &row;
  }
  std::vector<RunRow> missing;
  for (const PlannedCell& cell : plans.cells) {
    const auto it = rows.find(cell.hash);
    if (it != rows.end()) {
      it->second->label = cell.label;
      for (const std::string& key : cell.off) it->second->at.erase(key);
      continue;
    }
    RunRow row;
    row.path = folder.run(cell.hash);
    row.label = cell.label;
    for (const auto& [key, value] : cell.values) {
      if (!value.empty()) row.at[key] = value;
    }
    const CellOutcome there = folder.outcome(cell.hash);
    row.status = cell_status_name(there.status);
    row.reason = there.reason;
    missing.push_back(std::move(row));
  }
  for (RunRow& row : missing) table.rows.push_back(std::move(row));
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

std::string RunRow::text(const std::string& name) const {
  if (name == "case") return label;
  if (name == "run") return path.string();
  if (name == "status") return status;
  if (name == "epochs") return std::to_string(epochs);
  if (name == "steps") return std::to_string(steps);
  if (name == "seconds") return shortest(seconds);
  if (const auto it = at.find(name); it != at.end()) return it->second;
  const auto m = measures.find(name);
  return m == measures.end() ? "" : shortest(m->second);
}

std::vector<std::string> RunTable::varied() const {
  std::map<std::string, std::string> first;
  std::set<std::string> varied;
  for (const RunRow& row : rows) {
    for (const auto& [key, value] : row.at) {
      const auto [it, fresh] = first.try_emplace(key, value);
      if (!fresh && it->second != value) varied.insert(key);
    }
  }
  RunConfig any;
  std::vector<std::string> out;
  const FieldList list = describe(any);
  for (const Field& f : list.fields()) {
    if (varied.count(f.path) != 0) out.push_back(f.path);
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
  RunTable table;
  table.rows.resize(paths.size());
  constexpr std::size_t kBlock = 64;
  ThreadPool pool(std::clamp(usable_cores(), 1, paths.size() < 4 * kBlock ? 1 : 8));
  pool.run(static_cast<int>((paths.size() + kBlock - 1) / kBlock), [&](int task, int) {
    const std::size_t first = static_cast<std::size_t>(task) * kBlock;
    for (std::size_t i = first; i < std::min(first + kBlock, paths.size()); ++i) table.rows[i] = read_row(paths[i]);
  });
  for (const fs::path& f : given) add_plans(f.string(), table);
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
