// locus compare, runs, gc.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/sweep_view.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/text.h"
#include "run/files.h"
#include "run/layout.h"
#include "run/run_record.h"
#include "study/compare.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string p_text(double p) { return p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", p); }

// Differences of accuracies are points, not parts of one another.
std::string difference_text(const std::string& metric, double x) {
  return metric.find("accuracy") != std::string::npos ? fmt::format("{:+.1f}", 100 * x) : fmt::format("{:+.4g}", x);
}

Json comparison_json(const Comparison& c) {
  Json json;
  json["by"] = c.by;
  json["metric"] = c.metric;
  json["pair"] = c.pair;
  json["levels"] = Json::array();
  for (const CompareLevel& l : c.levels) {
    json["levels"].push_back({{"value", l.name},
                              {"runs", l.runs},
                              {"n", l.values.size()},
                              {"mean", json_value(l.mean)},
                              {"sd", json_value(l.sd)},
                              {"low", json_value(l.interval.lo)},
                              {"high", json_value(l.interval.hi)}});
  }
  json["tests"] = Json::array();
  for (const CompareTest& t : c.tests) {
    json["tests"].push_back({{"a", c.levels[t.a].name},
                             {"b", c.levels[t.b].name},
                             {"paired", t.paired},
                             {"n", t.n},
                             {"difference", json_value(t.difference)},
                             {"low", json_value(t.interval.lo)},
                             {"high", json_value(t.interval.hi)},
                             {"p", json_value(t.p)},
                             {"p_rank", json_value(t.p_rank)},
                             {"p_holm", json_value(t.p_holm)},
                             {"effect", json_value(t.effect)},
                             {"effect_low", json_value(t.effect_interval.lo)},
                             {"effect_high", json_value(t.effect_interval.hi)}});
  }
  json["notes"] = c.notes;
  return json;
}

void print_comparison(const Comparison& c) {
  std::vector<std::vector<std::string>> rows;
  for (const CompareLevel& l : c.levels) {
    const bool several = l.values.size() >= 2;
    rows.push_back(
        {l.name, std::to_string(l.values.size()), measure_text(c.metric, l.mean),
         several ? measure_text(c.metric, l.sd) : "-",
         several ? fmt::format("{} .. {}", measure_text(c.metric, l.interval.lo), measure_text(c.metric, l.interval.hi))
                 : "-"});
  }
  print_line(text_table({c.by, "n", c.metric, "sd", "95 % of the mean"}, rows));
  rows.clear();
  for (const CompareTest& t : c.tests) {
    rows.push_back(
        {fmt::format("{} - {}", c.levels[t.a].name, c.levels[t.b].name), std::to_string(t.n),
         t.paired ? "paired" : "unpaired", difference_text(c.metric, t.difference),
         fmt::format("{} .. {}", difference_text(c.metric, t.interval.lo), difference_text(c.metric, t.interval.hi)),
         p_text(t.p), p_text(t.p_rank), p_text(t.p_holm),
         fmt::format("{:.2f} ({:.2f} .. {:.2f})", t.effect, t.effect_interval.lo, t.effect_interval.hi)});
  }
  if (!rows.empty()) {
    print_line(text_table({"difference", "n", "test", "mean", "95 %", "p (t)", "p (rank)", "p (Holm)", "effect"}, rows));
    print_line("effect: Cohen's dz where paired, else Hedges' g; p (Holm) corrects p (t) for the number of comparisons");
  }
  for (const std::string& note : c.notes) print_line("note: " + note);
}

// Descending by value where the name begins with '-'. Runs without the value stand last.
void sort_rows(RunTable& table, std::string name) {
  const bool down = name.starts_with('-');
  if (down) name = name.substr(1);
  table.require_name(name, "--sort");
  const auto number = [](const std::string& text, double& x) {
    char* end = nullptr;
    x = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == '\0' && !std::isnan(x);
  };
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const RunRow& a, const RunRow& b) {
    const std::string s = a.text(name);
    const std::string t = b.text(name);
    double x = 0;
    double y = 0;
    const bool nx = number(s, x);
    const bool ny = number(t, y);
    if (nx && ny) return down ? y < x : x < y;
    if (nx != ny) return nx;
    if (s.empty() || t.empty()) return !s.empty() && t.empty();
    return down ? t < s : s < t;
  });
}

std::vector<std::string> default_columns(const RunTable& table) {
  std::vector<std::string> columns = {"status"};
  if (std::any_of(table.rows.begin(), table.rows.end(), [](const RunRow& r) { return !r.label.empty(); }))
    columns.emplace_back("case");
  for (const std::string& key : table.varied()) columns.push_back(key);
  columns.emplace_back("epochs");
  for (const char* name : {"train.accuracy", "test.accuracy", "validation.accuracy", "heldout.accuracy", "test.mse"}) {
    for (const RunRow& row : table.rows) {
      if (row.measures.count(name) == 0) continue;
      columns.emplace_back(name);
      break;
    }
  }
  columns.emplace_back("seconds");
  return columns;
}

std::string column_text(const RunRow& row, const std::string& name) {
  if (name == "seconds") return human_seconds(row.seconds);
  if (const auto m = row.measures.find(name); m != row.measures.end()) return measure_text(name, m->second);
  const std::string text = row.text(name);
  return text.empty() ? "-" : text;
}

// Folders of a finished run that a policy gives up.
std::vector<fs::path> dispensable(const fs::path& run, const std::string& keep) {
  std::vector<const char*> names = {run_files::kCheckpoints};
  if (keep != "all-models") names.insert(names.end(), {run_files::kInit, run_files::kSnapshots});
  if (keep == "nothing") names.push_back(run_files::kFinal);
  std::vector<fs::path> out;
  for (const char* name : names) {
    std::error_code code;
    if (fs::is_directory(run / name, code)) out.push_back(run / name);
  }
  return out;
}

double size_of(const fs::path& folder) {
  double bytes = 0;
  std::error_code code;
  for (fs::recursive_directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) bytes += static_cast<double>(it->file_size(ignored));
  }
  return bytes;
}

bool confirmed() {
  if (isatty(STDIN_FILENO) == 0) {
    throw ConfigError(
        {.what = "nobody to ask: the input is no terminal", .where = "locus gc", .hint = "add --yes to remove"});
  }
  std::cerr << "Remove them? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

int run_compare(const CompareOptions& options) {
  RunTable table = read_run_table(options.dirs);
  filter_rows(table, options.filters);
  if (table.rows.empty()) throw IoError({.what = "no runs here", .where = join(options.dirs, ", ")});
  const Comparison c = compare_runs(table, {options.by, options.metric, options.pair});
  if (options.json) {
    print_line(comparison_json(c).dump(1));
  } else {
    print_comparison(c);
  }
  return kExitDone;
}

int run_runs(const RunsOptions& options) {
  RunTable table = read_run_table(options.dirs);
  const std::size_t all = table.rows.size();
  filter_rows(table, options.filters);
  if (!options.sort.empty()) sort_rows(table, options.sort);
  for (const std::string& name : options.columns) table.require_name(name, "--columns");
  const std::vector<std::string> columns = options.columns.empty() ? default_columns(table) : options.columns;
  if (options.json) {
    Json json = Json::array();
    for (const RunRow& row : table.rows) {
      Json one = {{"run", row.path.string()}, {"status", row.status},       {"reason", row.reason},
                  {"epochs", row.epochs},     {"steps", row.steps},         {"seconds", json_value(row.seconds)},
                  {"config", Json::object()}, {"measures", Json::object()}, {"verified", row.verified}};
      if (row.base) one["config"] = *row.base;
      for (const auto& [name, value] : row.own) one["config"][name] = value;
      if (!row.label.empty()) one["case"] = row.label;
      for (const auto& [name, value] : row.measures) one["measures"][name] = json_value(value);
      json.push_back(std::move(one));
    }
    print_line(json.dump(1, ' ', false, Json::error_handler_t::replace));
    return kExitDone;
  }
  std::vector<std::vector<std::string>> rows;
  for (const RunRow& row : table.rows) {
    std::vector<std::string> cells = {row.path.string()};
    for (const std::string& name : columns) cells.push_back(column_text(row, name));
    rows.push_back(std::move(cells));
  }
  std::vector<std::string> header = {"run"};
  header.insert(header.end(), columns.begin(), columns.end());
  print_line(text_table(header, rows) + fmt::format("{} of {} runs", table.rows.size(), all));
  return kExitDone;
}

int run_gc(const GcOptions& options) {
  const std::vector<fs::path> given(options.dirs.begin(), options.dirs.end());
  std::vector<fs::path> folders;
  int runs = 0;
  double bytes = 0;
  for (const fs::path& run : find_runs(given)) {
    std::error_code code;
    if (!fs::exists(run / run_files::kSummary, code) || is_locked(run / run_files::kLock)) continue;
    try {
      const RunStatus status = read_run_summary(run).status;
      if (status != RunStatus::kFinished && status != RunStatus::kConverged) continue;
    } catch (const Error& e) {
      message_line("left alone: " + one_line(e));
      continue;
    }
    const std::vector<fs::path> here = dispensable(run, options.keep);
    for (const fs::path& f : here) bytes += size_of(f);
    folders.insert(folders.end(), here.begin(), here.end());
    if (!here.empty()) ++runs;
  }
  const std::string what = fmt::format("{} folders of {} finished runs, {}", folders.size(), runs, human_bytes(bytes));
  if (folders.empty()) {
    print_line(options.json ? "{\"removed\": 0, \"bytes\": 0}" : "nothing to remove");
    return kExitDone;
  }
  if (!options.yes) {
    message_line(what + "; metrics, summaries and predictions stay");
    if (!confirmed()) {
      print_line("nothing was removed");
      return kExitFailed;
    }
  }
  for (const fs::path& f : folders) remove_folder(f);
  print_line(options.json ? Json({{"removed", folders.size()}, {"bytes", bytes}}).dump() : "removed " + what);
  return kExitDone;
}

}  // namespace locus::cli
