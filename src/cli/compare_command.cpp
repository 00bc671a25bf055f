// locus compare, runs, gc.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "cli/commands.h"
#include "cli/screen.h"
#include "cli/sweep_view.h"
#include "cli/terminal.h"
#include "config/tasks.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "io/codec.h"
#include "report/report.h"
#include "results/compare.h"
#include "run/analysis_files.h"
#include "run/checkpoint.h"
#include "run/files.h"
#include "run/layout.h"
#include "run/run_directory.h"
#include "run/run_reader.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kColumnsOfAPipe = 160;  // whoever pipes the table looks at it in a wider window, or names columns

std::string p_text(double p) { return p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", p); }

// Differences of accuracies are points, not parts of one another.
std::string difference_text(const std::string& metric, double x) {
  const MeasureRow* measure = measure_of(metric);
  return measure != nullptr && measure->is_fraction ? fmt::format("{:+.1f}", 100 * x) : fmt::format("{:+.4g}", x);
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
                             {"exact", t.exact},
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
    rows.push_back({l.name, std::to_string(l.values.size()), measure_text(c.metric, l.mean),
                    std::isnan(l.sd) ? "-" : measure_text(c.metric, l.sd),
                    !std::isnan(l.interval.lo) ? fmt::format("{} .. {}", measure_text(c.metric, l.interval.lo),
                                                             measure_text(c.metric, l.interval.hi))
                                               : "-"});
  }
  print_line(text_table({c.by, "n", c.metric, "sd", "95 % of the mean"}, rows));
  rows.clear();
  for (const CompareTest& t : c.tests) {
    const std::string interval =
        fmt::format("{} .. {}", difference_text(c.metric, t.interval.lo), difference_text(c.metric, t.interval.hi));
    const std::string effect =
        fmt::format("{:.2f} ({:.2f} .. {:.2f})", t.effect, t.effect_interval.lo, t.effect_interval.hi);
    rows.push_back({fmt::format("{} - {}", c.levels[t.a].name, c.levels[t.b].name), std::to_string(t.n),
                    std::string(t.paired ? "paired" : "unpaired") + (t.exact ? ", exact" : ", t"),
                    difference_text(c.metric, t.difference), t.constant ? "-" : interval, p_text(t.p), p_text(t.p_rank),
                    p_text(t.p_holm), t.constant ? "-" : effect});
  }
  if (!rows.empty()) {
    print_line(text_table({"difference", "n", "test", "mean", "95 %", "p", "p (rank)", "p (Holm)", "effect"}, rows));
    print_line(
        "exact: p counts all exchanges of signs in the pairs, or of values between the sides; else paired or Welch's t\n"
        "effect: Cohen's dz where paired, else Hedges' g; p (Holm) corrects p for the number of comparisons");
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

// Fractions on every split, other measures where runs are compared by them.
std::vector<std::string> shown_metrics() {
  std::vector<std::string> names;
  for (const TaskRow& task : task_rows()) {
    if (!task.measures[0].is_fraction) continue;
    for (const char* split : {"train", "test", "validation", "heldout"})
      names.push_back(split + ("." + task.measures[0].name));
  }
  for (const std::string& name : default_metrics()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

// What runs of this kind are compared by: of the first run's source and task, else the first such measure that is there.
std::string default_measure(const RunTable& table) {
  const std::vector<std::string> all = default_metrics(), there = table.measures();
  for (const RunRow& row : table.rows) {
    if (!row.base) continue;
    RunConfig config;
    const FieldList list = describe(config);
    for (const char* key : {"study", "task", "series.source"}) {
      const std::string text = row.key(key);
      if (!text.empty()) list.find(key, key).set_text(text, key);
    }
    const std::string metric = default_metric(config);
    if (std::binary_search(there.begin(), there.end(), metric)) return metric;
  }
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const std::string& name) { return std::binary_search(there.begin(), there.end(), name); });
  return found == all.end() ? all.front() : *found;
}

std::vector<std::string> default_columns(const RunTable& table) {
  std::vector<std::string> columns = {"status"};
  if (std::any_of(table.rows.begin(), table.rows.end(), [](const RunRow& r) { return !r.label.empty(); }))
    columns.emplace_back("case");
  for (const std::string& key : table.varied()) columns.push_back(key);
  columns.emplace_back("epochs");
  const std::vector<std::string> there = table.measures();
  for (const std::string& name : shown_metrics()) {
    if (std::binary_search(there.begin(), there.end(), name)) columns.push_back(name);
  }
  columns.emplace_back("seconds");
  const auto known = [](const RunRow& r) { return !r.text("left").empty(); };
  if (std::any_of(table.rows.begin(), table.rows.end(), known)) columns.emplace_back("left");
  return columns;
}

std::string column_text(const RunRow& row, const std::string& name) {
  if (name == "seconds") return human_seconds(row.seconds);
  if (name == "left" && !row.text(name).empty()) return human_seconds(row.live->seconds_left);
  if (const auto m = row.measures.find(name); m != row.measures.end()) return measure_text(name, m->second);
  const std::string text = row.text(name);
  return text.empty() ? "-" : text;
}

// How soon a column is chosen where not all fit: what became of the run, what it was measured by, what tells runs apart
// first.
int column_rank(const std::string& name, const RunTable& table) {
  if (name == "status" || name == "case") return 0;
  const std::vector<std::string> measured = table.measures();
  if (std::find(measured.begin(), measured.end(), name) != measured.end()) return name.starts_with("train.") ? 4 : 2;
  for (const char* key : {"pe.kind", "pe.sigma", "seed"}) {
    if (name == key) return 1;
  }
  return name == "epochs" || name == "seconds" ? 3 : 5;
}

// Those of the columns that fit beside the run's path, in their order.
std::vector<std::string> columns_that_fit(const RunTable& table, const std::vector<std::string>& columns, std::size_t room) {
  const auto width = [&](const std::string& name) {
    std::size_t most = columns_of(name);
    for (const RunRow& row : table.rows) most = std::max(most, columns_of(column_text(row, name)));
    return most + 2;
  };
  std::size_t used = 3;  // "run"
  for (const RunRow& row : table.rows) used = std::max(used, columns_of(row.path.string()));
  std::vector<std::string> by_rank = columns;
  std::stable_sort(by_rank.begin(), by_rank.end(), [&](const std::string& a, const std::string& b) {
    return column_rank(a, table) < column_rank(b, table);
  });
  std::vector<std::string> taken;
  for (const std::string& name : by_rank) {
    if (used + width(name) > room) continue;
    used += width(name);
    taken.push_back(name);
  }
  std::vector<std::string> out;
  for (const std::string& name : columns) {
    if (std::find(taken.begin(), taken.end(), name) != taken.end()) out.push_back(name);
  }
  return out;
}

// Keys with values of their own types; null where a condition makes a key meaningless.
Json config_json(const RunRow& row, const FieldList& list) {
  Json json = Json::object();
  for (const Field& field : list.fields()) {
    const std::string text = row.key(field.path);
    const bool off = text.empty() && row.own.count(field.path) != 0;
    if (off) json[field.path] = nullptr;
    if (off || !row.base) continue;
    field.set_text(text, field.path);
    json[field.path] = std::visit([](const auto& value) { return Json(value); }, field.value());
  }
  return json;
}

// Folders and files of a finished run that a policy gives up.
std::vector<fs::path> dispensable(const fs::path& run, const std::string& keep) {
  std::vector<const char*> names = {run_files::kCheckpoints};
  if (keep != "all-models") names.insert(names.end(), {run_files::kInit, run_files::kSnapshots});
  if (keep == "nothing") names.push_back(run_files::kFinal);
  std::vector<fs::path> out;
  std::error_code code;
  for (const char* name : names) {
    if (fs::is_directory(run / name, code)) out.push_back(run / name);
  }
  const std::vector<fs::path> left = temporary_folders(run);  // by a process that was killed
  out.insert(out.end(), left.begin(), left.end());
  if (keep != "nothing") return out;
  // Numbers of analyses stay; their arrays cannot be looked at without the models, and tables repeat the numbers.
  for (const auto& entry : fs::directory_iterator(analysis_folder(run), code)) {
    if (entry.path().extension() == ".npz" || entry.path().extension() == ".csv") out.push_back(entry.path());
  }
  return out;
}

// The figures beside pages of reports in a folder; the pages hold them too.
std::vector<fs::path> report_folders(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("_files") || !entry.is_directory(code)) continue;
    const std::string page = name.substr(0, name.size() - std::string_view("_files").size()) + ".html";
    if (fs::exists(folder / page, code) && fs::exists(entry.path() / report::kRunsTable, code)) out.push_back(entry.path());
  }
  return out;
}

// What a policy gives up of a run: nothing unless it came to its end and the model that stays can be read.
std::vector<fs::path> removable(const fs::path& run, const std::string& keep) {
  if (!RunReader(run).state().complete()) return {};
  std::vector<fs::path> folders = dispensable(run, keep);
  if (!folders.empty() && keep != "nothing") load_model_file(run / run_files::kFinal);
  return folders;
}

double size_of(const fs::path& folder) {
  double bytes = 0;
  std::error_code code;
  if (fs::is_regular_file(folder, code)) return static_cast<double>(fs::file_size(folder, code));
  for (fs::recursive_directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) bytes += static_cast<double>(it->file_size(ignored));
  }
  return bytes;
}

Json live_json(const LiveState& s) {
  return {{"pid", s.pid},
          {"host", s.host},
          {"since", s.since},
          {"heard_ago", s.heard_ago},
          {"step", s.step},
          {"total_steps", s.total_steps},
          {"epoch", s.epoch},
          {"epoch_fraction", json_value(s.epoch_fraction)},
          {"loss", json_value(s.loss)},
          {"accuracy", json_value(s.accuracy)},
          {"steps_per_second", json_value(s.steps_per_second)},
          {"seconds_left", json_value(s.seconds_left)}};
}

void print_warnings(const RunTable& table) {
  for (const std::string& warning : table.warnings) message_line("warning: " + warning);
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
  print_warnings(table);
  filter_rows(table, options.filters);
  if (table.rows.empty()) throw IoError({.what = "no runs here", .where = join(options.dirs, ", ")});
  const Comparison c =
      compare_runs(table, {options.by, options.metric.empty() ? default_measure(table) : options.metric, options.pair});
  if (options.json) {
    print_line(comparison_json(c).dump(1));
  } else {
    print_comparison(c);
  }
  return kExitDone;
}

int run_runs(const RunsOptions& options) {
  RunTable table = read_run_table(options.dirs);
  print_warnings(table);
  const std::size_t all = table.rows.size();
  filter_rows(table, options.filters);
  if (!options.sort.empty()) sort_rows(table, options.sort);
  for (const std::string& name : options.columns) table.require_name(name, "--columns");
  if (options.json) {
    Json json = Json::array();
    RunConfig any;
    const FieldList list = describe(any);
    for (const RunRow& row : table.rows) {
      Json one = {{"run", row.path.string()},
                  {"status", row.status},
                  {"reason", row.reason},
                  {"epochs", row.epochs},
                  {"steps", row.steps},
                  {"seconds", json_value(row.seconds)},
                  {"config", config_json(row, list)},
                  {"measures", Json::object()},
                  {"verified", row.verified}};
      if (!row.label.empty()) one["case"] = row.label;
      if (row.live) one["live"] = live_json(*row.live);
      for (const auto& [name, value] : row.measures) one["measures"][name] = json_value(value);
      json.push_back(std::move(one));
    }
    print_line(json.dump(1));
    return kExitDone;
  }
  const std::vector<std::string> all_columns = options.columns.empty() ? default_columns(table) : options.columns;
  const std::size_t room = stdout_is_terminal() ? static_cast<std::size_t>(screen_size().columns - 1) : kColumnsOfAPipe;
  const std::vector<std::string> columns =
      options.columns.empty() ? columns_that_fit(table, all_columns, room) : options.columns;
  std::vector<std::vector<std::string>> rows;
  for (const RunRow& row : table.rows) {
    std::vector<std::string> cells = {row.path.string()};
    for (const std::string& name : columns) cells.push_back(column_text(row, name));
    rows.push_back(std::move(cells));
  }
  std::vector<std::string> header = {"run"};
  header.insert(header.end(), columns.begin(), columns.end());
  print_line(text_table(header, rows) + fmt::format("{} of {} runs", table.rows.size(), all));
  if (columns.size() < all_columns.size() && !options.quiet) {
    std::vector<std::string> left;
    for (const std::string& name : all_columns) {
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) left.push_back(name);
    }
    message_line(fmt::format("{} columns did not fit; --columns shows them: {}", left.size(), join(left, ",")));
  }
  return kExitDone;
}

namespace {

void remove_any(const fs::path& path) {
  if (fs::is_directory(path)) {
    remove_folder(path);
  } else {
    fs::remove(path);
  }
}

}  // namespace

int run_gc(const GcOptions& options) {
  const std::vector<fs::path> given(options.dirs.begin(), options.dirs.end());
  std::vector<fs::path> runs;
  std::size_t count = 0;
  double bytes = 0;
  for (const fs::path& run : find_runs(given)) {
    const RunReader reader(run);
    const RunState state = reader.state();
    if (state.status == "damaged") message_line("left alone: " + state.reason);
    if (!state.complete() || reader.live()) continue;
    try {
      const std::vector<fs::path> here = removable(run, options.keep);
      for (const fs::path& f : here) bytes += size_of(f);
      count += here.size();
      if (!here.empty()) runs.push_back(run);
    } catch (const Error& e) {
      message_line("left alone: " + one_line(e));
    }
  }
  std::vector<fs::path> reports;
  for (const fs::path& folder : given) {
    if (options.keep != "nothing") break;
    for (const fs::path& f : report_folders(folder)) {
      bytes += size_of(f);
      reports.push_back(f);
    }
  }
  count += reports.size();
  const std::string what =
      fmt::format("{} folders and files of {} finished runs, {}", count, runs.size(), human_bytes(bytes));
  if (count == 0) {
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
  for (const fs::path& run : runs) {
    const Claim lock = take_run_lock(run);  // nobody trains it on meanwhile; who did before is seen here
    for (const fs::path& f : removable(run, options.keep)) remove_any(f);
  }
  for (const fs::path& f : reports) remove_any(f);
  print_line(options.json ? Json({{"removed", count}, {"bytes", bytes}}).dump() : "removed " + what);
  return kExitDone;
}

}  // namespace locus::cli
