#include "report/figures/audit.h"

#include <limits>
#include <set>

#include "core/error.h"
#include "core/json.h"
#include "io/codec.h"
#include "report/markup.h"

namespace locus::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kKey = "audit";

std::string text_of(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

}  // namespace

Found<Audit> collect_audit(const Inputs& inputs) {
  Audit data;
  std::set<std::string> seen;  // runs of the same data have the same
  for (const Run& run : inputs.runs) {
    if (!run.manifest.is_object() || !run.manifest.contains("data")) continue;
    const std::string stored = text_of(run.manifest["data"], kKey);
    if (stored.empty() || !seen.insert(stored).second) continue;
    try {
      const Json findings = Json::parse(stored);
      if (!findings.is_array()) continue;
      for (const Json& f : findings.items_of_array())
        data.rows.push_back({run.name, text_of(f, "kind"), text_of(f, "about"), text_of(f, "text")});
    } catch (const Error&) {
      continue;
    }
  }
  if (data.rows.empty()) return Found<Audit>::none("no run of a table or of pictures keeps an audit");
  return Found<Audit>::of(std::move(data));
}

Figure draw_audit(const Audit& data) {
  Figure figure{.name = "audit", .title = "What was read as what"};
  Table table;
  std::set<std::string> runs;
  for (const Audit::Row& r : data.rows) runs.insert(r.run);
  table.columns = {"About", "Found"};
  if (runs.size() > 1) table.columns.insert(table.columns.begin(), "First run");
  for (const Audit::Row& r : data.rows) {
    std::vector<std::string> cells = {shorten(r.about, 60), (r.kind == "fact" ? "" : "! ") + shorten(r.text, 400)};
    if (runs.size() > 1) cells.insert(cells.begin(), r.run);
    table.sort_keys.emplace_back(cells.size(), kNan);
    table.rows.push_back(std::move(cells));
  }
  figure.table = std::move(table);
  figure.caption = "Said before training and kept with the run. ! marks decisions that a reader should know of.";
  figure.csv = csv_audit(data);
  return figure;
}

std::string csv_audit(const Audit& data) {
  std::string out = "run,kind,about,text\n";
  for (const Audit::Row& r : data.rows) {
    const std::string cells[] = {r.run, r.kind, r.about, r.text};
    out += csv_row(cells);
  }
  return out;
}

}  // namespace locus::report
